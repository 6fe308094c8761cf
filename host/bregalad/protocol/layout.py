"""Byte layouts, declared once: numpy dtypes here, Amaranth layouts in ``hw/bregalad_hw/layout.py``."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Field:
    """A little-endian integer, or an array of ``count`` of them."""

    name: str
    width: int  # bits: 8, 16, 32 or 64
    doc: str = ""
    signed: bool = False
    count: int | None = None

    @property
    def bits(self):
        """Bits of the whole field."""
        return self.width * (1 if self.count is None else self.count)

    @property
    def kind(self):
        """NumPy's name of the integer."""
        return f"<{'i' if self.signed else 'u'}{self.width // 8}"


class Layout:
    """Fields packed without gaps, the first at the lowest address (and in the lowest bits)."""

    def __init__(self, name, *fields):
        self.name = name
        self.fields = fields

    @property
    def bits(self):
        """Bits of the whole layout."""
        return sum(field.bits for field in self.fields)

    @cached_property
    def size(self):
        """Bytes of the whole layout."""
        return self.bits // 8

    @cached_property
    def dtype(self):
        """The numpy structured dtype."""
        return np.dtype(
            [(field.name, field.kind, () if field.count is None else (field.count,)) for field in self.fields]
        )

    def pack(self, **values):
        """Bytes of one item; fields not named are 0."""
        item = np.zeros((), self.dtype)
        for name, value in values.items():
            item[name] = value
        return item.tobytes()

    def unpack(self, data):
        """The numpy record that ``data`` begins with."""
        return np.frombuffer(data[: self.size], self.dtype)[0]

    def offset(self, name):
        """Byte offset of a field."""
        return self.dtype.fields[name][1]
