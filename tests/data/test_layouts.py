"""Row layouts of structured arrays, and keys of edges."""

import numpy as np
import pytest
from bregalad.data.keys import edge_keys
from bregalad.data.layouts import row_layout
from bregalad.protocol.rows import Column, RowKind


def places(layout):
    return [(column.name, column.offset, column.kind) for column in layout.columns]


def test_structured():
    """As a C compiler lays them out; `tests/protocol/test_rows.py` has what the golden model reads of a layout."""
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


def test_keys_refused():
    with pytest.raises(ValueError, match="a code is taken as it is"):
        edge_keys([1.0], RowKind.CODE)
    for value in (np.inf, np.nan):
        with pytest.raises(ValueError, match=f"must be finite, not {value}"):
            edge_keys([0.0, value], RowKind.F32)
