"""Amaranth layouts of the declarations in ``host/bregalad/protocol``."""

from amaranth import C, Cat, signed, unsigned
from amaranth.lib import data


def struct(layout):
    """The Amaranth ``StructLayout`` of a declared ``Layout``, bit for bit its bytes."""
    members = {}
    for field in layout.fields:
        shape = signed(field.width) if field.signed else unsigned(field.width)
        members[field.name] = shape if field.count is None else data.ArrayLayout(shape, field.count)
    return data.StructLayout(members)


def words_of(layout, **values):
    """An item of a declared ``Layout`` in 32-bit words: a list of values of 32 bits.

    Parameters
    ----------
    layout : Layout
        Without arrays, of whole words.
    **values
        Of fields; those not named are 0.

    Raises
    ------
    ValueError
        If a field named is none of the layout's.
    """
    if unknown := values.keys() - {field.name for field in layout.fields}:
        raise ValueError(f"{layout.name} has no field {', '.join(sorted(unknown))}")
    bits = Cat((C(0, field.width) | values.get(field.name, 0))[: field.width] for field in layout.fields)
    return [bits[at : at + 32] for at in range(0, layout.bits, 32)]
