"""What a board that walks records down the tree is asked and told, in compiled code, and all that answering it takes.

What decisions need, and what leaves have counted, is asked for (`ask`); what they have changed is told (`tell`).
"""

from collections import namedtuple

import numpy as np

from ...compiled import Proxy, Record, define_proxy, njit, register
from ...geometry import NONE
from ...protocol.commands import COMMANDS, Opcode
from ...protocol.leaf_rows import RowOp, RowWord
from ...protocol.nodes import EDIT, EditFlag
from ...protocol.reports import Kind, layout_of
from ...protocol.tree import TREE_COMMANDS, TreeOpcode
from ...protocol.words import putter, words_before
from ...tree.split import cells_of
from ...tree.table import LEAF, descendants
from .node_edits import UNTOLD, follow

__all__ = [
    "ADDRESS",
    "ALL",
    "BEFORE",
    "CELLS",
    "CELLS_IN",
    "CHOICE",
    "COUNT",
    "COUNTS",
    "DECIDING",
    "DELAY",
    "DONE",
    "EDITS",
    "ENDED",
    "ENTRIES",
    "ENTRIES_IN",
    "HELD",
    "INHERITED",
    "LEARNT",
    "LEAVES",
    "LEFT",
    "MAJORITY",
    "NODE",
    "NUMBER",
    "REVIEWING",
    "REVIEWS",
    "RIGHT",
    "ROWS",
    "ROWS_IN",
    "RUNS",
    "SCOPE",
    "SETTLED",
    "SIZE",
    "SLOT",
    "STATE",
    "STOOD",
    "STRIDE",
    "WAITING",
    "Answers",
    "answers",
    "ask",
    "keep",
    "mode_of",
    "sizes_of",
    "tell",
]

# Elements of `at`.
(
    BEFORE,  # instances that the tree had learnt before the last LEARN
    EDITS,  # EDITs sent since the TURN
    LEARNT,  # 1: the last LEARN has ended
    STOOD,  # EDITs executed when the stream stood, modulo 2^16; -1: it does not stand
    SLOT,  # what the report that comes next is of: slot
    NUMBER,  # and record
    WAITING,  # answers to `ask` that are to come
    DECIDING,  # the node that they are to decide about in compiled code, -1: none
    ROWS,  # words of leaf rows asked for,
    ROWS_IN,  # and come
    ENTRIES,
    ENTRIES_IN,
    CELLS,
    CELLS_IN,
    SCOPE,  # of `ask`
    ADDRESS,  # of the first row that no LEARN has named yet,
    LEFT,  # how many there are,
    STRIDE,  # and how many bytes from one to the next
    COUNT,  # rows of the LEARN under way, 0: there is none
    ENDED,  # 1: a LEARN has, and what is to follow has not been looked at
    DELAY,  # the policy's
    INHERITED,  # instances up to which decisions may take effect that the board knows nothing of
    SETTLED,  # decisions that take effect up to so many instances do so now, where that is more than are learnt
    REVIEWS,  # instances from review to review, 0: the driver sees to them
    REVIEWING,  # 1: answers to `ask` are for a review
    HELD,  # 1: the driver is at work, and nothing goes on
    STATE,  # RUNS, LEAVES or DONE
) = range(27)
SIZE = 27

# States: the board is to tell more; a decision is the driver's; all is done.
RUNS, LEAVES, DONE = range(3)

# Scopes of `ask`.
NODE = 0  # what a node predicts by, if it is a leaf
CHOICE = 1  # that, and the class counts of all leaves: which of them hold a slot depends on those
ALL = 2  # what all leaves predict by, and how many instances their slots have counted

_EDIT, _ROW, _READ_ROW, _READ = int(TreeOpcode.EDIT), int(TreeOpcode.ROW), int(RowOp.READ), int(Opcode.READ)
_KEEP, _STOP = int(EditFlag.KEEP), int(EditFlag.STOP)
_put_keep = putter(EDIT, "opcode", "flags", "node")
_put_row = putter(TREE_COMMANDS[TreeOpcode.ROW], "opcode", "flags", "node", "word")
_put_read = putter(COMMANDS[Opcode.READ], "opcode", "flags", "slot", "cell")

