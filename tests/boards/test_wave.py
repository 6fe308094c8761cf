"""Waveforms of the simulated RTL: what they hold, and the save file that shows it."""

import copy
import multiprocessing
import os
import re

import pytest
from bregalad import VFDT
from bregalad.boards import BoardError, open_board
from bregalad.protocol.commands import Opcode, pack_command
from bregalad_hw.boards import find_board
from bregalad_sim.virtual import VirtualBoard
from bregalad_sim.wave import NAMES, blocks
from models import LEAST

pywellen = pytest.importorskip("pywellen")

CLOCK = 10_000  # ps


def check(path, groups):
    """The waveform's signals by name; all that the save file shows is among them, and it has the groups."""
    lines = path.with_suffix(".gtkw").read_text().splitlines()
    assert f'[dumpfile] "{path}"' in lines
    matches = [re.fullmatch(r"(TOP\..*?)(?:\[(\d+):0\])?", line) for line in lines]
    shown = {match[1]: int(match[2] or 0) + 1 for match in matches if match}
    named = {line.removeprefix("-") for line in lines if line.startswith("-")}
    signals = {signal.full_name: signal for signal in pywellen.Waveform(str(path)).all_vars()}
    assert shown and {name: signals[name].bitwidth for name in shown} == shown
    assert groups <= named, groups - named
    return signals


def values(signal):
    return [value for _, value in signal.signal]


@pytest.mark.slow  # a compiler run
def test_simulated_board(tmp_path):
    """A forked process leaves it alone."""
    path = tmp_path / "run.fst"
    with open_board("simulated", LEAST, wave=path) as board:
        process = multiprocessing.get_context("fork").Process(target=board.close)
        process.start()
        process.join()
        assert process.exitcode == 0 and not path.stat().st_size
        board.write("grace.leaf", 77)
        for token in range(0xBEAD, 0xBEAD + 300):
            board.send(pack_command(LEAST, Opcode.FENCE, token=token))
            board.receive(wait=True)
        clocks = board.clocks
    signals = check(path, {*NAMES.values(), "registers", "control", "lane 0", "merge"})
    assert values(signals["TOP.accelerator.registers.configuration__grace__leaf"]) == [200, 77]
    assert 0xBEAD in {value & 0xFFFFFFFF for value in values(signals["TOP.accelerator.reports__payload"])}
    ticks = [time for time, _ in signals["TOP.clk"].signal]
    # Four clocks of reset come before those that are counted.
    assert ticks[-1] == (clocks + 4) * CLOCK - CLOCK // 2 and len(ticks) == 2 * (clocks + 4)


def test_tree(tmp_path, monkeypatch):
    """The board that a tree opens writes it, and that of a copy does not."""
    given = []

    def opened(name, geometry, **options):
        given.append(options)
        raise BoardError("seen")

    monkeypatch.setattr("bregalad.estimator.board.open_board", opened)
    tree = VFDT(board="simulated", geometry=LEAST)
    tree.write_wave(tmp_path / "run.fst")
    for each in (tree, copy.deepcopy(tree)):
        with pytest.raises(BoardError, match="seen"):
            each.fit([[1.0], [2.0]], ["a", "b"])
    assert given == [{"wave": tmp_path / "run.fst"}, {}]


@pytest.mark.slow  # a compiler run of a whole board; the simulated board has the rest
@pytest.mark.parametrize("name", ["ulx3s-12f", "colorlight-5a-75b"])
def test_virtual_board(name, tmp_path):
    path = tmp_path / "line.fst"
    with VirtualBoard(find_board(name), LEAST, wave=path) as virtual:
        virtual.run(2000)
    check(path, {"link", "bridge", "window", "session", "sender", "registers", "gain unit"})


def test_blocks():
    """Of Verilog as Yosys writes it: blocks in blocks, but no registers between them and no nameless ports."""
    text = """
module top(clk, a, b);
  input clk;
  input [7:0] a;
  output b;
  output [3:0] \\port$1$0 ;
  \\top.one  \\one$3  (
  \\top.one  duplicate_x (
  vendors cell_0 (
endmodule
module \\top.one (a);
  input a;
endmodule
"""
    one = {"name": "one$3", "ports": [("a", 1)], "blocks": []}
    assert blocks([text], "top") == {"name": "top", "ports": [("a", 8), ("b", 1)], "blocks": [one]}


@pytest.fixture
def stream(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    return str(path)


@pytest.mark.parametrize(
    "command", [["train", "in.csv", "--board", "simulated"], ["virtual", "ulx3s-12f"]], ids=["train", "virtual"]
)
@pytest.mark.parametrize(
    "file, message",
    [
        ("nowhere/run.fst", "nowhere/run.fst: there is no folder "),
        ("run.vcd", "wave must be a file that ends in .fst, the waveform's format, not 'run.vcd'"),
        ("folder.fst", "folder.fst is a folder, not a file"),
        ("locked.fst", "locked.fst cannot be written"),
        ("kept.fst", "kept.gtkw is a folder, not a file"),
    ],
)
def test_refuses_a_file_before_anything_starts(command, file, message, stream, tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bregalad_sim.verilated._build", None)  # nothing may come as far
    for folder in ("folder.fst", "kept.gtkw"):
        (tmp_path / folder).mkdir()
    (tmp_path / "locked.fst").touch()
    access = os.access
    monkeypatch.setattr("os.access", lambda path, mode: "locked" not in str(path) and access(path, mode))
    out, error = cli([*command, "--wave", file], 1)
    assert message in error and error.count("\n") == 1 and not out
    assert not (tmp_path / "run.gtkw").exists()


@pytest.mark.parametrize("board", ["emulated", "serial:/dev/null", "udp:127.0.0.1"])
def test_refuses_a_board_without_one(board, stream, tmp_path, cli):
    error = cli(f"train {stream} --board {board} --wave {tmp_path}/run.fst", 1).err
    assert f"board {board!r} writes no waveform; the simulated board does, and virtual ones" in error
    assert error.count("\n") == 1 and not list(tmp_path.glob("run.*"))


def test_refuses_in_python():
    with pytest.raises(TypeError, match="wave must be the name of a file, not 7"):
        open_board("simulated", "tiny", wave=7)
    with pytest.raises(TypeError, match="wave must be the name of a file, not 7"):
        VFDT(board="simulated").write_wave(7)
