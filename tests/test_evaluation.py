"""Curves: figures worked out by hand, files, pictures."""

import math

import numpy as np
import pandas as pd
import pytest
from bregalad.evaluation import Curve, kappa, prequential
from bregalad.evaluation.curve import COLUMNS, picture


class Scripted:
    """A "tree" whose predictions are given."""

    def __init__(self, predictions, report=None):
        self.predictions = np.asarray(predictions)
        self.at = 0
        self.extra = report or {}

    def test_then_train(self, X, y, classes):
        assert len(X) == len(y)
        self.at += len(y)
        return self.predictions[self.at - len(y) : self.at]

    def report(self):
        return {"leaves": self.at // 2, "nodes": self.at, "attempts": 7, "splits": 2, "ties": 1, **self.extra}


@pytest.mark.parametrize(
    "confusion, expected",
    [
        # Observed 35/50; by chance (25 x 30 + 25 x 20) / 50^2 = 1/2.
        ([[20, 5], [10, 15]], 0.4),
        # Observed 0.6; by chance (0.6 x 0.7 + 0.4 x 0.3) = 0.54: Cohen's example of imbalance.
        ([[45, 15], [25, 15]], 0.06 / 0.46),
        # Three classes: observed 12/20, by chance (8 x 7 + 6 x 7 + 6 x 6) / 400 = 0.335.
        ([[5, 2, 1], [1, 4, 1], [1, 1, 4]], (13 / 20 - 0.335) / 0.665),
        ([[10, 0], [0, 10]], 1.0),
        ([[0, 10], [10, 0]], -1.0),
        ([[5, 5], [5, 5]], 0.0),
        ([[9, 0], [1, 0]], 0.0),  # always the majority class
        ([[0, 3], [0, 0]], 0.0),
        ([[5, 0], [0, 0]], math.nan),
        ([[0, 0], [0, 0]], math.nan),
    ],
)
def test_kappa(confusion, expected):
    assert kappa(confusion) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("names", [("a", "b"), (3, 7), (False, True)])
def test_prequential(names):
    y = np.array([names[int(c)] for c in "00110001"], object)
    predictions = np.array([names[int(c)] for c in "01010000"])
    report = {"replaced": 3, "pruned": 1, "labels": 3}
    curve = prequential(Scripted(predictions, report), [(pd.DataFrame({"x": range(8)}), y)], list(names), every=4)
    assert curve.instances == [4, 8] and curve.right == 5
    assert curve.accuracy == [0.5, 0.625] and curve.recent == [0.5, 0.75]
    # The first four: [[1, 1], [1, 1]]; the next: [[3, 0], [1, 0]]; together [[4, 1], [2, 1]]:
    # observed 5/8, by chance (5 x 6 + 3 x 2) / 64 = 9/16.
    assert curve.confusion.tolist() == [[4, 1], [2, 1]]
    assert curve.kappa == pytest.approx([0, (5 / 8 - 9 / 16) / (7 / 16)])
    assert curve.recent_kappa == [0, 0]
    assert curve.leaves == [2, 4] and curve.nodes == [4, 8] and curve.depth == [0, 0]
    assert curve.attempts == [7, 7] and curve.ties == [1, 1] and curve.splits == [2, 2]
    assert curve.replaced == [3, 3] and curve.pruned == [1, 1] and curve.labels == [3, 3]
    assert 0 < curve.seconds[0] < curve.seconds[1] < 1 and curve.memory[1] >= curve.memory[0] > 1


def run(predictions, parts, every, **options):
    """Evaluate given predictions on labels in parts, each a text."""
    chunks = [(np.zeros((len(part), 1)), np.array(list(part))) for part in parts]
    return prequential(Scripted(list(predictions)), chunks, ["a", "b"], every=every, **options)


def test_limit_and_progress():
    seen, curve = [], Curve()
    options = {"limit": 9, "progress": lambda n, c: seen.append((n, c.accuracy[-1]))}
    assert run("a" * 15, ["aabba"] * 3, 3, curve=curve, **options) is curve
    assert curve.instances == [3, 6, 9] and [n for n, _ in seen] == [3, 3, 3]
    assert seen[-1][1] == curve.accuracy[-1] == 5 / 9
    assert curve.replaced == [0] * 3
    assert curve.labels == curve.instances  # unless the learner's report says how many


def test_points_do_not_depend_on_the_chunks():
    labels = "aabbabbabaab"
    for size in (1, 4, 7, 12):
        curve = run("a" * 12, [labels[at : at + size] for at in range(0, 12, size)], 5)
        assert curve.instances == [5, 10, 12]
        assert curve.recent == [3 / 5, 2 / 5, 1 / 2]


def test_what_was_learnt_before_an_error_is_on_the_curve():
    def chunks():
        yield np.zeros((7, 1)), np.array(list("aabbabb"))
        raise OSError("the disk is gone")

    curve = Curve()
    with pytest.raises(OSError, match="gone"):
        prequential(Scripted(["a"] * 12), chunks(), ["a", "b"], curve=curve, every=5)
    assert curve.instances == [5, 7]


@pytest.fixture
def curve():
    """A curve of three points, the first without kappa."""
    curve = Curve()
    for confusion in ([[4, 0], [0, 0]], [[1, 1], [2, 3]], [[0, 0], [1, 6]]):
        curve.add(np.array(confusion), {"leaves": 3, "splits": 2}, 0.125, 100.5)
    return curve


@pytest.mark.parametrize("name", ["c.csv", "c.parquet", "c.pq", "c.CSV"])
def test_written(curve, tmp_path, name):
    curve.write(tmp_path / name)
    table = pd.read_csv(tmp_path / name) if "csv" in name.lower() else pd.read_parquet(tmp_path / name)
    assert tuple(table) == COLUMNS and table["seconds"].tolist() == [0.125, 0.25, 0.375]
    for column in COLUMNS:
        np.testing.assert_allclose(table[column], getattr(curve, column), rtol=1e-5)
    assert table["instances"].tolist() == [4, 11, 18] and math.isnan(table["kappa"][0])


def test_pictures(curve, tmp_path):
    curve.plot(tmp_path / "one.png", "one")
    curve.plot(tmp_path / "two.svg")
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "two.svg").read_text()


