"""Flat ports of Amaranth layouts to Python values and back."""

import enum

from amaranth.hdl import Shape
from amaranth.lib import data
from bregalad.geometry import NONE


def _fields(layout):
    if not hasattr(layout, "_bregalad_fields"):
        layout._bregalad_fields = [(key, field.offset, field.width, field.shape) for key, field in layout]
    return layout._bregalad_fields


def pack(layout, values):
    """The integer of a struct's dict, an array's sequence or a number."""
    if not isinstance(layout, data.Layout):
        number = values.value if isinstance(values, enum.Enum) else int(values)
        return number & (1 << Shape.cast(layout).width) - 1
    bits = 0
    keyed = values if isinstance(values, dict) else dict(enumerate(values))
    for key, offset, _, shape in _fields(layout):
        if key in keyed:
            bits |= pack(shape, keyed[key]) << offset
    return bits


def unpack(layout, bits):
    """A dict of a struct's integer, a list of an array's, a number of anything else."""
    if not isinstance(layout, data.Layout):
        shape = Shape.cast(layout)
        negative = shape.signed and bits >> shape.width - 1 & 1
        return bits - (1 << shape.width if negative else 0)
    values = {key: unpack(shape, bits >> offset & (1 << width) - 1) for key, offset, width, shape in _fields(layout)}
    return list(values.values()) if isinstance(layout, data.ArrayLayout) else values


def candidate_fields(candidate):
    """The golden model's candidate as the fields of ``candidate_layout``."""
    if candidate is None or not candidate.valid:
        return {"cell": NONE, "valid": 0, "value": 0, "gain": 0}
    return {"cell": candidate.cell, "valid": 1, "value": candidate.value, "gain": candidate.gain}


def attempt_fields(geometry, candidates, tops):
    """What `Merge` gives of an attempt: all candidates, and the summary of the best, second and current one."""
    summary = dict(zip(("best", "second", "current"), map(candidate_fields, tops), strict=True))
    left = tops[0].left or [0] * geometry.classes
    return [candidate_fields(candidate) for candidate in candidates], {**summary, "left": left}


def words_of(data, size):
    """The words of so many bytes that some bytes are; the last may be short."""
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]
