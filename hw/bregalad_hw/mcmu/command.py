"""A command's first 16 bytes in hardware."""

from amaranth.lib import data
from bregalad.geometry import NONE
from bregalad.protocol.commands import COMMAND_BYTES, COMMANDS, Opcode, references
from bregalad.protocol.tree import TREE_COMMANDS

from ..layout import struct

HEAD_BITS = 8 * COMMAND_BYTES  # of a command without its payload


def view(head, opcode):
    """The head as the command of that opcode has it."""
    return data.View(struct((COMMANDS | TREE_COMMANDS)[opcode]), head)


def in_range(head, geometry):
    """Whether the opcode is known, and every slot and cell exists that the command names."""
    g = geometry
    opcode = view(head, Opcode.ATTEMPT).opcode
    fine = 0
    for known in COMMANDS:
        command = view(head, known)
        ok = opcode == known
        for name, kind, optional in references(known):
            there = command[name] < (g.slots if kind == "slot" else g.max_cells)
            if optional:
                there |= command[name] == NONE
            ok &= there
        fine |= ok
    return fine


def execute(m, is_, table):
    """Do what a table has for an opcode: go to a state, or call a function that adds to the module.

    The last entry stands for every other opcode too: those that reach this place are in the table.

    Parameters
    ----------
    m : Module
    is_ : dict of Value
        By opcode, whether it is the command's.
    table : dict of str or function
        By opcode.
    """

    def begin(to):
        if isinstance(to, str):
            m.next = to
        else:
            to()

    *others, (_, last) = table.items()
    for number, (known, to) in enumerate(others):
        with m.If(is_[known]) if not number else m.Elif(is_[known]):
            begin(to)
    with m.Else():
        begin(last)
