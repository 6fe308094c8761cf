"""Row layouts of structured arrays, and keys of edges."""

import numpy as np
import pytest
from bregalad.data.keys import edge_keys
from bregalad.data.layouts import row_layout
from bregalad.geometry import Geometry
from bregalad.protocol.rows import Column, RowKind, edges_command, records_command
from bregalad_sim.golden import GoldenQuantiser
from bregalad_sim.rows import records_of

GEOMETRY = Geometry(lanes=4, passes=2, bins=4, bus_width=64)


def places(layout):
    return [(column.name, column.offset, column.kind) for column in layout.columns]


def test_structured():
    """As a C compiler lays them out, in place: what the golden model reads is what NumPy has."""
    dtype = np.dtype([("x", "<f4"), ("c", "u1"), ("y", "<u2"), ("n", "u1"), ("z", "<i4"), ("class", "u1")], align=True)
    layout = row_layout(dtype, codes=["c"], label="class")
    assert layout.stride == dtype.itemsize == 20
    assert (layout.label, layout.flags) == (16, None)
    assert places(layout) == [
        ("x", 0, RowKind.F32),
        ("c", 4, RowKind.CODE),
        ("y", 6, RowKind.U16),
        ("n", 8, RowKind.U8),
        ("z", 12, RowKind.I32),
    ]
    rows = np.zeros(3, dtype)
    rows["x"], rows["c"], rows["y"] = [0.5, np.nan, -1], [7, 8, 255], [9, 10, 11]
    rows["n"], rows["z"], rows["class"] = [1, 2, 3], [-5, 0, 5], [0, 1, 1]
    golden = GoldenQuantiser(GEOMETRY)
    golden.execute(*layout.command(GEOMETRY))
    for index, edges in ((0, [0.0, 0.5]), (2, [9.5, 10.5]), (3, [1.5]), (4, [0.0])):
        golden.execute(*edges_command(GEOMETRY, index, edge_keys(np.array(edges), layout.columns[index].kind)))
    beats = golden.execute(*records_command(GEOMETRY, layout, rows.tobytes()))
    assert records_of(beats, 5) == [(0, 0, [2, 7, 0, 0, 0]), (1, 0, [255, 8, 1, 1, 1]), (1, 0, [0, 255, 2, 1, 1])]


def test_codes_label_and_flags():
    dtype = np.dtype([("label", "u1"), ("flags", "u1"), ("a b", "u1"), ("b", "u1")])
    layout = row_layout(dtype, codes=["a b", "b"], label="label", flags="flags")
    assert (layout.stride, layout.label, layout.flags) == (4, 0, 1)
    assert places(layout) == [("a b", 2, RowKind.CODE), ("b", 3, RowKind.CODE)]
    assert row_layout(np.zeros(3, dtype), label="label").columns[0] == Column("flags", 1, RowKind.U8)


FLOATS = np.dtype([(f"x{i}", "<f4") for i in range(7)])


@pytest.mark.parametrize(
    "rows, options, error, message",
    [
        (np.dtype([("x", "<f8")]), {}, TypeError, "field 'x': type must be uint8, uint16, int32 or float32, .*float64"),
        (np.dtype([("x", ">f4")]), {}, TypeError, "field 'x': type must be .* little endian, not >f4"),
        (np.dtype([("x", "<f4"), ("s", "S4")]), {}, TypeError, r"field 's': type must be .*, not \|S4"),
        (np.dtype([("x", "<f4", 3)]), {}, TypeError, "field 'x': type must be"),
        (FLOATS, {"label": "x3"}, TypeError, "field 'x3': codes, label and flags are uint8, not float32"),
        (FLOATS, {"codes": ["x7"]}, ValueError, "codes: there is no field 'x7'; there are x0, x1, x2, x3, x4, x5, x6"),
        (FLOATS, {"label": "class"}, ValueError, "label: there is no field 'class'"),
        (np.dtype([("k", "u1")]), {"label": "k"}, ValueError, "a row layout needs at least one attribute"),
        (
            np.dtype([(f"x{i}", "<f4") for i in range(20_000)]),
            {},
            ValueError,
            "stride must be 1 to 65535 bytes, not 80",
        ),
        ([1, 2], {}, TypeError, "rows must be a NumPy structured array"),
        (np.zeros((5, 7), np.float32), {}, TypeError, "rows must be a NumPy structured array"),
    ],
)
def test_refused(rows, options, error, message):
    with pytest.raises(error, match=message):
        row_layout(rows, **options)


def test_keys_at_the_ends():
    """Edges beyond what a type holds: below all, a key that nothing is below; above all, none."""
    floats = [0x00800000, 0x7FFFFFFF, 0x7FFFFFFF, 0x80000001, 0xFF800000]
    assert edge_keys([-1e300, -1e-300, 0.0, 1e-300, 1e300], RowKind.F32).tolist() == floats
    whole = [0, 0, 0x80000001, 0xFFFFFFFF]
    assert edge_keys([-(2.0**40), -(2.0**31), 0.5, 2.0**31 - 1, 2.0**31], RowKind.I32).tolist() == whole
    assert edge_keys([-0.5, 254.5, 255.5], RowKind.U8).tolist() == [0, 255]
    assert edge_keys([], RowKind.U16).tolist() == []


@pytest.mark.parametrize(
    "edges, kind, message",
    [
        ([1.0], RowKind.CODE, "a code is taken as it is"),
        ([np.inf], RowKind.F32, "not inf"),
        ([0.0, np.nan], RowKind.F32, "must be finite, not nan"),
    ],
)
def test_keys_refused(edges, kind, message):
    with pytest.raises(ValueError, match=message):
        edge_keys(edges, kind)
