"""What all devices have in common: registers, identity, bytes of any kind."""

import numpy as np
import pytest
from bregalad.boards import Board, BoardError
from bregalad.geometry import PRESETS
from bregalad.protocol.commands import Opcode, pack_command
from bregalad_sim.latency import GoldenBoard


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda b: b.read_register("nothing"), KeyError, "no register 'nothing'"),
        (lambda b: b.read("grace.nothing"), KeyError, "'grace'; there are leaf"),
        (lambda b: b.write("nothing.leaf", 1), KeyError, "no register"),
        (lambda b: b.write("identity.magic", 1), ValueError, "read-only"),
        (lambda b: b.write_register("identity", 1), ValueError, "read-only"),
        (lambda b: b.write("grace.leaf", 1 << 24), ValueError, "grace.leaf: this board takes 0 to 16777215"),
        (lambda b: b.write_register("report", 16), ValueError, "does not fit 2 bits"),
        (lambda b: b.write_register("report", -1), ValueError, "does not fit 2 bits"),
        (lambda b: b.write("cells.count", 5), ValueError, "cells.count: this board takes 1 to 4, not 5"),
        (lambda b: b.write("cells.count", 0), ValueError, "cells.count: this board takes 1 to 4, not 0"),
        (lambda b: b.write_fields("cell", index=4, write=1), ValueError, "cell.index: this board takes 0 to 3, not 4"),
        (lambda b: b.write("classes.count", 0), ValueError, "classes.count: this board takes 1 to 2, not 0"),
        (lambda b: b.write_register("classes", 3), ValueError, "classes.count: this board takes 1 to 2, not 3"),
        (lambda b: b.write_fields("cell", colour=1), KeyError, "no field 'colour'"),
        (lambda b: b.write_fields("cell", kind=4), ValueError, "this board takes 0 to 3, not 4"),
        (lambda b: b.send(b"123"), ValueError, "whole bus words of 4 bytes, not 3"),
        (lambda b: b.send(np.zeros(4, np.int32)), TypeError, "int32"),
        (lambda b: b.load(1, bytes(64)), ValueError, "do not fit the board's memory of 64"),
        (lambda b: b.load(-1, bytes(1)), ValueError, "do not fit the board's memory"),
        (lambda b: b.receive(wait=True), BoardError, "no report to give"),
    ],
)
def test_refuses(call, error, message):
    with GoldenBoard(PRESETS["tiny"], 64) as board, pytest.raises(error, match=message):
        call(board)


def test_identity_names_what_differs():
    board = GoldenBoard(PRESETS["tiny"])
    assert isinstance(board, Board)
    board.geometry = PRESETS["tiny"].replace(lanes=4)
    with pytest.raises(BoardError, match="lanes is 2, expected 4: open the board with"):
        board.check_identity()
    board._read_register = lambda register: 0
    with pytest.raises(BoardError, match="not a Bregalad board"):
        board.check_identity()


def test_counters_clear():
    board = GoldenBoard(PRESETS["tiny"])
    board.model.events["attempts"] = 1
    assert board.counters()["attempts"] == 1
    board.write("control.clear", 1)
    assert not any(board.counters().values())


def test_sends_any_bytes_alike():
    """bytes, bytearray, memoryview, and arrays that are writable, or not contiguous."""
    geometry = PRESETS["tiny"]
    stream = pack_command(geometry, Opcode.FENCE, token=7)
    board = GoldenBoard(geometry)
    array = np.frombuffer(stream, np.uint8).copy()
    for data in (stream, bytearray(stream), memoryview(stream), array, np.repeat(array, 2)[::2]):
        board.send(data)
        assert board.receive(wait=True) == GoldenBoard(geometry).model.execute(stream)
    board.send(b"")
    assert board.receive() == b""