def test_a_picture_shows_what_is_recent(tmp_path):
    """The recent accuracy strongest, the leaves palest, marks where counts grow, and the legend outside."""
    curve = Curve()
    for report in ({"alternates": 1}, {"alternates": 1, "swapped": 1}, {"swapped": 0, "drifts": 2}, {"pruned": 3}):
        curve.add(np.array([[4, 1], [0, 5]]), {"leaves": 3, **report})
    figure = picture(curve, "a title of many words, " * 8)
    axes, leaves = figure.axes
    lines = {line.get_label(): line for line in axes.lines}
    recent = lines.pop("accuracy since the last point")
    found, replaced = lines.pop("drift found"), lines.pop("part of the tree replaced")
    assert recent.get_alpha() is None and recent.get_linewidth() > max(line.get_linewidth() for line in lines.values())
    assert leaves.collections[0].get_alpha() < min(line.get_alpha() for line in lines.values())
    assert axes.get_zorder() > leaves.get_zorder() and axes.get_xlim() == leaves.get_xlim()
    assert list(found.get_xdata()) == [10, 30] and list(replaced.get_xdata()) == [20, 40]
    figure.savefig(tmp_path / "one.png")
    legend = figure.legends[0].get_window_extent()
    assert len(figure.legends[0].get_texts()) == 6
    assert legend.y1 <= min(each.get_tightbbox().y0 for each in figure.axes)
    assert axes.title.get_window_extent().width <= figure.bbox.width


def test_a_curve_prints_its_last_point():
    curve = Curve()
    assert repr(curve) == "Curve without points"
    curve.add([[5, 0], [0, 5]], {"leaves": 1}, seconds=0.25)
    curve.add([[2_000_000, 0], [1_000_000, 0]], {"leaves": 7, "splits": 6}, seconds=1.0)
    lines = repr(curve).splitlines()
    assert lines[0] == "Curve, the last of 2 points:"
    found = dict(line.split() for line in lines[1:])
    assert tuple(found) == COLUMNS
    assert found["instances"] == "3000010" and found["leaves"] == "7"
    assert found["recent"] == "0.666667" and found["seconds"] == "1.25"
