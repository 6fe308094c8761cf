"""The benchmark: its files, its pages, its peers; never a time."""

import re
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streams
from bregalad import Geometry
from bregalad.benchmark import area, beside, moa
from bregalad.benchmark.process import Process
from bregalad.benchmark.streams import STREAMS, coded, default_instances, load, write_binary, written
from bregalad.data import Attribute, Schema, open_generator
from bregalad_hw.boards.catalogue import BOARDS
from bregalad_hw.boards.limits import limits
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
    table, labels, *sizes = coded(X, np.array(["yes", "no", "no"], object), schema)
    np.testing.assert_equal(table, [[1.5, 1], [np.nan, 0], [2, np.nan]])
    assert labels.tolist() == [1, 0, 0] and sizes == [[0, 2], 2]
    write_binary(X[["kind"]], ["yes", "no", "no"], Schema(schema.attributes[1:], "y", schema.classes), path)
    assert path.read_bytes()[16:] == bytes([1, 0, 255, 1, 0, 0])
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


@needs_moa
@streams.needs("elec")
def test_moa():
    with written(load("ELEC")) as file:
        with closing(Process(moa.command("ht-mc", str(file)), "MOA", 45_312, warmups=0)) as peer:
            result = peer.measure()
    assert round(result["accuracy"], 4) == 0.7572 and result["leaves"] == 39
    assert result["instances"] == 45_312 and result["cpu_seconds"] > 0


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
    changes = ({"bus_width": small.bus_width // 2}, {"passes": 1}, {"slots": 2 * small.slots})
    for other in changes:
        assert clock_of(kept, small.replace(**other)) == (None, None, None)


def test_limits():
    """A serial line binds every board that has one, by far."""
    found = limits(BOARDS["ulx3s-85f"], 32, 100e6)
    assert found["link"] == pytest.approx(300e3 * 32 / 34)
    assert found["array"] == pytest.approx(100e6 * 8 / 1.08, rel=1e-3)
    assert found["memory"] == pytest.approx(100e6 * 32 / (33 / 16))
    assert limits(BOARDS["tang-nano-20k"], 4, 81e6)["link"] == pytest.approx(100e3 * 4 / 6)
    # Rows in a board's own memory need no flags.
    assert limits(BOARDS["ulx3s-85f-sdram"], 32, 50e6)["memory"] == pytest.approx(87e6 * 32 / 33)


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
    assert given == [area.WHOLE.replace(lanes=2)] and "| all |  | 2,008 | 1 | 2 | 1 |" in capsys.readouterr().out


# The pages


def test_every_program_is_on_the_page():
    """With a command, as is every module that is a program of its own; studies are named in its prose."""
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    programs = {
        path.stem for path in (ROOT / "host/bregalad/benchmark").glob("*.py") if "def main(" in path.read_text()
    } - {"area"}  # area has a page of its own
    assert len(programs) > 4
    commands = "\n".join(re.findall(r"^    (\S.*)$", page, re.MULTILINE))
    assert set(re.findall(r"python -m bregalad\.benchmark\.(\w+)", commands)) == programs
    assert "sh .ci/do bench" in commands and "`bregalad reproduce efdt-figures`" in page
    for name in programs:
        import_module(f"bregalad.benchmark.{name}")


# The command


@needs_moa
def test_rows(cli):
    """Ours by the options of train, others in turns; one that fails does not stop the others."""
    others = ["moa:trees.EFDT", "moa:trees.Nothing"]
    command = ["bench", "generator:sea", "absent.csv", "--instances", "3000", "--repeats", "2", "--others", *others]
    out, err = cli([*command, "--ours", "--tree efdt --leaf-prediction mc", "--learner arf --members 2"])
    head, _, *found = out.splitlines()
    assert head == beside.HEAD and {row.count("|") for row in found} == {head.count("|")}
    assert [row.split("|")[2].strip() for row in found] == [
        "--tree efdt --leaf-prediction mc",
        "--learner arf --members 2",
        "moa:trees.EFDT",
    ]
    assert all(row.startswith("| generator:sea |") and " | 3,000 | 0." in row for row in found)
    assert found[0].endswith("| 1.0 |")
    assert "generator:sea: left out: moa:trees.Nothing failed: " in err and "Class not found" in err
    assert "absent.csv: left out: " in err
