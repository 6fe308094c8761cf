"""The benchmark: its files, its pages, its peers; never a time."""

import json
import re
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import streams
from bregalad import Geometry
from bregalad.benchmark import PARTS, area, board, comparison, moa
from bregalad.benchmark.contenders import PEERS, contenders
from bregalad.benchmark.papers import STUDIES
from bregalad.benchmark.process import Process, summary
from bregalad.benchmark.streams import STREAMS, default_instances, load, read_binary, write_binary
from bregalad.cli import main
from bregalad.data import Attribute, Schema, open_generator
from bregalad.files import alone_in
from bregalad_hw.boards.catalogue import BOARDS
from bregalad_hw.reports import kept

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


def test_fitting():
    """Two classes: as many slots as the passes leave room for; wide words: fewer lanes or none."""
    g = board.fitting(32, 2)
    assert (g.lanes, g.passes, g.slots, g.banks) == (32, 1, 128, 2)
    g = board.fitting(1024, 2)
    assert (g.lanes, g.passes, g.slots) == (32, 32, 4)
    g = board.fitting(24, 10)
    assert (g.lanes, g.passes, g.slots, g.count_width) == (4, 6, 32, 17)
    g = board.fitting(5, 5)  # no more lanes than it has cells
    assert (g.lanes, g.passes, g.slots) == (5, 1, 352)
    g = board.fitting(45, 23)  # no lanes leave room for 16 slots
    assert (g.lanes, g.passes, g.slots) == (2, 23, 7)
    assert g.naive_bayes and g.banks == 1  # as the kept builds
    assert board.fitting(500, 32) is None
    g = board.fitting(128, 2, lanes=64)
    assert (g.lanes, g.passes, g.slots, g.count_width, g.bus_width) == (64, 2, 16, 12, 512)
    assert g.banks == 1  # a lane has one block for them
    assert board.fitting(24, 10, lanes=64) == board.fitting(24, 10)


def test_board_of_several_levels():
    """The kept build's, which has memory for so many slots times passes."""
    g = board.with_levels(10, 2)
    assert (g.lanes, g.passes, g.slots, g.levels) == (4, 3, 128, 8)
    assert board.kept_clock(g) == (None, None, None)  # nobody has built it
    assert board.kept_clock(board.with_levels(8, 2))[2] == board.LEVELS
    assert board.with_levels(5, 5) is None


