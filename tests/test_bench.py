"""The benchmark: its files, its pages, its peers; never a time."""

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import streams
from bregalad import Geometry
from bregalad.benchmark import PARTS, area, beside, comparison, moa
from bregalad.benchmark.comparison import PEERS, contenders
from bregalad.benchmark.papers import STUDIES
from bregalad.benchmark.process import Process, summary
from bregalad.benchmark.streams import STREAMS, default_instances, load, read_binary, write_binary
from bregalad.cli import main
from bregalad.data import Attribute, Schema, open_generator
from bregalad.files import alone_in
from bregalad_hw.reports import clock_of

needs_moa = pytest.mark.skipif(not moa.available(), reason="needs a JDK and MOA's jar: run bregalad bench once")
ROOT = Path(__file__).resolve().parents[1]


# Streams and processes


def test_binary(tmp_path):
    path = tmp_path / "s.bin"
    schema = Schema((Attribute("size", "numeric"), Attribute("kind", "nominal", ("a", "b"))), "y", ("no", "yes"))
    X = pd.DataFrame({"size": [1.5, np.nan, 2.0], "kind": ["b", "a", None]})
    write_binary(X, np.array(["yes", "no", "no"], object), schema, path)
    data = path.read_bytes()
    assert np.frombuffer(data[:20], "<i4").tolist() == [3, 2, 2, 0, 2]
    np.testing.assert_equal(np.frombuffer(data[20:68], "<f8"), [1.5, 1, np.nan, 0, 2, np.nan])
    assert data[68:] == bytes([1, 0, 0])
    table, labels, values, classes = read_binary(path)
    np.testing.assert_equal(table, [[1.5, 1], [np.nan, 0], [2, np.nan]])
    assert labels.tolist() == [1, 0, 0] and values == [0, 2] and classes == 2
    write_binary(X[["kind"]], ["yes", "no", "no"], Schema(schema.attributes[1:], "y", schema.classes), path)
    assert path.read_bytes()[16:] == bytes([1, 0, 255, 1, 0, 0])
    assert read_binary(path)[0].tolist() == [[1], [0], [255]]
    with pytest.raises(ValueError, match="labels that the schema does not declare"):
        write_binary(X, ["yes", "no", "perhaps"], schema, path)


def test_load():
    X, y, schema = load("generator:led", 100)
    Z, z = open_generator("led").take(100)
    assert (X == Z.astype(object)).all().all() and (y == z).all() and schema.classes
    assert load("numeric-64", 10)[0].shape == (10, 64) and "nominal-1024" in STREAMS
    assert default_instances("nominal-1024") == 48_828 and default_instances("ELEC") is None
    assert default_instances("numeric-32") == 1_000_000
    with pytest.raises(ValueError, match="generator:led does not end"):
        load("generator:led")


def test_process_says_what_went_wrong():
    with pytest.raises(RuntimeError, match="it failed: ValueError: no luck"):
        Process([sys.executable, "-c", "raise ValueError('no luck')"], "it", 10)
    code = "print('ready', flush=True)\nfor _ in __import__('sys').stdin: 1/0"
    with pytest.raises(RuntimeError, match="it failed: ZeroDivisionError"):
        Process([sys.executable, "-c", code], "it", 10)
    with pytest.raises(ValueError, match=r"of moa on ELEC differ in accuracy \(0.5, 0.6\).*--fr"):
        summary(
            [{"accuracy": a, "cpu_seconds": 1, "instances": 1, "peer": "moa", "stream": "ELEC"} for a in (0.5, 0.6)]
        )


@needs_moa
@streams.needs("elec")
def test_moa():
    with moa.Peer("ELEC", "ht-mc", warmups=0, heap="1g") as peer:
        result = peer.measure()
    assert round(result["accuracy"], 4) == 0.7572 and result["leaves"] == 39
    assert result["instances"] == 45_312 and result["cpu_seconds"] > 0 and result["peak_mb"] > 10


