"""Trees on the board: commands and reports of boards that walk records down a tree themselves.

Such a board has `Geometry.nodes` rows of a node table. LEARN fetches rows from memory, of the layout that LAYOUT has
declared. Records are numbered from 1, those with TEST or MINUS not. They are learnt block by block: within a block the
tree stays as it is, and at its end, when its last numbered record has been counted,

1. the board waits for GO if anything was proposed at the end before, or with ``block.waits``: BLOCK is reported, and
   until GO all commands but LEARN, LAYOUT, EDGES, TURN and FENCE are executed; these five would wait for ever, and are
   refused;
2. the slots that are due are tried, each by its counts as of now. An attempt that the decider does not keep is told by
   a SPLIT_CANDIDATE and the TOP_CANDIDATES or GAINS after it;
3. with ``block.at_once`` the board waits for GO if anything was proposed now, and with ``block.waits`` here, not in 1;
4. the next block begins, of the length that TURN or GO has said last.

A slot is due when it has counted as many records as its period says; an inner one also with a record on its path whose
number, below 2^32, is a multiple of ``every``.

A record comes to a leaf, and then down each alternate that it meets (FORK), `Geometry.alternates` at most, to another.
All of these count it and have a prediction. That of the first is the record's, which alone has a number; those of the
others are told where every record's is, but counted nowhere.

While a LEARN is under way and does not wait for GO, all commands but LOAD wait. What a LOAD writes then must be no row
of that LEARN; where the LEARN ends with an error, the LOAD may be executed or dropped.

Several trees may share a board, each with nodes and slots of its own, and take turns between two LEARNs: LEARN names
the root, and TURN says where in its stream and block the tree is.
"""

from enum import IntEnum

from ..complete import complete
from ..geometry import NONE
from .commands import padded
from .decider import DECIDER
from .fields import Access, Register
from .fields import Field as Bits
from .layout import Field, Layout
from .leaf_rows import LEAF_ROWS
from .nodes import EDIT
from .rows import ROW_COMMAND

MANY = 0xFFFE  # in place of a class: more than one
DUE = 16  # due slots that are tried in the order in which they became so; if there are more, all are, by their numbers


class TreeOpcode(IntEnum):
    """First byte of a command that only boards with a node table know."""

    EDIT = 9  # write a node's row
    NODE = 10  # say what a slot's node has beside the slot's counts; PLACE and CLEAR set it to: node 0, nothing
    ROW = 11  # do something with a leaf row or the counters of predictions
    LAYOUT = 12  # from now on rows have this layout; steps follow
    EDGES = 13  # an attribute's edges follow
    PERIOD = 14  # set a slot's period alone
    TURN = 16  # it is a tree's turn: where it is in its stream
    GO = 17  # what has been proposed is answered: go on with the block's end


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
            Field("inherited", 32, "How many they are."),
            Field("all_up_to", 32, "The decider's: instances in the slot up to which all attempts are candidates."),
        ),
        TreeOpcode.ROW: Layout(
            "row",
            Field("opcode", 8),
            Field("flags", 8, "RowOp: READ, WRITE or MARK."),
            Field("node", 16, "READ, WRITE: the row."),
            Field("word", 16, "READ, WRITE: the word."),
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
            Field("period", 16, "Instances between attempts of this slot, 0: the role's register."),
            Field("reserved", 16, count=5),
        ),
        TreeOpcode.TURN: Layout(
            "turn",
            Field("opcode", 8),
            Field("flags", 8, "1: the next block's end waits for GO. 0: not for what was proposed before."),
            Field("length", 16, "Of the blocks after this one, less 1."),
            Field("number", 32, "The last record's: the next one's is one more."),
            Field("since", 16, "Numbered records of this block that have been learnt."),
            Field("left", 16, "Those that are to come, less 1."),
            Field("first", 16, "The tree's first slot."),
            Field("slots", 16, "How many it has."),
        ),
        TreeOpcode.GO: Layout(
            "go",
            *_HEAD,
            Field("length", 16, "Of the blocks from the next one on, less 1."),
            Field("rest", 32, count=3),
        ),
    },
    __file__,
)


class TreeKind(IntEnum):
    """First byte of a report that only boards with a node table give."""

    SPLIT_CANDIDATE = 9  # the attempt that is reported next may change the tree
    BLOCK = 10  # a block has ended, and the board waits for GO
    LEARNT = 11  # a LEARN has ended: all its records are counted, all their attempts reported
    LABEL = 12  # a record's class, predicted before the record was learnt
    MARK = 13  # instances and hits since the last mark
    ROW = 14  # answer to READ of a row


_NUMBER = Layout(
    "number",
    Field("kind", 8),
    Field("flags", 8, "0."),
    Field("slot", 16, "SPLIT_CANDIDATE: the slot."),
    Field("number", 32, "Of the last numbered record."),
)

TREE_REPORTS = complete(
    TreeKind,
    {
        TreeKind.SPLIT_CANDIDATE: _NUMBER,
        TreeKind.BLOCK: _NUMBER,
        TreeKind.LEARNT: Layout(
            "learnt",
            Field("kind", 8),
            Field("flags", 8, "0."),
            Field("since", 16, "As in TURN; a block that has ended with the last record is over."),
            Field("number", 32, "Of the last numbered record."),
            Field("left", 16, "As in TURN."),
            Field("reserved", 16),
        ),
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
    Register(
        "block",
        0x114,
        Bits("at_once", 1, Access.RW, "1: the next block waits for what is proposed at the end before it."),
        Bits(
            "waits",
            1,
            Access.RW,
            "1: each block's end waits for GO; boards with alternates only.",
            limits=lambda geometry: (0, int(geometry.alternates > 0)),
        ),
    ),
    Register(
        "every",
        0x11C,
        Bits("records", 24, Access.RW, "All inner slots of a record whose number is a multiple are due; 0: none."),
    ),
)

TREE_REGISTERS = (*DECIDER, *LEAF_ROWS, *TREE)


def mixed(only, counts):
    """Whether a node's instances have several classes: what NODE says of those of the split above, and the slot's."""
    return only == MANY or sum(bool(count) for index, count in enumerate(counts) if index != only) > (only == NONE)


def pack_tree(geometry, opcode, *, payload=b"", **values):
    """Bytes of one command, padded to bus words, its payload after it."""
    head = TREE_COMMANDS[opcode].pack(opcode=opcode, **values)
    return padded(head, geometry.bus_bytes) + padded(bytes(payload), geometry.bus_bytes)
