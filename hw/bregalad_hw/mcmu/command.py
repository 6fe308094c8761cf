"""A command's first 16 bytes in hardware."""

from amaranth import unsigned
from amaranth.lib import data
from bregalad.geometry import NONE
from bregalad.protocol.commands import COMMAND_BYTES, COMMANDS, Opcode

from ..layout import struct

__all__ = ["head_shape", "in_range", "view"]


def head_shape():
    """The bits of a command without its payload."""
    return unsigned(8 * COMMAND_BYTES)


def view(head, opcode):
    """The head as the command of that opcode has it."""
    return data.View(struct(COMMANDS[opcode]), head)


def in_range(head, geometry):
    """Whether the opcode is known, and every slot and cell exists that the command names."""
    g = geometry
    opcode = view(head, Opcode.TRIAL).opcode
    fine = 0
    for known, layout in COMMANDS.items():
        command = view(head, known)
        ok = opcode == known
        for field in layout.fields:
            if field.name in ("slot", "parent", "link"):
                there = command[field.name] < g.slots
            elif field.name in ("cell", "current"):
                there = command[field.name] < g.max_cells
            else:
                continue
            if field.name not in ("slot", "parent"):
                there |= command[field.name] == NONE
            ok &= there
        fine |= ok
    return fine
