"""Studies in seconds: their files appear, and what they say agrees with what was run."""

import numpy as np
import pytest
from bregalad.benchmark import streams
from bregalad.benchmark.page import Page
from bregalad.benchmark.papers import STUDIES, Settings, efdt, study, ties
from bregalad.benchmark.papers.runs import mean_curve, spread
from bregalad.benchmark.streams import load
from bregalad.cli import main
from bregalad.evaluation import Curve


@pytest.fixture(autouse=True)
def no_real_streams(monkeypatch):
    def absent(name, instances):
        raise FileNotFoundError(name)

    monkeypatch.setattr(streams, "load", absent)


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
    assert "--instances 3000 --runs 2" in page
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
    monkeypatch.setattr(streams, "load", lambda name, instances: load("generator:sea", instances))
    page = efdt.run(Settings(2000, 2))
    rows = page.tables["real error"]
    assert [row["stream"] for row in rows] == ["KDD'99, ordered", "KDD'99, shuffled", "Skin, ordered", "Skin, shuffled"]
    assert "±" not in rows[0]["VFDT"] and "±" in rows[1]["VFDT"]
    assert "KDD'99 2,000, Skin 2,000" in str(page)


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
        (["tie"], "no study 'tie'; there are efdt-figures, ties"),
        (["ties", "--runs", "0"], "--runs must be 1 or more, not 0"),
        (["ties", "--instances", "-1"], "--instances must be 1 or more, not -1"),
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
