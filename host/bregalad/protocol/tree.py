"""Trees on the board: commands and reports of boards that walk records down a tree themselves.

Such a board has `Geometry.nodes` rows of a node table. LEARN fetches rows from memory, of the layout that LAYOUT has
declared. While it is under way, all commands but LEARN, LAYOUT, EDGES, TURN, FENCE and LOAD are executed between two
records, when all before are counted; these six wait until it has ended. A trial that the judge does not keep is told by
a PROPOSAL and the SUGGESTION or GAINS after it. `delay` records later the node is locked: the stream stands before the
next record that reaches it, and STANDS is reported, until an EDIT of the node, or a KEEP, unlocks it. After an EDIT
with STOP it stands at once, before any numbered record: what a decision takes from other nodes is as of then. One of
the six that comes while the stream stands, or after an EDIT with MORE, would wait for ever: it is refused with an
ERROR.

Records are numbered from 1, those with TEST or MINUS not; they pass locks. Several trees may share a board, each with
nodes and slots of its own, and take turns: LEARN names the root, and TURN says how many records the tree has learnt,
for delays and periods count those. Decisions that are still to take effect are the host's to remember meanwhile.
"""

from enum import IntEnum

from ..complete import complete
from ..geometry import NONE
from .commands import padded
from .fields import Access, Register
from .fields import Field as Bits
from .judge import JUDGE
from .layout import Field, Layout
from .leaf_rows import LEAF_ROWS
from .nodes import EDIT
from .rows import ROW_COMMAND

__all__ = [
    "MANY",
    "TREE",
    "TREE_REGISTERS",
    "TREE_COMMANDS",
    "TREE_REPORTS",
    "TreeKind",
    "TreeOpcode",
    "mixed",
    "pack_tree",
]

MANY = 0xFFFE  # in place of a class: more than one


class TreeOpcode(IntEnum):
    """First byte of a command that only boards with a node table know."""

    EDIT = 9  # write a node's row, or keep it; its lock goes
    NODE = 10  # say what a slot's node has beside the slot's counts; PLACE and CLEAR set it to: node 0, nothing
    ROW = 11  # do something with a leaf row or the counters of predictions
    LAYOUT = 12  # from now on rows have this layout; steps follow
    EDGES = 13  # an attribute's edges follow
    PERIOD = 14  # set a slot's period alone
    TURN = 16  # it is a tree's turn: how many records it has learnt; no lock is to come


_HEAD = (Field("opcode", 8), Field("flags", 8, "0."))

TREE_COMMANDS = complete(
    TreeOpcode,
    {
        TreeOpcode.EDIT: EDIT,
        TreeOpcode.NODE: Layout(
            "node",
            *_HEAD,
            Field("slot", 16, "The slot."),
            Field("node", 16, "The node that counts there."),
            Field("only", 16, "The class that all instances have which the split above gave the node; NONE, MANY."),
            Field("base", 32, "How many they are."),
            Field("ask_up_to", 32, "The judge's: instances in the slot up to which all trials are proposals."),
        ),
        TreeOpcode.ROW: Layout(
            "row",
            Field("opcode", 8),
            Field("flags", 8, "RowOp: READ, WRITE, MARK or TALLY."),
            Field("node", 16, "READ, WRITE: the row. TALLY: the label."),
            Field("word", 16, "READ, WRITE: the word. TALLY: the class predicted."),
            Field("reserved", 16),
            Field("value", 32, "WRITE."),
            Field("rest", 32),
        ),
        TreeOpcode.LAYOUT: ROW_COMMAND,
        TreeOpcode.EDGES: ROW_COMMAND,
        TreeOpcode.PERIOD: Layout(
            "period",
            *_HEAD,
            Field("slot", 16),
            Field("period", 16, "Instances between trials of this slot, 0: the role's register."),
            Field("reserved", 16, count=5),
        ),
        TreeOpcode.TURN: Layout(
            "turn",
            Field("opcode", 8),
            Field("flags", 8, "STOP or nothing, as of an EDIT."),
            Field("reserved", 16),
            Field("number", 32, "The last record's: the next one's is one more. EDITs are counted from 0 on."),
            Field("rest", 32, count=2),
        ),
    },
    __file__,
)


class TreeKind(IntEnum):
    """First byte of a report that only boards with a node table give."""

    PROPOSAL = 9  # the trial that is reported next may change the tree
    STANDS = 10  # the next record has reached a locked node
    LEARNT = 11  # a LEARN has ended: all its records are counted, all their trials reported
    LABEL = 12  # a record's class, predicted before the record was learnt
    MARK = 13  # instances and hits since the last mark
    ROW = 14  # answer to READ of a row and to TALLY


_NUMBER = Layout(
    "number",
    Field("kind", 8),
    Field("flags", 8, "0."),
    Field(
        "slot",
        16,
        "PROPOSAL: the slot. Else EDITs executed since the TURN, modulo 2^16: if more have been sent, STANDS is old.",
    ),
    Field("number", 32, "Records learnt up to then; of PROPOSAL up to the one that made the trial due."),
)

TREE_REPORTS = complete(
    TreeKind,
    {
        TreeKind.PROPOSAL: _NUMBER,
        TreeKind.STANDS: _NUMBER,
        TreeKind.LEARNT: _NUMBER,
        TreeKind.LABEL: Layout("label", Field("kind", 8), Field("label", 8), Field("node", 16, "The leaf.")),
        TreeKind.MARK: Layout(
            "mark",
            Field("kind", 8),
            Field("reserved", 8),
            Field("rest", 16),
            Field("instances", 32),
            Field("hits", 32, "Those whose class was predicted."),
        ),
        TreeKind.ROW: Layout(
            "row", Field("kind", 8), Field("reserved", 8), Field("node", 16, "Of READ."), Field("value", 32)
        ),
    },
    __file__,
)

TREE = (
    Register("delay", 0x114, (Bits("records", 31, Access.RW, "From a trial to its effect; no other trial before."),)),
    Register(
        "every",
        0x11C,
        (Bits("records", 24, Access.RW, "All inner slots of a record whose number is a multiple are tried; 0: none."),),
    ),
)

TREE_REGISTERS = (*JUDGE, *LEAF_ROWS, *TREE)


def mixed(only, counts):
    """Whether a node's instances have several classes: what NODE says of those of the split above, and the slot's."""
    return only == MANY or sum(bool(count) for index, count in enumerate(counts) if index != only) > (only == NONE)


def pack_tree(geometry, opcode, *, payload=b"", **values):
    """Bytes of one command, padded to bus words, its payload after it."""
    head = TREE_COMMANDS[opcode].pack(opcode=opcode, **values)
    return padded(head, geometry.bus_bytes) + padded(bytes(payload), geometry.bus_bytes)
