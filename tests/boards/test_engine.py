"""The engine equals the golden model on random commands, whatever the geometry; what it computes from is right."""

import random

import pytest
from bregalad.boards import open_board
from bregalad.boards.engine import _table
from bregalad.fixed import xlog2x
from bregalad.geometry import CRITERIA, PRESETS, Geometry
from bregalad.protocol.commands import Opcode, record_layout
from bregalad.protocol.registers import EVENTS
from bregalad.protocol.reports import Kind, layout_of
from bregalad_sim.golden.memory import Memory
from bregalad_sim.latency import GoldenBoard
from bregalad_sim.record_board import RecordBoard
from bregalad_sim.traffic import Traffic
from hypothesis import given, settings
from hypothesis import strategies as st


class Right(Traffic):
    """Commands that a driver sends: nothing wrong, and slots that are tried when they are told to be."""

    def configuration(self):
        return [
            (name, {"leaf": 0} if name == "grace" else {"inner": 0} if name == "inner_grace" else fields)
            for name, fields in super().configuration()
        ]

    def command(self, faults=False):
        command = super().command(faults)
        while command[0] in (Opcode.LOAD, Opcode.RESET) or command[0] == Opcode.LEARN and command[1]:
            command = super().command(faults)
        return command

    def record(self, slots):
        layout, g = record_layout(self.cells), self.geometry
        while True:
            record = super().record(slots)
            found = layout.unpack(record)
            label = int(found["label"]) | (int(found["flags"]) >> 2 << 8 if g.long_labels else 0)
            if found["slot"] < g.slots and label < g.classes and (g.long_labels or found["flags"] < 3):
                return record

    def _period(self):
        return 0


def without_left(geometry, cells, reports):
    """Reports, without the class counts of the left side, which the driver does not look at."""
    found, at = bytearray(reports), 0
    while at < len(found):
        layout = layout_of(found[at], geometry, cells)
        if found[at] == Kind.SUGGESTION:
            found[at + layout.offset("left") : at + layout.size] = bytes(4 * geometry.classes)
        at += layout.size
    return bytes(found)


def check_equal(geometry, seed, rounds, commands):
    rng = random.Random(seed)
    engine, golden = RecordBoard(geometry), GoldenBoard(geometry)
    traffic = Right(geometry, rng, Memory(0, geometry.bus_bytes), rings=0)
    for _ in range(rounds):
        for name, fields in traffic.configuration():
            for board in (engine, golden):
                board.write_fields(name, **fields)
        stream = b"".join(traffic.command() for _ in range(commands)) + traffic.checkpoint()
        for board in (engine, golden):
            board.send(stream)
        want = without_left(geometry, traffic.cells, golden.receive())
        assert engine.receive() == want
        for name in EVENTS:
            assert engine.read_register(name) == golden.read_register(name), name


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
    @given(geometry=GEOMETRIES, seed=st.integers(0, 1 << 32))
    def check(geometry, seed):
        check_equal(geometry, seed, rounds=3, commands=40)

    check()


@pytest.mark.parametrize("preset", ["tiny", "small", "fine"])
def test_matches_golden_on_presets(preset):
    check_equal(PRESETS[preset], preset, rounds=3, commands=60)


@pytest.mark.parametrize("classes", [40, 256, 257, 1024])
def test_matches_golden_of_many_classes(classes):
    geometry = Geometry(lanes=2, passes=2, bins=4, classes=classes, slots=5, bus_width=64, naive_bayes=True)
    check_equal(geometry, classes, rounds=5, commands=40)


def test_table_is_xlog2x():
    rng = random.Random(1)
    for x in (0, 1, 2, 3, 65535, *(rng.randrange(65536) for _ in range(3000))):
        assert _table()[x] == xlog2x(x)


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
    with pytest.raises(ValueError, match="no option 'timeout'; there are none"):
        open_board("emulated", timeout=3)


def test_more_statistics_than_memory():
    geometry = Geometry(lanes=1024, passes=31, classes=1024, slots=32768)
    with pytest.raises(MemoryError, match="no memory for 32768 slots of 16 bins, 1024 classes and 31744 cells: take"):
        open_board("emulated", geometry)
