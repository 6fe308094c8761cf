"""What a board that routes records down the tree is asked and told, in compiled code, and all that answering it takes.

What decisions need, and what leaves have counted, is asked for (`request`); what they have changed is told
(`report_changes`).
"""

from collections import namedtuple

import numpy as np

from ...compiled import Proxy, Record, define_proxy, njit, register
from ...geometry import NONE
from ...protocol.commands import COMMANDS, Opcode
from ...protocol.leaf_rows import RowOp, RowWord
from ...protocol.reports import Kind, layout_of
from ...protocol.tree import TREE_COMMANDS, TreeOpcode
from ...protocol.words import putter, words_before
from ...tree.split import cells_of
from ...tree.table import LEAF, descendants
from .node_edits import BESIDE, UNREPORTED, follow

# How far all is: the fields of the only row of `at`, integers.
AT = np.dtype(
    [
        (name, np.int64)
        for name in (
            "running",  # 1: a LEARN is under way
            "waits",  # 1: and waits for GO
            "ended",  # 1: a LEARN has ended, and what is to follow has not been looked at
            "slot",  # of the report that comes next
            "waiting",  # answers to `request` that are to come
            "batch",  # decisions whose statistics have been asked for since the board waits for GO
            "rows",  # words of leaf rows asked for,
            "rows_in",  # and come
            "entries",
            "entries_in",
            "cells",
            "cells_in",
            "scope",  # of `request`
            "address",  # of the first row that no LEARN has named yet,
            "left",  # how many there are,
            "stride",  # and how many bytes from one to the next
            "reviews",  # instances from review to review, 0: the driver sees to them
            "reviewing",  # 1: answers to `request` are for a review
            "at_work",  # 1: the driver is, and nothing goes on
            "state",  # RUNS, LEAVES or DONE
            "made",  # when decisions were made, at the latest, that take effect where GO is waited for
            "labels",  # 1: classes have been told whose errors nobody has looked at
        )
    ]
)

# States: the board is to tell more; a decision is the driver's; all is done.
RUNS, LEAVES, DONE = range(3)

# Scopes of `request`.
NODE = 0  # what a node predicts by, if it is a leaf
CHOICE = 1  # that, and the class counts of all leaves: which of them hold a slot depends on those
ALL = 2  # what all leaves predict by, and how many instances their slots have counted
WHOLE = -1  # in place of a node: all of them

_ROW, _READ_ROW, _READ = int(TreeOpcode.ROW), int(RowOp.READ), int(Opcode.READ)
_put_row = putter(TREE_COMMANDS[TreeOpcode.ROW], "opcode", "flags", "node", "word")
_PERIOD = int(TreeOpcode.PERIOD)
_put_period = putter(TREE_COMMANDS[TreeOpcode.PERIOD], "opcode", "flags", "slot", "period")
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
    """All that is needed to answer a board, as one argument; arrays are int64 unless it says else.

    Written are the tree, with rows for another split, and edits for one, or a review; ``reported`` (rows of the board
    for the tree, len(SEEN)), what the board has of each node; ``at``, structured (1,) of AT; ``requested`` (words of
    all leaf rows, 2), leaf and word of each that is asked for; ``held`` (nodes,), leaves whose entries are asked for;
    ``batch`` (decisions, 2), nodes that are decided about, and where in ``bins`` their statistics begin; ``observed``
    (decisions, classes), class counts of their entries; ``bins`` (decisions * cells of an attribute at most, bins,
    classes), statistics of their attributes; ``out``, uint32, commands; ``words`` (form.size,), for a split attempt;
    and ``event_counts``.

    ``kind`` (cells,), form, options and classes are as in ``decide_row``; ``decides`` is whether the decider carries
    the policy's rule, ``most`` the largest count of a slot, ``sizes`` as of `sizes_of`, ``first_node`` the board's row
    of the tree's root, which those of its other nodes follow, ``branches`` the most children of a split, ``report`` as
    of ``attempts.report_of``, ``step`` the 32-bit words of a command.
    """


_FIELDS = """
    tree kind form options classes decides most sizes first_node reported event_counts rule at branches requested held
    batch observed bins out words report step
"""
define_proxy(Answers, _AnswersType, _FIELDS.split())


@njit()
def answers(*fields):
    """An `Answers`; its own constructor would be compiled by every process anew."""
    return Answers(*fields)


