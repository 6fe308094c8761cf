"""Row layouts of what programs have in memory: NumPy's records and arrays, tables of Arrow's types."""

import numpy as np
import pyarrow as pa

from ..protocol.rows import Column, RowKind, RowLayout
from ..words import joined, listed, shown

_KINDS = {"u1": RowKind.U8, "u2": RowKind.U16, "i4": RowKind.I32, "f4": RowKind.F32}
_ALLOWED = joined(["uint8", "uint16", "int32", "float32"])


def row_layout(rows, *, codes=(), label=None, flags=None):
    """Where rows have their attributes, so that the board can read them in place.

    Parameters
    ----------
    rows : NumPy structured array or its dtype, two-dimensional NumPy array, Arrow schema or table
        A structured array's fields are attributes, in their order, where the dtype has them. A two-dimensional array's
        columns are, named by position; its rows may lie apart, but a row's values side by side. Arrow keeps columns,
        not rows: the layout is that of rows whose fields follow each other in the schema's order without gaps.
    codes : True or iterable
        Names (positions in an array) of uint8 attributes that are codes already; True: all of them. All else is
        numbers.
    label, flags : optional
        Name (position) of the uint8 field that is the class index, and of that with `RecordFlag`; no attributes then.

    Returns
    -------
    RowLayout

    Raises
    ------
    TypeError
        If ``rows`` is none of these, or a field is of another type than uint8, uint16, int32, float32 (little endian).
    ValueError
        If a name is unknown, fields make no layout, or an array's rows cannot be read in place.
    """
    fields, stride = _fields(rows)
    names = [name for name, _, _ in fields]
    all_codes = codes is True
    codes = [] if all_codes else list(codes)
    for what, name in (*(("codes", name) for name in codes), ("label", label), ("flags", flags)):
        if name is not None and name not in names:
            raise ValueError(f"{what}: there is no field {shown(name)}; there are {listed(names)}")
    heads, columns = {}, []
    for name, dtype, offset in fields:
        kind = _KINDS.get(dtype.str[1:]) if dtype.str[0] in "<|" and dtype.shape == () else None
        if kind is None:
            raise TypeError(f"field {shown(name)}: type must be {_ALLOWED}, little endian, not {dtype}")
        for what, given in (("label", label), ("flags", flags)):
            if name == given:
                heads[what] = offset
        bytes_only = name in (*codes, label, flags)
        if bytes_only and kind is not RowKind.U8:
            raise TypeError(f"field {shown(name)}: codes, label and flags are uint8, not {dtype}")
        if name not in (label, flags):
            code = kind is RowKind.U8 and (all_codes or name in codes)
            columns.append(Column(str(name), offset, RowKind.CODE if code else kind))
    return RowLayout(columns, stride, **heads)


def _fields(rows):
    """``(name, dtype, offset)`` of each field, and the stride."""
    if isinstance(rows, np.ndarray) and rows.dtype.names is None:
        return _of_array(rows)
    if isinstance(rows, np.ndarray):
        _check_in_place(rows.ndim == 1, rows.strides[0] if rows.ndim else 0, rows.itemsize, rows)
        return _of_dtype(rows.dtype, rows.strides[0])
    if isinstance(rows, np.dtype) and rows.names is not None:
        return _of_dtype(rows, rows.itemsize)
    schema = getattr(rows, "schema", rows)
    if isinstance(schema, pa.Schema):
        return _of_schema(schema)
    raise TypeError(
        "rows must be a NumPy structured array or dtype, a two-dimensional array, or an Arrow schema or table, "
        f"not {shown(rows)}"
    )


def _of_array(rows):
    size = rows.itemsize
    side_by_side = rows.ndim == 2 and (rows.shape[1] < 2 or rows.strides[1] == size)
    _check_in_place(side_by_side, rows.strides[0] if rows.ndim else 0, size * rows.shape[-1] if rows.ndim else 0, rows)
    return [(column, rows.dtype, column * size) for column in range(rows.shape[1])], rows.strides[0]


def _check_in_place(fits, stride, size, rows):
    if not fits or stride < size:
        raise ValueError(
            f"rows of an array of shape {rows.shape} and strides {rows.strides} cannot be read in place: "
            "give numpy.ascontiguousarray of it"
        )


def _of_dtype(dtype, stride):
    fields = []
    for name in dtype.names:
        kind, offset = dtype.fields[name][:2]
        if kind.subdtype is None:
            fields.append((name, kind, offset))
            continue
        base, shape = kind.subdtype  # a vector of attributes
        count = int(np.prod(shape))
        fields += [(f"{name}{i}", base, offset + i * base.itemsize) for i in range(count)]
    return fields, stride


def _of_schema(schema):
    fields, at = [], 0
    for field in schema:
        try:
            dtype = np.dtype(field.type.to_pandas_dtype())
        except (NotImplementedError, TypeError):
            dtype = np.dtype(object)
        fields.append((field.name, dtype, at))
        at += dtype.itemsize
    return fields, at