@needs_moa
def test_wrong_learner():
    with pytest.raises(RuntimeError, match="MOA with 'trees.Nothing' failed.*Class not found"):
        moa.Peer("generator:sea", "trees.Nothing", instances=10, heap="256m")


# The board


def test_kept_clock():
    """That of the very geometry: slots and passes alone change a clock."""
    small = Geometry(lanes=4, passes=2)
    assert clock_of({}, small) == (None, None, None)
    kept = {
        name: {"board": "one", "geometry": geometry.as_dict(), "clock_mhz": {"asked": mhz - 5, "achieved": mhz}}
        for name, geometry, mhz in (
            ("a", small, 90),
            ("b", small.replace(passes=1, slots=8), 120),
            ("c", small.replace(lanes=8), 200),
        )
    }
    assert clock_of(kept, small.replace(passes=1, slots=8)) == (115, 120, "b")
    assert clock_of(kept, small, "one") == (85, 90, "a")
    assert clock_of(kept, small, "another") == (None, None, None)
    changes = (
        {"bus_width": small.bus_width // 2},
        {"banks": 2},
        {"levels": 2},
        {"passes": 1},
        {"slots": 2 * small.slots},
    )
    for other in changes:
        assert clock_of(kept, small.replace(**other)) == (None, None, None)


def test_kept_areas_of_before_banks_and_levels(tmp_path, monkeypatch):
    """They are those of boards with one of each: none is synthesised again."""
    before = {key: value for key, value in area._BASE.as_dict().items() if key not in ("banks", "levels")}
    cells = dict.fromkeys(area._CELLS, 100)
    (tmp_path / "area.json").write_text(
        json.dumps(
            [
                {
                    "geometry": {**before, "lanes": lanes},
                    "yosys": "Yosys 1",
                    "seconds": 1,
                    "cells": {kind: lanes * count for kind, count in cells.items()},
                }
                for lanes in (2, 4)
            ]
        )
    )
    monkeypatch.setattr(area, "_POINTS", (area._BASE, area._BASE.replace(lanes=4)))
    monkeypatch.setattr(area, "_BLOCKS", ())
    monkeypatch.setattr(area, "synthesise", None)
    page = area.run(SimpleNamespace(output=tmp_path, fresh=False, quick=False, note=print))
    assert "A lane of" in str(page) and len(page.tables["area"]) == 2


# The pages


def test_every_program_is_on_the_page():
    """Parts and studies, and every module that is a program of its own."""
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    programs = {
        path.stem for path in (ROOT / "host/bregalad/benchmark").glob("*.py") if "def main(" in path.read_text()
    }
    expected = {
        *(f"bregalad bench {name}" for name in PARTS),
        *(f"bregalad reproduce {name}" for name in STUDIES),
        *(f"python -m bregalad.benchmark.{name}" for name in programs - {"worker"}),
    }
    assert len(programs) > 4
    assert set(re.findall(r"`(bregalad \w+ [\w-]+|python -m [\w.]+)`", page)) == expected
    for name in programs:
        import_module(f"bregalad.benchmark.{name}")


# The command


def test_comparison(tmp_path, capsys):
    """What is kept is not measured again; the page shows it."""
    command = [
        "bench",
        "comparison",
        "--streams",
        "numeric-32",
        "--instances",
        "3000",
        "--peers",
        "emulated",
        "--repeats",
        "2",
        "--output",
        str(tmp_path),
    ]
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert err.count("accuracy") == 2 and "comparison.md" in out
    lines = [json.loads(line) for line in (tmp_path / "comparison.jsonl").read_text().splitlines()]
    assert len(lines) == 2 and {line["limit"] for line in lines} == {3000}
    assert all(line["accuracy"] > 0.5 and line["peak_mb"] > 0 for line in lines)
    page = (tmp_path / "comparison.md").read_text()
    assert "| numeric-32 | emulated board VFDT-MC | 3,000 |" in page
    assert main(command) == 0
    assert "accuracy" not in capsys.readouterr().err
    assert (tmp_path / "comparison.md").read_text() == page
    other = json.dumps({**lines[0], "stream": "ELEC"})
    with open(tmp_path / "comparison.jsonl", "a") as file:
        file.write(other + "\n")
    assert main([*command, "--fresh"]) == 0
    assert capsys.readouterr().err.count("accuracy") == 2
    kept = (tmp_path / "comparison.jsonl").read_text().splitlines()
    assert len(kept) == 3 and kept[0] == other  # nobody asked for that one anew


@needs_moa
def test_beside(capsys, monkeypatch):
    """Ours by the options of train, MOA's in turns; what cannot be is one line."""
    monkeypatch.setattr(sys, "argv", ["beside", "generator:sea", "--instances", "3000", "--repeats", "1"])
    sys.argv += ["--ours", "--tree efdt --leaf-prediction mc", "--learner arf --members 2", "--moa", "trees.EFDT"]
    beside.main()
    head, _, tree, forest = capsys.readouterr().out.splitlines()
    assert head == beside.HEAD and tree.count("|") == forest.count("|") == head.count("|")
    assert tree.startswith("| generator:sea | --tree efdt --leaf-prediction mc | 3,000 | 0.") and "trees.EFDT" in tree
    sys.argv[1] = "absent.csv"
    with pytest.raises(SystemExit, match="beside: .*absent.csv"):
        beside.main()


def test_a_peer_that_fails_does_not_stop_the_others(tmp_path, monkeypatch):
    """mlpack cannot be told of classes that come later, as KDD'99's do."""
    closed = []

    class Peer:
        def __init__(self, name):
            self.name = name

        def measure(self):
            if self.name == "mlpack":
                raise RuntimeError("mlpack failed: index out of bounds")
            return {"cpu_seconds": 1.0, "accuracy": 0.5, "instances": 9}

        def close(self):
            closed.append(self.name)

    monkeypatch.setattr(comparison, "_start", lambda peer, learner, file, core: Peer(peer))
    store, said = comparison.Store(tmp_path / "runs.jsonl"), []
    comparison.compare(store, ["generator:sea"], ("mlpack", "emulated"), instances=9, repeats=2, note=said.append)
    assert said[0] == "generator:sea: left out: mlpack failed: index out of bounds"
    assert [line["peer"] for line in store.lines] == ["emulated"] * 8
    assert sorted(closed) == ["emulated"] * 4 + ["mlpack"]


def test_wide_streams_are_for_majority_class_trees():
    names = contenders("nominal-32", tuple(PEERS))
    assert ("moa", "ht-mc") in names and ("moa", "efdt") not in names
    assert ("moa", "efdt") in contenders("ELEC", ("moa",))


def test_quick_figures_are_not_put_beside_the_kept_ones(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "comparison", "--quick", "--streams", "absent.csv", "--peers", "emulated", "--quiet"]) == 0
    assert "out/bench/comparison.md" in capsys.readouterr().out
    assert not (tmp_path / "docs").exists()


def test_one_benchmark_at_a_time_in_a_folder(tmp_path, capsys):
    """Two would slow each other, and nobody would see it."""
    with alone_in(tmp_path, "benchmark"):
        assert (
            main(
                [
                    "bench",
                    "comparison",
                    "--quick",
                    "--streams",
                    "absent.csv",
                    "--peers",
                    "emulated",
                    "--output",
                    str(tmp_path),
                ]
            )
            == 1
        )
    assert f"another benchmark works in {tmp_path}: wait for it" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


@pytest.mark.parametrize(
    "words, message",
    [
        (["nothing"], "no part 'nothing' of the benchmark; there are comparison"),
        (["area", "--repeats", "0"], "--repeats must be 1 or more, not 0"),
        (["comparison", "--peers", "weka"], "no peer 'weka'; there are moa"),
        (["comparison", "--core", "4096"], "--core must be one of"),
    ],
)
def test_refused(words, message, tmp_path, capsys):
    assert main(["bench", *words, "--output", str(tmp_path / "new")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