MAJORITY, RIGHT, COUNTS = int(RowWord.MAJORITY), int(RowWord.RIGHT), len(RowWord)


_Sizes = namedtuple("_Sizes", ["entry", "n", "class_counts", "statistics", "counts"])


def sizes_of(geometry):
    """Words of an ENTRY and of STATISTICS of a board, and those before their fields."""
    entry, statistics = (layout_of(kind, geometry, 0) for kind in (Kind.ENTRY, Kind.STATISTICS))
    before = (words_before(entry, "n"), words_before(entry, "class_counts"))
    return _Sizes(entry.size // 4, *before, statistics.size // 4, words_before(statistics, "counts"))


@register
class _AnswersType(Record):
    pass


class Answers(Proxy):
    """All that is needed to answer a board, as one argument.

    Parameters
    ----------
    table, matrices, room, blank : arrays of ``Nodes``
        With rows for another split.
    style : split.Style
    first_cell : int64 array (attributes,)
    stack, slot_node : arrays of ``SlotPool``
    kind : int64 array (cells,)
    form, options, classes
        As in ``judge_row``.
    decides, most : int
        As in ``follow``.
    sizes : named tuple of `sizes_of`
    first_node : int
        The board's row of the tree's root; those of its other nodes follow.
    told : int64 array (rows of the board for the tree, len(SEEN))
        As in ``follow``. Written.
    tally : int64 array
        ``Tally.counts``. Written.
    at : int64 array (SIZE,)
        How far all is. Written.
    branches : int
        Children that a split has at most.
    asked : int64 array (words of all leaf rows, 2)
        Leaf and word of each that is asked for. Written.
    held : int64 array (nodes,)
        Leaves whose entries are asked for. Written.
    own : int64 array (classes,)
        Class counts of the last entry. Written.
    bins : int64 array (cells of an attribute at most, bins, classes)
        Statistics of an attribute. Written.
    out : uint32 array
        Commands. Written.
    edits : int64 array (rows, EDIT)
        For those of a split, or of a review. Written.
    words : int64 array (form.size,)
        For a split attempt. Written.
    report : named tuple of ``trial_reports.report_of``
    step : int
        32-bit words of a command.
    """


_FIELDS = (
    "table",
    "matrices",
    "room",
    "blank",
    "style",
    "first_cell",
    "stack",
    "slot_node",
    "kind",
    "form",
    "options",
    "classes",
    "decides",
    "most",
    "sizes",
    "first_node",
    "told",
    "tally",
    "at",
    "branches",
    "asked",
    "held",
    "own",
    "bins",
    "out",
    "edits",
    "words",
    "report",
    "step",
)
define_proxy(Answers, _AnswersType, list(_FIELDS))


@njit()
def answers(*fields):
    """An `Answers`; its own constructor would be compiled by every process anew."""
    return Answers(*fields)


@njit()
def mode_of(answers):
    """Flags of all EDITs: locks stop all records where slots could run out, whatever is decided before that changes.

    Then which leaf loses its slot depends on what all have counted as the decision takes effect. What is free changes
    with decisions only, at whose EDITs the stream stands, and between two LEARNs: so the board knows in time.
    """
    free = answers.stack[0]
    return _STOP if free < (len(answers.stack) - 1 - free) * answers.branches else 0


@njit(inner=True)
def keep(answers, node, used):
    """Write a KEEP of a node; words of ``out`` with commands then."""
    step = answers.step
    answers.out[used : used + step] = 0
    _put_keep(answers.out, used, (_EDIT, _KEEP | mode_of(answers), answers.first_node + node))
    answers.at[EDITS] += 1
    return used + step


@njit()
def ask(answers, scope, node, whole, used):
    """Ask for what leaves have counted.

    Parameters
    ----------
    answers : Answers
    scope : int
        NODE, CHOICE or ALL.
    node : int
        The one that is decided about, if any is.
    whole : int
        1: its class counts in its slot, too, and the statistics of the attribute that its verdict names.
    used : int
        Words of ``out`` that have been written.

    Returns
    -------
    int
        Words of ``out`` with commands.
    """
    table, at, asked, held = answers.table, answers.at, answers.asked, answers.held
    classes, step = answers.matrices[0].shape[1], answers.step
    rows, entries, cells = 0, 0, 0
    if scope != NODE:
        for leaf in descendants(table, 0, answers.room[0]):
            if table[leaf]["kind"] != LEAF:
                continue
            if scope == ALL:
                rows = _want(asked, rows, leaf, 0)
                if table[leaf]["slot"] < 0:
                    table[leaf]["own"] = 0
                else:
                    held[entries] = leaf
                    entries += 1
            rows = _want(asked, rows, leaf, classes)
    if scope != ALL and table[node]["kind"] == LEAF:
        rows = _want(asked, rows, node, 0)
        if scope == NODE:
            rows = _want(asked, rows, node, classes)
    for i in range(rows):
        answers.out[used : used + step] = 0
        _put_row(answers.out, used, (_ROW, _READ_ROW, answers.first_node + asked[i, 0], asked[i, 1]))
        used += step
    for i in range(entries):
        used = _put_reading(answers.out, used, step, table[held[i]]["slot"], NONE)
    if whole:
        slot = table[node]["slot"]
        used = _put_reading(answers.out, used, step, slot, NONE)
        _, first, cells = cells_of(answers.first_cell, answers.form.attribute, table[node]["cell"])
        for cell in range(first, first + cells):
            used = _put_reading(answers.out, used, step, slot, cell)
    at[SCOPE], at[ROWS], at[ENTRIES], at[CELLS] = scope, rows, entries + whole, cells
    at[ROWS_IN] = at[ENTRIES_IN] = at[CELLS_IN] = 0
    at[WAITING] = at[ROWS] + at[ENTRIES] + at[CELLS]
    return used


@njit(inner=True)
def _want(asked, rows, leaf, classes):
    """Ask for the counts of so many classes of a leaf; of none: for what it predicts by beside."""
    count = classes if classes else 2
    asked[rows : rows + count, 0] = leaf
    for k in range(classes):
        asked[rows + k, 1] = COUNTS + k
    if not classes:
        asked[rows, 1], asked[rows + 1, 1] = MAJORITY, RIGHT
    return rows + count


@njit(inner=True)
def _put_reading(out, used, step, slot, cell):
    out[used : used + step] = 0
    _put_read(out, used, (_READ, 0, np.int64(slot), np.int64(cell)))
    return used + step


@njit(inner=True)
def _let_go(answers, used):
    """Keep the rows of nodes that went with the one above them, so that no lock of theirs is still to come."""
    told = answers.told
    gone = told[:, 0] != UNTOLD
    for node in descendants(answers.table, 0, answers.room[0]):
        gone[node] = False
    for node in range(len(told)):
        if gone[node]:
            used = keep(answers, node, used)
            told[node, 0] = UNTOLD
    return used


@njit()
def tell(answers, every, decided, used):
    """Have the board follow the tree: all of it, or the node that has been decided about and its children.

    Parameters
    ----------
    answers : Answers
    every : int
        0: only those.
    decided : int
        It is unlocked last. -1: none.
    used
        As in `ask`, which also says what is returned.
    """
    table = answers.table
    if answers.style.anytime is not None:
        used = _let_go(answers, used)
    if every:
        touched = descendants(table, 0, answers.room[0])
    else:
        first, width = np.int64(table[decided]["child"]), np.int64(table[decided]["width"])
        touched = np.empty(1 + width, np.int64)
        touched[0] = decided
        for branch in range(width):
            touched[1 + branch] = first + branch
    used, edits = follow(
        table,
        answers.matrices[0],
        answers.matrices[1],
        answers.style,
        answers.options,
        answers.first_cell,
        answers.decides,
        answers.classes,
        answers.most,
        answers.first_node,
        answers.told,
        touched,
        decided,
        mode_of(answers),
        answers.step,
        answers.out,
        used,
    )
    answers.at[EDITS] += edits
    return used
