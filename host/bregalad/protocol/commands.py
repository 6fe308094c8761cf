"""Commands: what the board executes, in the order it is sent; others: `TreeOpcode`.

The command stream is a sequence of words of ``Geometry.bus_width`` bits. A command is 16 bytes
and begins at a word; a longer word is padded, a shorter one makes a command several words.
``LOAD`` is followed by what goes to memory, each byte at the place in its word that it has there;
``WRITE``, for `cell` NONE, by what ENTRY has from `n` on, else by what STATISTICS has from `counts` on.
A link or current of a slot or cell that there is not is NONE.
What follows also begins at a word and is padded with zeros to the next one.
"""

from enum import IntEnum, IntFlag

from ..complete import complete
from ..geometry import NONE
from .layout import Field, Layout

COMMAND_BYTES = 16
PATH_LIMIT = 256  # nodes that one record updates at most, should links ever form a ring


class Opcode(IntEnum):
    """First byte of a command."""

    LEARN = 1  # learn rows that lie in memory, each at its leaf's slot and at those that links lead to
    ATTEMPT = 2  # refused: the board says when
    CLEAR = 3  # empty a slot: counts and entry 0, link and current NONE, bins over all codes
    PLACE = 4  # empty a slot, give its bins their bin window, its entry role, link, current and period
    READ = 5  # report counts (STATISTICS) or an entry (ENTRY), after all reports before
    WRITE = 6  # set what READ reports
    FENCE = 7  # report the token, after all reports before
    RESET = 8  # go on after an ERROR report; else nothing
    LOAD = 15  # write bytes to memory, all of which must be there; a later LEARN finds them


class CommandFlag(IntFlag):
    """Second byte of a command; a bit means something for the command named only."""

    MEMORY = 1  # LEARN: has to be set
    INNER = 2  # PLACE: the slot is an inner node's (its attempts follow inner_grace)
    KEEP = 4  # PLACE: set role, link, current and period alone, since to 0; or if a cell is named its bin window alone


class RecordFlag(IntFlag):
    """Flags of one instance record."""

    MINUS = 1  # forget the instance: weight -1
    TEST = 2  # predict the instance only: nothing is counted


_HEAD = (Field("opcode", 8), Field("flags", 8, "CommandFlag."))

COMMANDS = complete(
    Opcode,
    {
        Opcode.LEARN: Layout(
            "learn",
            *_HEAD,
            Field("root", 16, "The node that records begin at."),
            Field("count", 32, "Rows; 0 is allowed."),
            Field("address", 64, "Byte address of the first row, any alignment."),
        ),
        Opcode.ATTEMPT: Layout("attempt", *_HEAD, Field("slot", 16), Field("reserved", 32, count=3)),
        Opcode.CLEAR: Layout("clear", *_HEAD, Field("slot", 16), Field("reserved", 32, count=3)),
        Opcode.PLACE: Layout(
            "place",
            *_HEAD,
            Field("slot", 16, "The slot to set up."),
            Field("parent", 16, "Slot whose bin window is inherited; may be the slot itself."),
            Field("cell", 16, "Cell whose bin window is (lo, shift) instead, or NONE."),
            Field("lo", 8, "The first code of bin 0; lower ones count there, too."),
            Field("shift", 8, "A bin covers 2**shift codes, the last one all further codes; 0 to 7."),
            Field("link", 16, "Next slot on the path to the root, or NONE."),
            Field("current", 16, "First cell of the node's split attribute, or NONE."),
            Field("period", 16, "Instances between attempts of this slot, 0: the role's register."),
        ),
        Opcode.READ: Layout(
            "read",
            *_HEAD,
            Field("slot", 16),
            Field("cell", 16, "Cell whose bins are read, or NONE for the slot's own entry."),
            Field("reserved", 16, count=5),
        ),
        Opcode.WRITE: Layout(
            "write", *_HEAD, Field("slot", 16), Field("cell", 16, "As in READ."), Field("reserved", 16, count=5)
        ),
        Opcode.FENCE: Layout("fence", *_HEAD, Field("reserved", 16), Field("token", 32), Field("rest", 32, count=2)),
        Opcode.RESET: Layout("reset", *_HEAD, Field("reserved", 16), Field("rest", 32, count=3)),
        Opcode.LOAD: Layout(
            "load",
            *_HEAD,
            Field("reserved", 16),
            Field("count", 32, "Bytes."),
            Field("address", 64, "Of the first byte, any alignment."),
        ),
    },
    __file__,
)

# What follows: statistics; bytes for memory.
WITH_PAYLOAD = (Opcode.WRITE, Opcode.LOAD)

# Fields that name a slot or a cell, and whether NONE is allowed there.
_REFERENCES = {
    "slot": ("slot", False),
    "parent": ("slot", False),
    "link": ("slot", True),
    "cell": ("cell", True),
    "current": ("cell", True),
}


def references(opcode):
    """What a command names, for boards to check: ``(field, "slot" or "cell", NONE is allowed)`` of each field."""
    return [(field.name, *_REFERENCES[field.name]) for field in COMMANDS[opcode].fields if field.name in _REFERENCES]


def padded(data, word):
    """``data`` with zeros up to a multiple of ``word`` bytes."""
    return data + bytes(-len(data) % word)


def pack_load(geometry, address, data):
    """Bytes of a LOAD of ``data``, padded to bus words."""
    payload = bytes(address % geometry.bus_bytes) + bytes(data)
    return pack_command(geometry, Opcode.LOAD, count=len(data), address=address, payload=payload)


def pack_command(geometry, opcode, *, flags=0, payload=b"", **values):
    """Bytes of one command, padded to bus words, its payload after it."""
    if opcode is Opcode.PLACE:
        values = {"cell": NONE, "link": NONE, "current": NONE, **values}
    head = COMMANDS[opcode].pack(opcode=opcode, flags=flags, **values)
    return padded(head, geometry.bus_bytes) + padded(bytes(payload), geometry.bus_bytes)