@njit()
def request(answers, scope, node, whole, used):  # noqa: C901 (compiled)
    """Ask for what leaves have counted; words of ``out`` with commands, of which ``used`` have been written.

    The scope is NODE, CHOICE or ALL; ``node`` is the one that is decided about, if any is. With ``whole`` 1 it is all
    nodes of ``batch`` instead: their class counts in their slots, too, and the statistics of the attributes that their
    decisions name.
    """
    tree, at, requested, held, batch = answers.tree, answers.at[0], answers.requested, answers.held, answers.batch
    table, classes, step = tree.table, tree.matrices[0].shape[1], answers.step
    rows, entries, cells = 0, 0, 0
    decisions = at["batch"] if whole else 0
    if scope != NODE:
        for leaf in descendants(table, 0, tree.room[0]):
            if table[leaf]["kind"] != LEAF:
                continue
            if scope == ALL:
                rows = _want(requested, rows, leaf, 0)
                if table[leaf]["slot"] < 0:
                    table[leaf]["observed"] = 0
                else:
                    held[entries] = leaf
                    entries += 1
            rows = _want(requested, rows, leaf, classes)
    for i in range(decisions if whole else scope != ALL):
        leaf = batch[i, 0] if whole else np.int64(node)
        if table[leaf]["kind"] == LEAF:
            rows = _want(requested, rows, leaf, 0)
            if scope == NODE:
                rows = _want(requested, rows, leaf, classes)
    for i in range(rows):
        used = _put_row(
            answers.out, used, step, (_ROW, _READ_ROW, answers.first_node + requested[i, 0], requested[i, 1])
        )
    for i in range(entries):
        used = _put_reading(answers.out, used, step, table[held[i]]["slot"], NONE)
    for i in range(decisions):
        row = table[batch[i, 0]]
        batch[i, 1] = cells
        used = _put_reading(answers.out, used, step, row["slot"], NONE)
        _, first, count = cells_of(tree.first_cell, answers.form.attribute, row["cell"])
        for cell in range(first, first + count):
            used = _put_reading(answers.out, used, step, row["slot"], cell)
        cells += count
    at["scope"], at["rows"], at["entries"], at["cells"] = scope, rows, entries + decisions, cells
    at["rows_in"] = at["entries_in"] = at["cells_in"] = 0
    at["waiting"] = at["rows"] + at["entries"] + at["cells"]
    return used


@njit(inner=True)
def _want(requested, rows, leaf, classes):
    """Ask for the counts of so many classes of a leaf; of none: for what it predicts by beside."""
    count = classes if classes else 2
    requested[rows : rows + count, 0] = leaf
    for k in range(classes):
        requested[rows + k, 1] = COUNTS + k
    if not classes:
        requested[rows, 1], requested[rows + 1, 1] = MAJORITY, RIGHT
    return rows + count


@njit(inner=True)
def _put_reading(out, used, step, slot, cell):
    return _put_read(out, used, step, (_READ, 0, np.int64(slot), np.int64(cell)))


@njit()
def report_changes(answers, node, used):
    """Have the board follow the tree, of which a node and its children have changed; WHOLE: anything.

    ``used`` as in `request`, which also says what is returned.
    """
    table = answers.tree.table
    touched = descendants(table, 0, answers.tree.room[0])
    used = _let_go(answers, touched, used)
    if node != WHOLE:
        first, width = np.int64(table[node]["child"]), np.int64(table[node]["width"])
        touched = np.append(np.arange(first, first + width), node)
    return follow(answers, touched, used)


@njit(inner=True)
def _let_go(answers, live, used):
    """Forget nodes that went with the one above them; slots that were given up are due no more."""
    reported = answers.reported
    gone = np.ones(len(reported), np.bool_)
    gone[live] = False
    for node in range(len(reported)):
        slot = reported[node, BESIDE]
        if 0 <= slot < NONE and answers.tree.slot_node[slot] < 0:
            used = put_period(answers, slot, 0, used)
            reported[node, BESIDE] = NONE
        if gone[node]:
            reported[node, 0] = UNREPORTED
    return used


@njit(inner=True)
def put_period(answers, slot, period, used):
    """Write a PERIOD; words of ``out`` with commands then."""
    return _put_period(answers.out, used, answers.step, (_PERIOD, 0, slot, period))
