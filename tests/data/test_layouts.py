"""Row layouts of NumPy's and Arrow's types, and keys of edges."""

import numpy as np
import pyarrow as pa
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


def test_a_structured_arrays_vectors_and_steps():
    rows = np.zeros(6, [("label", "u1"), ("x", "<f4", 3)])[::2]
    layout = row_layout(rows, label="label")
    assert (layout.stride, layout.label) == (26, 0)
    assert places(layout) == [("x0", 1, RowKind.F32), ("x1", 5, RowKind.F32), ("x2", 9, RowKind.F32)]


def test_arrays():
    floats = np.zeros((5, 7), np.float32)
    layout = row_layout(floats[:, 1:4])
    assert layout.stride == 28 and places(layout)[2] == ("2", 8, RowKind.F32)
    layout = row_layout(np.zeros((5, 4), np.uint8), codes=True, label=0, flags=1)
    assert (layout.stride, layout.label, layout.flags) == (4, 0, 1)
    assert places(layout) == [("2", 2, RowKind.CODE), ("3", 3, RowKind.CODE)]


def test_arrow():
    schema = pa.schema([("x", pa.float32()), ("n", pa.uint16()), ("c", pa.uint8()), ("k", pa.uint8())])
    layout = row_layout(schema, codes=["c"], label="k")
    assert (layout.stride, layout.label) == (8, 7)
    assert places(layout) == [("x", 0, RowKind.F32), ("n", 4, RowKind.U16), ("c", 6, RowKind.CODE)]
    assert places(row_layout(pa.table({"x": pa.array([1.0], pa.float32())}))) == [("x", 0, RowKind.F32)]


FLOATS = np.zeros((5, 7), np.float32)


@pytest.mark.parametrize(
    "rows, options, error, message",
    [
        (FLOATS.astype(np.float64), {}, TypeError, "field 0: type must be uint8, uint16, int32 or float32, .*float64"),
        (FLOATS.astype(">f4"), {}, TypeError, "field 0: type must be .* little endian, not >f4"),
        (np.dtype([("x", "<f4"), ("s", "S4")]), {}, TypeError, r"field 's': type must be .*, not \|S4"),
        (pa.schema([("x", pa.string())]), {}, TypeError, "field 'x': type must be .*, not object"),
        (pa.schema([("x", pa.list_(pa.float32()))]), {}, TypeError, "field 'x': type must be"),
        (FLOATS, {"label": 3}, TypeError, "field 3: codes, label and flags are uint8, not float32"),
        (FLOATS, {"codes": [7]}, ValueError, "codes: there is no field 7; there are 0, 1, 2, 3, 4, 5, 6"),
        (FLOATS, {"label": "class"}, ValueError, "label: there is no field 'class'"),
        (FLOATS.T, {}, ValueError, r"shape \(7, 5\) and strides \(4, 28\) cannot be read in place"),
        (FLOATS[::-1], {}, ValueError, "cannot be read in place"),
        (FLOATS[0], {}, ValueError, "cannot be read in place"),
        (np.array(1.0), {}, ValueError, "cannot be read in place"),
        (np.zeros((2, 0), np.uint8), {}, ValueError, "a row layout needs at least one attribute"),
        (np.zeros((2, 2), [("x", "<f4")]), {}, ValueError, "cannot be read in place"),
        (np.zeros((2, 20000), np.float32), {}, ValueError, "stride must be 1 to 65535 bytes, not 80000"),
        ([1, 2], {}, TypeError, "rows must be a NumPy structured array"),
        (np.dtype("f4"), {}, TypeError, "rows must be a NumPy structured array"),
    ],
)
def test_refused(rows, options, error, message):
    with pytest.raises(error, match=message):
        row_layout(rows, **options)


def test_keys_at_the_ends():
    """Edges beyond what a type holds: below all, a key that nothing is below; above all, none."""
    assert edge_keys([-1e300, -1e-300, 0.0, 1e-300, 1e300], RowKind.F32).tolist() == [
        0x00800000,
        0x7FFFFFFF,
        0x7FFFFFFF,
        0x80000001,
        0xFF800000,
    ]
    assert edge_keys([-(2.0**40), -(2.0**31), 0.5, 2.0**31 - 1, 2.0**31], RowKind.I32).tolist() == [
        0,
        0,
        0x80000001,
        0xFFFFFFFF,
    ]
    assert edge_keys([-0.5, 254.5, 255.5], RowKind.U8).tolist() == [0, 255]
    assert edge_keys([], RowKind.U16).tolist() == []


@pytest.mark.parametrize(
    "edges, kind, message", [([1.0], RowKind.CODE, "a code is taken as it is"), ([np.inf], RowKind.F32, "not inf")]
)
def test_keys_refused(edges, kind, message):
    with pytest.raises(ValueError, match=message):
        edge_keys(edges, kind)


def test_no_key_for_what_is_no_number():
    with pytest.raises(ValueError, match="must be finite, not nan"):
        edge_keys([0.0, np.nan], RowKind.F32)


def test_names_are_kept():
    assert row_layout(np.dtype([("a b", "<f4")])).columns == (Column("a b", 0, RowKind.F32),)
