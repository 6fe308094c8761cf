"""What a register is, and a field of one."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from ..geometry import Geometry


class Access(Enum):
    """Who writes a field."""

    RO = "ro"  # gateware drives, host reads
    RW = "rw"  # host writes, both read
    PULSE = "pulse"  # host writes 1, gateware sees one cycle, reads 0


@dataclass(frozen=True)
class Field:
    """Bits of a register.

    `limits` gives the least and the most that a board of a geometry takes; None: whatever fits the bits.
    """

    name: str
    width: int
    access: Access
    doc: str
    reset: int = 0
    limits: Callable[[Geometry], tuple[int, int]] | None = None

    def range(self, geometry):
        """The least and the most that a board takes."""
        return self.limits(geometry) if self.limits else (0, (1 << self.width) - 1)


class Register:
    """32 bits at a byte address, a multiple of 4; fields take no more than that."""

    def __init__(self, name: str, addr: int, *fields: Field):
        self.name, self.addr, self.fields = name, addr, fields

    def layout(self):
        """Yield ``(field, lsb)`` from bit 0 upwards, packed without gaps."""
        lsb = 0
        for field in self.fields:
            yield field, lsb
            lsb += field.width

    def values(self, word):
        """What a word of it says: field's name to value."""
        return {field.name: word >> lsb & (1 << field.width) - 1 for field, lsb in self.layout()}

    def taken(self, value, geometry):
        """What a board takes of a word that is written, see `registers`: field to value, of all that can be written."""
        values = self.values(value)
        given = [
            (field, values[field.name], *field.range(geometry))
            for field in self.fields
            if field.access is not Access.RO
        ]
        fits = all(least <= bits <= most for _, bits, least, most in given)
        return {
            field.name: bits * fits if field.access is Access.PULSE else min(max(bits, least), most)
            for field, bits, least, most in given
        }


def finder(registers):
    """A function that gives the one of these registers that has a name."""
    known = {register.name: register for register in registers}

    def find(name):
        """The register of a name; KeyError if there is none."""
        if name not in known:
            raise KeyError(f"no register {name!r}; there are {', '.join(known)}")
        return known[name]

    return find
