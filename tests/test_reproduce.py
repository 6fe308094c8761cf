"""Studies in seconds: their files appear, and what they say agrees with what was run."""

import importlib.util
import sys

import numpy as np
import pytest
from bregalad.benchmark import data
from bregalad.benchmark.page import Page
from bregalad.benchmark.papers import STUDIES, Settings, active, ctree, cvfdt, efdt, puucvfdt, puuvfdt, study, ties
from bregalad.benchmark.papers.runs import computes, mean_curve, spread
from bregalad.cli import main
from bregalad.evaluation import Curve


@pytest.fixture(autouse=True)
def no_real_streams(monkeypatch):
    monkeypatch.setattr(data, "load", lambda name: None)


def numbers(cells):
    """The means of cells like ``0.1234 ± 0.0012``."""
    return [float(cell.split()[0]) for cell in cells]


def test_list(capsys):
    assert main(["reproduce"]) == 0
    out = capsys.readouterr().out
    assert all(name in out and study(name).SUMMARY in out for name in STUDIES)


def test_efdt_figures(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(efdt, "CLASSES", (2, 5))
    assert (
        main(["reproduce", "efdt-figures", "--instances", "3000", "--runs", "2", "--out", str(tmp_path / "new")]) == 0
    )
    page = (tmp_path / "new" / "efdt-figures.md").read_text()
    out, err = capsys.readouterr()
    assert page in out and err.count("error 0.") == 2 * 2 * 3
    assert "Random trees, 3,000 instances, 2 runs" in page
    assert "--instances 3000 --runs 2 --board emulated" in page
    assert "KDD'99 was not at hand" in page and "Skin was not at hand" in page
    assert (tmp_path / "new" / "efdt-figures.png").read_bytes().startswith(b"\x89PNG")
    assert "(efdt-figures.png)" in page


def test_efdt_figures_tables(monkeypatch):
    monkeypatch.setattr(efdt, "CLASSES", (5,))
    lines = []
    page = efdt.run(Settings(4000, 2, note=lines.append))
    (row,) = page.tables["trees error"]
    for name, mean in zip(efdt.LEARNERS, numbers([row[n] for n in efdt.LEARNERS]), strict=True):
        runs = [float(line.split()[-1]) for line in lines if f", {name}:" in line]
        assert len(runs) == 2 and np.mean(runs) == pytest.approx(mean, abs=1e-4)
    assert row["EFDT better"].endswith(" of 2")
    sizes = page.tables["trees trees"]
    assert [line["learner"] for line in sizes] == list(efdt.LEARNERS)
    assert all(int(line["leaves"]) == 1 + 4 * int(line["splits"]) for line in sizes)


def test_real_streams_are_run_in_both_orders(monkeypatch):
    monkeypatch.setattr(efdt, "CLASSES", (2,))
    monkeypatch.setattr(data, "load", lambda name: data.Whole(_table(3000)))
    page = efdt.run(Settings(2000, 2))
    rows = page.tables["real error"]
    assert [row["stream"] for row in rows] == ["KDD'99, ordered", "KDD'99, shuffled", "Skin, ordered", "Skin, shuffled"]
    assert "±" not in rows[0]["VFDT"] and "±" in rows[1]["VFDT"]
    assert "KDD'99 2,000, Skin 2,000" in str(page)


def test_shuffled_stream_holds_the_same_instances():
    whole = data.Whole(_table(500))
    (X, y), (A, b) = next(iter(whole)), next(iter(whole.shuffled(1)))
    assert not (y == b).all() and sorted(y) == sorted(b)
    name = X.columns[0]
    assert sorted(zip(X[name], y, strict=True)) == sorted(zip(A[name], b, strict=True))


def _table(n):
    from bregalad.data import open_generator

    return open_generator("sea", instances=n)


def test_ctree(tmp_path, monkeypatch):
    for name, (kind, criterion, grid) in ctree.LEARNERS.items():
        monkeypatch.setitem(ctree.LEARNERS, name, (kind, criterion, grid[2:5:2]))
    page = ctree.run(Settings(4000, 2))
    points = page.tables["RandCBT points"]
    assert len([p for p in points if p["learner"] == "H-Tree"]) == 2
    assert all(0.4 < float(p["accuracy"]) < 0.8 and float(p["leaves"]) >= 1 for p in points)
    assert "H-Tree: the emulated board." in str(page)
    assert set(page.write(tmp_path)) == {"ctree.md", "ctree.png"}


@pytest.mark.skipif(not importlib.util.find_spec("river"), reason="needs River")
def test_active(tmp_path, monkeypatch):
    monkeypatch.setattr(active, "BUDGETS", (0.2, 0.5))
    monkeypatch.setattr(data, "load", lambda name: data.Whole(_table(3000)))
    lines = []
    page = active.run(Settings(2000, 2, note=lines.append))
    rows = page.tables["accuracy"]
    assert [row["budget"] for row in rows] == ["0.2", "0.5"] and set(rows[0]) == {"budget", *active.STRATEGIES}
    assert all(0.5 < mean < 1 for row in rows for mean in numbers([row[name] for name in active.STRATEGIES]))
    for row, budget in zip(page.tables["labels"], (0.2, 0.5), strict=True):
        assert all(0.7 * budget < mean <= budget for mean in numbers([row[name] for name in active.STRATEGIES]))
    assert len(lines) == 2 * 7 and "2,000 instances, 2 runs" in str(page) and "% of the labels" in str(page)
    assert set(page.write(tmp_path)) == {"active.md", "active.png"}


def test_active_says_what_it_lacks(monkeypatch):
    assert "ELEC was not at hand" in str(active.run(Settings(2000, 2)))
    monkeypatch.setattr(active, "BUDGETS", (0.5,))
    monkeypatch.setattr(data, "load", lambda name: data.Whole(_table(500)))
    monkeypatch.setitem(sys.modules, "river.drift.binary", None)
    page = active.run(Settings(300, 1))
    assert str(page).count("pip install 'bregalad[river]'") == 2
    assert set(page.tables["accuracy"][0]) == {"budget", *active.STRATEGIES[:5]}


def test_puuvfdt(tmp_path, monkeypatch):
    monkeypatch.setattr(puuvfdt, "STREAMS", {"SEA": "sea"})
    lines = []
    page = puuvfdt.run(Settings(3000, 2, note=lines.append))
    rows = page.tables["accuracy"]
    assert [row["labelled"] for row in rows] == ["10%", "30%", "50%"] and len(lines) == 2 * 3
    assert all(0.5 < mean < 1 for row in rows for mean in numbers([row["all labels"], row["puuVFDT"]]))
    levels = numbers([row["true level"] for row in page.tables["level"]])
    assert levels == sorted(levels, reverse=True)
    assert "ELEC was not at hand" in str(page) and page.write(tmp_path) == ["puuvfdt.md"]


def test_puucvfdt(tmp_path, monkeypatch):
    monkeypatch.setattr(puucvfdt, "STREAMS", {"SEA": puucvfdt.STREAMS["SEA"]})
    lines = []
    page = puucvfdt.run(Settings(3000, 2, note=lines.append))
    rows = page.tables["accuracy"]
    assert [row["labelled"] for row in rows] == ["10%", "30%", "50%", puucvfdt.OF_ALL] and len(lines) == 2 * 4
    assert set(rows[0]) == {"stream", "labelled", *puucvfdt.LEARNERS}
    assert all(0.5 < mean < 1 for row in rows for mean in numbers([row[name] for name in puucvfdt.LEARNERS[:2]]))
    gap = np.mean([np.subtract(*numbers([row[name] for name in puucvfdt.LEARNERS[:2]])) for row in rows])
    said = float(str(page).partition("puuCVFDT's accuracy is ")[2].split()[0])
    assert abs(said - gap) < 2e-4 and page.write(tmp_path) == ["puucvfdt.md"]


def test_cvfdt(tmp_path, monkeypatch):
    monkeypatch.setattr(cvfdt, "DRIFT", 6000)
    sea = "drift,first=(sea,function=1),second=(sea,function=3,seed=2),position=6000"
    monkeypatch.setattr(cvfdt, "DRIFTS", {"SEA": sea})
    lines = []
    page = cvfdt.run(Settings(3000, 1, note=lines.append))
    assert [row["learner"] for row in page.tables["hyperplane"]] == list(cvfdt.LEARNERS)
    (row,) = page.tables["recovery"]
    assert row["stream"] == "SEA" and all("(0." in row[name] for name in cvfdt.RECOVERING)
    assert len(lines) == 3 + 6 and set(page.write(tmp_path)) == {"cvfdt.md", "cvfdt.png"}


def test_at_equal_leaves():
    points = [({}, [40, 20], [0.7, 0.8], 0), ({}, [10, 5], [0.5, 0.7], 0), ({}, [20, 10], [0.6, 0.6], 0)]
    assert ctree._at(points, 20).tolist() == [0.6, 0.8]
    assert np.isnan(ctree._at(points, 40)).tolist() == [False, True]
    assert 0.5 < ctree._at(points, 14)[0] < 0.6
    assert ctree._at([({}, [10], [0.5], 0)], 10).tolist() == [0.5]
    behind = [(setting, leaves, [a - 0.1 for a in accuracy], ties) for setting, leaves, accuracy, ties in points]
    row = ctree._row(20, {"C-Tree": points, "H-Tree": behind})
    assert row == [20, "0.7000 ± 0.1414", "0.6000 ± 0.1414", "0.1000 ± 0.0000"]
    assert ctree._row(40, {"C-Tree": points, "H-Tree": behind}) == [40, "", "", ""]
    assert ctree._row(20, {"H-Tree": behind}) == [20, "0.6000 ± 0.1414", ""]
    row = ctree._row(20, {"C-Tree": points, "H-Tree": points, "H-Tree, no ties": behind})
    assert row[4:] == ["0.0000 ± 0.0000", "0.1000 ± 0.0000"]


def test_ties(tmp_path, monkeypatch):
    monkeypatch.setattr(ties, "STREAMS", ("rts", "led"))
    page = ties.run(Settings(3000, 1))
    rows = page.tables["accuracy"]
    assert rows[0] == {
        "stream": "rts",
        "": "published",
        "ht": "99.06",
        "htdt": "",
        "htat100": "",
        "htat500": "",
        "htat3000": "",
    }
    board = [row for row in rows if row[""] == "board"]
    assert [row["stream"] for row in board] == ["rts", "led"]
    for row in board:
        assert all(0 < value < 100 for value in numbers([row[way] for way in ties.WAYS]))
    assert rows[-1]["stream"] == "covertype" and rows[-1]["htat500"] == "69.33"
    assert "3,000 instances, 1 run\n" in str(page)
    assert set(page.write(tmp_path)) == {"ties.md", "ties.png"}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["tie"], "no study 'tie'; there are efdt-figures, ties, ctree, active"),
        (["ties", "--streams", "rts,x"], "no stream 'x' in ties; there are rts, rtc, rtsn"),
        (["ctree", "--streams", "rts"], "--streams is an option of ties, not of ctree"),
        (["ties", "--runs", "0"], "--runs must be 1 or more, not 0"),
        (["ties", "--instances", "-1"], "--instances must be 1 or more, not -1"),
        (["ties", "--board", "imagined"], "no board 'imagined'; there are emulated"),
        (["ties", "--out", __file__], "File exists"),
    ],
)
def test_errors_are_one_line(capsys, arguments, message):
    assert main(["reproduce", *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith("bregalad reproduce: ") and message in error
    assert error.count("\n") == 1


def test_page():
    page = Page("name", "Title")
    page.text("\nWords.\n")
    page.table("key", ["a", "b"], [[1, "x"]])
    page.picture("", None, "left out")
    assert str(page) == "# Title\n\nWords.\n\n| a | b |\n| --- | --- |\n| 1 | x |\n"
    assert page.tables == {"key": [{"a": "1", "b": "x"}]}


def test_spread_and_mean_curve():
    assert spread([0.5]) == "0.5000" and spread([1, 3], 1) == "2.0 ± 1.4"
    curves = [Curve(instances=[10, 20], recent=[0.5, 0.7]), Curve(instances=[10, 20], recent=[0.7, 0.9])]
    instances, errors = mean_curve(curves)
    assert instances.tolist() == [10, 20] and errors == pytest.approx([0.4, 0.2])


def test_computes():
    assert computes("emulated", "information_gain")
    assert not computes("emulated", "accuracy")
