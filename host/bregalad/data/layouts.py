"""Row layouts of NumPy's structured arrays."""

import numpy as np

from ..protocol.rows import Column, RowKind, RowLayout
from ..words import joined, listed, shown

_KINDS = {"u1": RowKind.U8, "u2": RowKind.U16, "i4": RowKind.I32, "f4": RowKind.F32}
_ALLOWED = joined(["uint8", "uint16", "int32", "float32"])


def row_layout(rows, *, codes=(), label=None, flags=None):
    """Where rows have their attributes, so that the board can read them in place.

    Parameters
    ----------
    rows : NumPy structured array or its dtype
        Its fields are attributes, in their order, where the dtype has them; rows follow each other.
    codes : iterable of str
        uint8 attributes that are codes already. All else is numbers.
    label, flags : str, optional
        The uint8 field that is the class index, and that with `RecordFlag`; no attributes then.

    Returns
    -------
    RowLayout

    Raises
    ------
    TypeError
        If ``rows`` is neither, or a field is of another type than uint8, uint16, int32, float32 (little endian).
    ValueError
        If a name is unknown, or fields make no layout.
    """
    dtype = getattr(rows, "dtype", rows)
    if not isinstance(dtype, np.dtype) or dtype.names is None:
        raise TypeError(f"rows must be a NumPy structured array or dtype, not {shown(rows)}")
    codes = list(codes)
    for what, name in (*(("codes", name) for name in codes), ("label", label), ("flags", flags)):
        if name is not None and name not in dtype.names:
            raise ValueError(f"{what}: there is no field {shown(name)}; there are {listed(dtype.names)}")
    columns = []
    for name in dtype.names:
        field, offset = dtype.fields[name][:2]
        kind = _KINDS.get(field.str[1:]) if field.str[0] in "<|" and field.shape == () else None
        if kind is None:
            raise TypeError(f"field {shown(name)}: type must be {_ALLOWED}, little endian, not {field}")
        if name in (*codes, label, flags) and kind is not RowKind.U8:
            raise TypeError(f"field {shown(name)}: codes, label and flags are uint8, not {field}")
        if name not in (label, flags):
            columns.append(Column(name, offset, RowKind.CODE if name in codes else kind))
    heads = {what: dtype.fields[name][1] for what, name in (("label", label), ("flags", flags)) if name is not None}
    return RowLayout(columns, dtype.itemsize, **heads)
