"""Row layouts: what is refused, and that the steps they become read every byte where the layout has it."""

import numpy as np
import pytest
from bregalad.data.codebook import CodeBook
from bregalad.data.keys import edge_keys
from bregalad.geometry import Geometry
from bregalad.protocol.rows import STEP, Column, RowKind, RowLayout, edges_command, records_command
from bregalad_sim.golden import GoldenQuantiser
from bregalad_sim.rows import any_edges, any_layout, any_rows, coded, records_of
from hypothesis import given, settings
from hypothesis import strategies as st

SIZES = [
    Geometry(lanes=2, passes=4, bins=4, bus_width=32),
    Geometry(lanes=8, passes=2, bins=4, bus_width=64),
    Geometry(lanes=12, passes=2, bins=4, bus_width=128),
    Geometry(lanes=32, passes=1, bins=4, bus_width=256),
    Geometry(lanes=12, passes=2, bins=4, bus_width=128, searchers=3),
]


@pytest.mark.parametrize("geometry", SIZES, ids=lambda g: f"{g.lanes}x{g.passes}-{g.bus_width}-{g.searchers}")
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1))
def test_codes_are_those_of_the_code_books(geometry, seed):
    """Any layout, any rows: the golden model's records are what the host would send."""
    rng = np.random.default_rng(seed)
    layout = any_layout(geometry, rng)
    golden = GoldenQuantiser(geometry)
    golden.execute(*layout.command(geometry))
    books = {}
    for index, column in enumerate(layout.columns):
        if column.kind is not RowKind.CODE:
            books[index] = book = CodeBook()
            book.edges = any_edges(column.kind, rng)
            golden.execute(*edges_command(geometry, index, edge_keys(book.edges, column.kind)))
    rows = any_rows(layout, rng, int(rng.integers(0, 6)))
    offset = int(rng.integers(geometry.bus_bytes))
    beats = golden.execute(*records_command(geometry, layout, rows, offset=offset, flags=2))
    assert records_of(beats, len(layout.columns)) == coded(layout, rows, books, flags=2)


BYTE = Column("c", 0, RowKind.CODE)


@pytest.mark.parametrize(
    "arguments, options, error, message",
    [
        ([[]], {}, ValueError, "a row layout needs at least one attribute"),
        ([[BYTE, BYTE]], {}, ValueError, "two attributes are named 'c'"),
        ([[Column("c", 0, 4)]], {}, TypeError, r"attribute 'c': kind must be a RowKind \(CODE, U8, .*\), not 4"),
        ([[Column("c", 0.5, RowKind.U8)]], {}, TypeError, "attribute 'c': offset must be an integer, not 0.5"),
        ([[Column("c", 13, RowKind.F32)], 16], {}, ValueError, "'c' lies at bytes 13 to 16, outside a row of 16"),
        ([[Column("c", -1, RowKind.CODE)], 4], {}, ValueError, "'c' lies at bytes -1 to -1, outside a row of"),
        ([[BYTE], 1], {"label": 1}, ValueError, "label lies at bytes 1 to 1, outside a row of 1 bytes"),
        ([[BYTE]], {"flags": "f"}, TypeError, "flags must be an integer, not 'f'"),
        ([[BYTE], 0], {}, ValueError, "stride must be 1 to 65535 bytes, not 0"),
        ([[BYTE], True], {}, TypeError, "stride must be an integer, not True"),
        ([[Column("c", 65536, RowKind.CODE)]], {}, ValueError, "stride must be 1 to 65535 bytes, not 65537"),
    ],
)
def test_layouts_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        RowLayout(*arguments, **options)


GEOMETRY = SIZES[0]  # 2 lanes, 4 passes, a bus of 32 bits


def bytes_at(*offsets):
    return [Column(f"c{i}", offset, RowKind.CODE) for i, offset in enumerate(offsets)]


def test_label_far_away():
    """A label that is far from all attributes has a step of its own, wherever it is."""
    for layout, steps in (
        (RowLayout(bytes_at(300, 301), label=0), 2),
        (RowLayout(bytes_at(0, 1), label=300, flags=200), 3),
        (RowLayout(bytes_at(300, 301)), 2),  # what nobody reads is skipped
        (RowLayout(bytes_at(0, 1), label=2, flags=3), 1),
        (RowLayout(bytes_at(1, 2), label=3, flags=0), 2),
    ):
        assert layout.clocks(GEOMETRY) == max(steps, layout.stride / 4)
        assert len(layout.command(GEOMETRY).payload) == STEP.size * steps
        golden = GoldenQuantiser(GEOMETRY)
        golden.execute(*layout.command(GEOMETRY))
        rows = any_rows(layout, np.random.default_rng(1), 3)
        beats = golden.execute(*records_command(GEOMETRY, layout, rows))
        assert records_of(beats, 2) == coded(layout, rows, {}, 0)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda g: RowLayout(bytes_at(*range(9))).command(g), "9 attributes; the board is built for 2 x 4 = 8"),
        (lambda g: RowLayout(bytes_at(*range(8))).command(g, 3), "is read in 4 steps; the board has room for 3"),
        (
            lambda g: RowLayout(bytes_at(100, 101, 0)).command(g),
            "'c0' lies 102 bytes behind what is read after it; it may be 64",
        ),
        (lambda g: edges_command(g, 8, []), "attribute must be 0 to 7, not 8"),
        (lambda g: edges_command(g, 0, range(255)), "an attribute has at most 254 edges, not 255"),
        (lambda g: edges_command(g, 0, [2, 1]), "attribute 0: edges must rise"),
        (lambda g: records_command(g, RowLayout(bytes_at(0, 2), 4), bytes(6)), "6 bytes are no whole rows of 4"),
        (lambda g: records_command(g, RowLayout(bytes_at(0)), bytes(6), offset=4), "offset must be 0 to 3, not 4"),
    ],
)
def test_commands_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make(GEOMETRY)


def test_numbers_on_a_board_without_searchers():
    """The host refuses them; of a host that does not, the board counts no row that has any."""
    board = GEOMETRY.replace(searchers=0)
    mixed = RowLayout([Column("c", 0, RowKind.CODE), Column("n", 2, RowKind.U8)], 4, label=1)
    with pytest.raises(ValueError, match="attribute 'n' is a number, and the board has no searchers.* rows of codes"):
        mixed.command(board)
    with pytest.raises(ValueError, match="attribute 1 is a number, and the board has no searchers"):
        edges_command(board, 1, [1])
    golden = GoldenQuantiser(board)
    golden.execute(*edges_command(GEOMETRY, 1, [1]))
    for layout, label, codes in ((mixed, 255, [7, 255]), (RowLayout(bytes_at(0, 2), 4, label=1), 1, [7, 3])):
        golden.execute(*layout.command(GEOMETRY))
        beats = golden.execute(*records_command(GEOMETRY, layout, bytes([7, 1, 3, 0])))
        assert records_of(beats, 2) == [(label, 0, codes)]
    assert layout.command(board) == layout.command(GEOMETRY)


def test_rest_of_the_last_row():
    """After the last row the stride's rest may be missing."""
    layout = RowLayout(bytes_at(0, 2), 4)
    command = records_command(GEOMETRY, layout, bytes(7), offset=2)
    assert len(command.payload) == 12  # offset, two rows, the word's rest