def test_kept_clock(tmp_path, monkeypatch):
    """That of the very geometry: slots and passes alone change a clock."""
    monkeypatch.setattr(board, "reports", partial(kept, tmp_path))
    small = Geometry(lanes=4, passes=2)
    assert board.kept_clock(small) == (None, None, None)
    for name, geometry, mhz in (
        ("a", small, 90),
        ("b", small.replace(passes=1, slots=8), 120),
        ("c", small.replace(lanes=8), 200),
    ):
        (tmp_path / f"{name}.json").write_text(
            json.dumps(
                {"board": "one", "geometry": geometry.as_dict(), "clock_mhz": {"asked": mhz - 5, "achieved": mhz}}
            )
        )
    assert board.kept_clock(small.replace(passes=1, slots=8)) == (115, 120, "b")
    assert board.kept_clock(small, "one") == (85, 90, "a")
    assert board.kept_clock(small, "another") == (None, None, None)
    for other in (
        {"bus_width": small.bus_width // 2},
        {"banks": 2},
        {"levels": 2},
        {"passes": 1},
        {"slots": 2 * small.slots},
    ):
        assert board.kept_clock(small.replace(**other)) == (None, None, None)


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
    monkeypatch.setattr(area, "_WHOLE", area._BASE)
    monkeypatch.setattr(area, "synthesise", None)
    page = area.run(SimpleNamespace(output=tmp_path, fresh=False, quick=False, note=print))
    assert "A lane of" in str(page) and len(page.tables["area"]) == 2


def test_area_by_block(monkeypatch, capsys):
    """Cells go to the block that they are named after; alike blocks are one, small ones part of the one around."""
    kinds = {
        **dict.fromkeys(("array", "array.lane_0", "array.lane_1", "array.scan$7", "array.fifo"), "$scopeinfo"),
        **{f"array.scan$7.{i}": "LUT4" for i in range(2000)},
        "array.lane_0.sum_CCU2C_1": "CCU2C",
        "array.lane_0.table.0": "DP16KD",
        "array.lane_1.wide.0": "PDPW16KD",
        "array.lane_1.rows.0": "TRELLIS_DPR16X4",
        "array.lane_1.f.product": "MULT18X18D",
        "array.fifo.level_LUT4_Z": "LUT4",
        "array.fifo.level": "TRELLIS_FF",
        "busy_LUT4_Z": "LUT4",
    }
    netlist = {"modules": {"top": {"cells": {name: {"type": kind} for name, kind in kinds.items()}}}}
    assert area.blocks_of(netlist) == [
        ("array.lane", 2, 6, 0, 2, 1),
        ("array.scan", 1, 2000, 0, 0, 0),
        ("the rest", 1, 2, 1, 0, 0),
    ]
    given = []
    monkeypatch.setattr(area, "netlist_of", lambda geometry, folder: given.append(geometry) or netlist)
    monkeypatch.setattr("sys.argv", ["area", "lanes=2"])
    area.main()
    assert given == [area._WHOLE.replace(lanes=2)] and "| all |  | 2,008 | 1 | 2 | 1 |" in capsys.readouterr().out


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
    assert len(programs) > 9
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


def test_boards_speed_needs_a_kept_clock(tmp_path, monkeypatch):
    """Clocks times the clock of the report of the very geometry, of what was counted; without one, no speed."""
    from bregalad.benchmark import figures

    monkeypatch.setattr(board, "reports", partial(kept, tmp_path))
    g = board.fitting(32, 2)
    row = {
        "stream": "numeric-32",
        "peer": "simulated",
        "learner": "vfdt-mc",
        "limit": 10,
        "attributes": 32,
        "cells": 32,
        "geometry": g.as_dict(),
        "accuracy": 0.9,
        "clocks_per_instance": 1.6,
        "learning_per_instance": 1.08,
        "counted": 10,
        "counters": {"records": 8},
    }
    other = {
        "stream": "numeric-32",
        "peer": "moa",
        "learner": "ht-mc",
        "limit": 10,
        "attributes": 32,
        "instances": 1_000_000,
        "accuracy": 0.8,
        "cpu_seconds": 2.0,
        "repeats": 3,
        "spread": 1.1,
        "peak_mb": 100,
    }
    assert figures.values_per_second(row) is None
    assert "no report" in str(figures.comparison_page([other, row]))
    (tmp_path / "big.json").write_text(
        json.dumps({"board": "big", "geometry": g.as_dict(), "clock_mhz": {"asked": 100, "achieved": 101}})
    )
    assert figures.values_per_second(row) == pytest.approx(1.6e9)
    again = row | {"counters": {"records": 12}}  # sent again, but no instance more
    assert figures.values_per_second(again) == pytest.approx(2e9)
    deeper = row | {"geometry": g.replace(passes=2).as_dict()}
    assert figures.values_per_second(deeper) is None
    page = figures.comparison_page([other, row])
    assert page.tables["boards"][0]["times MOA"] == "100.0"
    assert page.tables["numeric"][1]["32"] == "1,600.0 (0.9000)"
    unfit = row | {"stream": "KDD", "geometry": None, "cells": 45}
    lines = figures.comparison_page([other, row, unfit]).tables["boards"]
    assert [line["lanes, slots"] for line in lines] == ["32, 128", "does not fit"]
    paths = row | {"stream": "ELEC", "geometry": Geometry(levels=8).as_dict()}
    page = figures.comparison_page([paths, other | {"stream": "ELEC"}])
    assert page.tables["boards"][0]["lanes, slots"] == "8 of 8 levels, 64"
    assert page.tables["others"][0]["ELEC"] == "16.0 (0.8000)"


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
    assert ("moa", "ht-mc") in names and ("simulated-64", "vfdt-mc") in names
    assert ("moa", "efdt") not in names
    assert ("moa", "efdt") in contenders("ELEC", ("moa",))
    assert ("simulated-levels", "efdt-mc") in contenders("ELEC", PEERS)
    assert ("simulated-levels", "efdt-mc") not in contenders("KDD", PEERS)


def test_limits():
    """A serial line binds every board that has one, by far."""
    from bregalad_hw.boards.limits import limits

    found = limits(BOARDS["ulx3s-85f"], 32, 100e6)
    assert found["link"] == pytest.approx(300e3 * 32 / 36)
    assert found["array"] == pytest.approx(100e6 * 8 / 1.08, rel=1e-3)
    assert found["memory"] == pytest.approx(100e6 * 32 / (36 / 16))
    # Each at its own rate.
    assert limits(BOARDS["tang-nano-20k"], 4, 81e6)["link"] == pytest.approx(100e3 * 4 / 8)
    assert limits(BOARDS["ecpix5-85f"], 32, 62.5e6)["link"] == pytest.approx(118e6 * 32 / 36)
    # Rows in a board's own memory have no record's header.
    assert limits(BOARDS["ulx3s-85f-sdram"], 32, 50e6)["memory"] == pytest.approx(87e6 * 32 / 33)


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
        (["costs", "--repeats", "0"], "--repeats must be 1 or more, not 0"),
        (["comparison", "--peers", "weka"], "no peer 'weka'; there are moa"),
        (["comparison", "--core", "4096"], "--core must be one of"),
    ],
)
def test_refused(words, message, tmp_path, capsys):
    assert main(["bench", *words, "--output", str(tmp_path / "new")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
