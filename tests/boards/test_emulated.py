"""The emulated board equals the golden model on random command streams."""

import random

import numpy as np
import pytest
from bregalad.boards import Board, BoardError, open_board
from bregalad.boards.emulated import _table
from bregalad.fixed import xlog2x
from bregalad.geometry import CRITERIA, PRESETS, Geometry
from bregalad.protocol.commands import CommandFlag, Opcode, pack_command, record_layout
from bregalad.protocol.registers import REGISTERS
from bregalad.protocol.reports import ErrorCode
from bregalad_sim.golden import Golden
from equality import check_equal
from hypothesis import given, settings
from hypothesis import strategies as st

FAULTS = [ErrorCode.SLAVE, ErrorCode.DECODE]


def geometries(criterion):
    """Small geometries of a criterion."""
    classes = st.just(2) if criterion == "kearns_mansour" else st.integers(2, 5)
    return st.builds(
        Geometry,
        lanes=st.integers(1, 5),
        passes=st.integers(1, 3),
        bins=st.sampled_from([4, 8, 16]),
        classes=classes,
        slots=st.integers(2, 9),
        count_width=st.sampled_from([12, 13, 20, 32]),
        bus_width=st.sampled_from([32, 64, 128, 256]),
        criterion=st.just(criterion),
        naive_bayes=st.booleans(),
    )


GEOMETRIES = st.sampled_from(CRITERIA).flatmap(geometries)


@pytest.mark.parametrize("examples", [80, pytest.param(300, marks=pytest.mark.slow)])
def test_matches_golden(examples):
    @settings(max_examples=examples, deadline=None)
    @given(geometry=GEOMETRIES, seed=st.integers(0, 1 << 32), memory_size=st.sampled_from([0, 1000]))
    def check(geometry, seed, memory_size):
        board = open_board("emulated", geometry, memory_size=memory_size)
        check_equal(board, random.Random(seed), rounds=3, commands=40)

    check()


@pytest.mark.parametrize("preset", ["tiny", "small", "fine"])
def test_matches_golden_on_presets(preset):
    board = open_board("emulated", preset, memory_size=4096)
    check_equal(board, random.Random(preset), rounds=3, commands=60)


@pytest.mark.parametrize("classes", [40, 256, 257, 1024])
def test_matches_golden_of_many_classes(classes):
    geometry = Geometry(lanes=2, passes=2, bins=4, classes=classes, slots=5, bus_width=64, naive_bayes=True)
    board = open_board("emulated", geometry, memory_size=1000)
    check_equal(board, random.Random(classes + 2), rounds=7, commands=40)
    assert board.read("predictions.count") and board.read("bad_records.count")


@pytest.mark.parametrize("grace, predictions", [(1, 0), (0, 1), (0, 2), (1, 2)])
def test_many_reports_overflow_nothing(grace, predictions):
    """More reports than the buffer holds, from one send."""
    geometry = PRESETS["tiny"].replace(naive_bayes=True)
    board, golden = open_board("emulated", geometry), Golden(geometry)
    for device in (board, golden):
        device.write_register("grace", grace)
        device.write_register("report", predictions << 1)
        device.write_register("cells", 4)
    records = np.zeros(80000, record_layout(4).dtype)
    records["label"] = np.arange(len(records)) % 2
    stream = pack_command(geometry, Opcode.LEARN, count=len(records), payload=records.tobytes())
    board.send(stream)
    one = len(board.receive()) // len(records)
    assert one == len(golden.execute(pack_command(geometry, Opcode.LEARN, count=1, payload=bytes(8))))
    assert board.read("trials.count") == grace * len(records)
    assert board.read("predictions.count") == bool(predictions) * len(records)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_registers_match_golden(criterion):
    geometry = PRESETS["small"].replace(criterion=criterion, naive_bayes=True)
    board = open_board("emulated", geometry)
    golden = Golden(geometry, board.memory_size)
    for register in REGISTERS:
        assert board.read_register(register.name) == golden.read_register(register.name)
    board.write("grace.leaf", 77)
    board.write("cell.base", 9)
    golden.write_register("grace", 77)
    golden.write_register("cell", golden.read_register("cell") | 9 << 20)
    for register in REGISTERS:
        assert board.read_register(register.name) == golden.read_register(register.name)


