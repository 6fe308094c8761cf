"""Amaranth layouts of the declarations in ``host/bregalad/protocol``."""

from amaranth import signed, unsigned
from amaranth.lib import data

__all__ = ["struct"]


def struct(layout):
    """The Amaranth ``StructLayout`` of a declared ``Layout``, bit for bit its bytes."""
    members = {}
    for field in layout.fields:
        shape = signed(field.width) if field.signed else unsigned(field.width)
        members[field.name] = shape if field.count is None else data.ArrayLayout(shape, field.count)
    return data.StructLayout(members)