def test_table_is_xlog2x():
    rng = random.Random(1)
    for x in (0, 1, 2, 3, 65535, *(rng.randrange(65536) for _ in range(3000))):
        assert _table()[x] == xlog2x(x)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda b: b.read_register("nothing"), KeyError, "no register 'nothing'"),
        (lambda b: b.read("grace.nothing"), KeyError, "grace.leaf"),
        (lambda b: b.write("nothing.leaf", 1), KeyError, "no register"),
        (lambda b: b.write("identity.magic", 1), ValueError, "read-only"),
        (lambda b: b.write_register("identity", 1), ValueError, "read-only"),
        (lambda b: b.write("grace.leaf", 1 << 24), ValueError, "does not fit 24 bits"),
        (lambda b: b.write_register("report", 16), ValueError, "does not fit 4 bits"),
        (lambda b: b.write_register("report", -1), ValueError, "does not fit 4 bits"),
        (lambda b: b.write("cells.count", 5), ValueError, "cells.count: this board takes 1 to 4, not 5"),
        (lambda b: b.write("cells.count", 0), ValueError, "cells.count: this board takes 1 to 4, not 0"),
        (lambda b: b.write("report.predictions", 1), ValueError, "report.predictions: this board takes 0 to 0, not 1"),
        (lambda b: b.write_fields("cell", index=4, write=1), ValueError, "cell.index: this board takes 0 to 3, not 4"),
        (lambda b: b.write("classes.count", 0), ValueError, "classes.count: this board takes 1 to 2, not 0"),
        (lambda b: b.write_register("classes", 3), ValueError, "classes.count: this board takes 1 to 2, not 3"),
        (lambda b: b.write_fields("cell", colour=1), KeyError, "no field 'colour'"),
        (lambda b: b.write_fields("cell", kind=4), ValueError, "does not fit 2 bits"),
        (lambda b: b.send(b"123"), ValueError, "whole bus words of 4 bytes, not 3"),
        (lambda b: b.send(np.zeros(4, np.int32)), TypeError, "int32"),
        (lambda b: b.load(1, bytes(64)), ValueError, "do not fit the board's memory of 64"),
        (lambda b: b.load(-1, bytes(1)), ValueError, "do not fit the board's memory"),
        (lambda b: b.receive(wait=True), BoardError, "no report can come"),
    ],
)
def test_refuses(call, error, message):
    with open_board("emulated", "tiny", memory_size=64) as board:
        with pytest.raises(error, match=message):
            call(board)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("imaginary",), "no board 'imaginary'; there are emulated, simulated"),
        (("emulated", "huge"), "no geometry 'huge'; there are tiny"),
    ],
)
def test_open_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        open_board(*arguments)
    with pytest.raises(ValueError, match="no option 'timeout'; there are memory_size"):
        open_board("emulated", timeout=3)


def test_more_statistics_than_memory():
    geometry = Geometry(lanes=1024, passes=31, classes=1024, slots=32768)
    with pytest.raises(MemoryError, match="no memory for 32768 slots of 16 bins, 1024 classes and 31744 cells: take"):
        open_board("emulated", geometry)


def test_identity_names_what_differs():
    board = open_board("emulated", "tiny")
    assert isinstance(board, Board)
    board.geometry = PRESETS["tiny"].replace(lanes=4)
    with pytest.raises(BoardError, match="lanes is 2, expected 4: open the board with"):
        board.check_identity()
    board._fixed["identity.magic"] = 0
    with pytest.raises(BoardError, match="not a Bregalad board"):
        board.check_identity()


def test_counters_clear():
    board = open_board("emulated", "tiny")
    board.send(pack_command(board.geometry, Opcode.TRIAL, slot=3))
    assert board.counters()["trials"] == 1
    board.clear_counters()
    assert not any(board.counters().values())


def test_sends_any_bytes_alike():
    """bytes, bytearray, memoryview, and arrays that are writable, or not contiguous."""
    geometry = PRESETS["tiny"]
    stream = pack_command(geometry, Opcode.FENCE, token=7)
    board = open_board("emulated", geometry)
    array = np.frombuffer(stream, np.uint8).copy()
    for data in (stream, bytearray(stream), memoryview(stream), array, np.repeat(array, 2)[::2]):
        board.send(data)
        assert board.receive(wait=True) == Golden(geometry).execute(stream)
    board.send(b"")
    assert board.receive() == b""


def test_memory_beyond_all_addresses():
    geometry = PRESETS["tiny"]
    stream = pack_command(geometry, Opcode.LEARN, count=3, address=(1 << 64) - 3, flags=CommandFlag.MEMORY)
    board = open_board("emulated", geometry)
    board.send(stream)
    assert board.receive() == Golden(geometry).execute(stream)
