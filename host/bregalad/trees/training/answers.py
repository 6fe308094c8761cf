"""What becomes of the reports of a board that walks records down the tree, in compiled code.

A proposal is judged at once. Where the stream stands at a split, the board is asked for what the decision needs, and
when all of that has come the tree is changed and the board told: all in `take`, so that nothing but bytes goes to and
fro outside. What other decisions need, and what leaves have counted, the driver asks for (`ask`).
"""

from collections import namedtuple

import numpy as np
from numba.experimental import structref

from ...compiled import Record, njit
from ...geometry import NONE
from ...protocol.commands import COMMANDS, Opcode
from ...protocol.leaf_rows import RowOp, RowWord
from ...protocol.nodes import EDIT, EditFlag
from ...protocol.reports import HEADER, Kind, SuggestionFlag, layout_of
from ...protocol.tree import TREE_COMMANDS, TREE_REPORTS, TreeKind, TreeOpcode
from ...protocol.words import getter, putter, words_before
from ..policy.judge import KEEP, MAX_PERIOD, SPLIT, TIE, judge_row
from ..structure.contest import divide
from ..structure.nodes import LEAF, descendants
from ..structure.split import cells_of, sides_of
from .follow import UNTOLD, follow
from .tally import HALVINGS, REPLACED, SPLITS, TIES, TRIALS
from .trials import earliest

__all__ = [
    "ALL",
    "CHOICE",
    "DECIDING",
    "EDITS",
    "EDITS_DONE",
    "FIRST",
    "LEARNT",
    "NODE",
    "RECORDS_DONE",
    "SIZE",
    "STOOD",
    "WAITING",
    "Answers",
    "answers",
    "ask",
    "sizes_of",
    "take",
    "tell",
]

# Elements of `at`.
(
    FIRST,  # records that the board had learnt before the tree
    EDITS,  # EDITs sent
    LEARNT,  # 1: the LEARN under way has ended,
    RECORDS_DONE,  # when the board had learnt so many records
    EDITS_DONE,  # and executed so many EDITs
    STOOD,  # EDITs executed when the stream stood, modulo 2^16; -1: it does not stand
    _SLOT,  # what the report that comes next is of: slot
    _NUMBER,  # and record
    WAITING,  # answers to `ask` that are to come
    DECIDING,  # the node that they are to decide about in compiled code, -1: none
    _ROWS,  # words of leaf rows asked for,
    _ROWS_IN,  # and come
    _ENTRIES,
    _ENTRIES_IN,
    _CELLS,
    _CELLS_IN,
    _SCOPE,  # of `ask`
) = range(17)
SIZE = 17

# Scopes of `ask`.
NODE = 0  # what a node predicts by, if it is a leaf
CHOICE = 1  # that, and the class counts of all leaves: which of them hold a slot depends on those
ALL = 2  # what all leaves predict by, and how many instances their slots have counted

_SUGGESTION, _GAINS, _STATISTICS, _ENTRY = (int(Kind[name]) for name in ("SUGGESTION", "GAINS", "STATISTICS", "ENTRY"))
_PROPOSAL, _STANDS, _LEARNT, _ROW = (int(TreeKind[name]) for name in ("PROPOSAL", "STANDS", "LEARNT", "ROW"))
_HALVED = int(SuggestionFlag.HALVED)
_NUMBER_WORDS, _ROW_WORDS = (TREE_REPORTS[kind].size // 4 for kind in (TreeKind.PROPOSAL, TreeKind.ROW))
_kind_of, _flags_of = getter(HEADER, "kind"), getter(HEADER, "flags")
_slot_of, _number_of = (getter(TREE_REPORTS[TreeKind.PROPOSAL], name) for name in ("slot", "number"))
_word_of = getter(TREE_REPORTS[TreeKind.ROW], "value")

_EDIT, _PERIOD, _ASK_ROW = (int(TreeOpcode[name]) for name in ("EDIT", "PERIOD", "ROW"))
_KEEP_IT, _STOP = int(EditFlag.KEEP), int(EditFlag.STOP)
_READ_ROW, _READ = int(RowOp.READ), int(Opcode.READ)
_put_keep = putter(EDIT, "opcode", "flags", "node")
_put_period = putter(TREE_COMMANDS[TreeOpcode.PERIOD], "opcode", "flags", "slot", "period")
_put_row = putter(TREE_COMMANDS[TreeOpcode.ROW], "opcode", "flags", "node", "word")
_put_read = putter(COMMANDS[Opcode.READ], "opcode", "flags", "slot", "cell")

_MAJORITY, _RIGHT, _COUNTS = int(RowWord.MAJORITY), int(RowWord.RIGHT), len(RowWord)

_Sizes = namedtuple("_Sizes", ["entry", "n", "class_counts", "statistics", "counts"])


def sizes_of(geometry):
    """Words of an ENTRY and of STATISTICS of a board, and those before their fields."""
    entry, statistics = (layout_of(kind, geometry, 0) for kind in (Kind.ENTRY, Kind.STATISTICS))
    before = (words_before(entry, "n"), words_before(entry, "class_counts"))
    return _Sizes(entry.size // 4, *before, statistics.size // 4, words_before(statistics, "counts"))


@structref.register
class _AnswersType(Record):
    pass


class Answers(structref.StructRefProxy):
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
    told : int64 array (nodes of the board, len(SEEN))
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
    out_bytes : uint8 array
        The same memory.
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
    "told",
    "tally",
    "at",
    "branches",
    "asked",
    "held",
    "own",
    "bins",
    "out",
    "out_bytes",
)
structref.define_proxy(Answers, _AnswersType, list(_FIELDS))


@njit()
def answers(*fields):
    """An `Answers`; its own constructor would be compiled by every process anew."""
    return Answers(*fields)


@njit()
def take(answers, words, position, anytime):
    """Take in reports, and go on with what the stream stands at.

    Parameters
    ----------
    answers : Answers
        With rows for another split.
    words : uint32 array, read-only
        Whole reports.
    position : int
        Where the first one begins.
    anytime : int or None
        Of the style; None as an argument: what it leaves out is not compiled.

    Returns
    -------
    position, used : int
        Where the first one begins that is for somebody else, or the end; words of ``out`` with commands.
    """
    at, form, sizes = answers.at, answers.form, answers.sizes
    classes = answers.matrices[0].shape[1]
    trials = _SUGGESTION if form.all is None else _GAINS
    used = np.int64(0)
    while position < len(words):
        kind = _kind_of(words, position)
        if kind == _PROPOSAL:
            at[_SLOT], at[_NUMBER] = _slot_of(words, position), _number_of(words, position)
            position += _NUMBER_WORDS
        elif kind == trials:
            node = answers.slot_node[at[_SLOT]]
            if node < 0:
                break
            used = _judge(answers, words[position : position + form.size], node, used, answers.options.anytime)
            position += form.size
        elif kind == _STANDS:
            at[STOOD] = _slot_of(words, position)
            position += _NUMBER_WORDS
        elif kind == _LEARNT:
            at[LEARNT] = 1
            at[RECORDS_DONE], at[EDITS_DONE] = _number_of(words, position), _slot_of(words, position)
            position += _NUMBER_WORDS
        elif kind == _ROW and at[_ROWS_IN] < at[_ROWS]:
            leaf, word = answers.asked[at[_ROWS_IN], 0], answers.asked[at[_ROWS_IN], 1]
            _take_row(answers.table, answers.matrices[0], leaf, word, _word_of(words, position))
            at[_ROWS_IN] += 1
            at[WAITING] -= 1
            position += _ROW_WORDS
        elif kind == _ENTRY and at[_ENTRIES_IN] < at[_ENTRIES]:
            if at[_SCOPE] == ALL:
                answers.table[answers.held[at[_ENTRIES_IN]]]["own"] = words[position + sizes.n]
            for k in range(classes):
                answers.own[k] = words[position + sizes.class_counts + k]
            at[_ENTRIES_IN] += 1
            at[WAITING] -= 1
            position += sizes.entry
        elif kind == _STATISTICS and at[_CELLS_IN] < at[_CELLS]:
            bins = answers.bins[at[_CELLS_IN]]
            first = position + sizes.counts
            for index in range(bins.shape[0]):
                for k in range(classes):
                    bins[index, k] = words[first + index * classes + k]
            at[_CELLS_IN] += 1
            at[WAITING] -= 1
            position += sizes.statistics
        else:
            break
    return position, _go_on(answers, used, anytime)


@njit(inner=True)
def _take_row(table, counts, leaf, word, value):
    """Take in a word of a leaf row."""
    if word == _MAJORITY:
        table[leaf]["majority"] = value & 0xFFFF
    elif word == _RIGHT:
        table[leaf]["right"] = np.int32(value)
    else:
        counts[leaf, word - _COUNTS] = value


@njit(inner=True)
def _go_on(answers, used, anytime):
    """Split the node that the stream stands at, when all that it takes is there, and ask for that before.

    Other decisions, and those for which the node table has no room, are the driver's.
    """
    at, table = answers.at, answers.table
    while not at[WAITING]:
        if at[DECIDING] >= 0:
            node, at[DECIDING] = at[DECIDING], -1
            used = _decide(answers, node, used, anytime)
        # If more EDITs are on their way the board will say anew whether it stands.
        if at[STOOD] < 0 or at[STOOD] != at[EDITS] & 0xFFFF:
            break
        node = earliest(table, answers.room[0])
        if node < 0 or answers.room[0] + answers.branches > len(answers.told):
            break
        if table[node]["verdict"] != SPLIT and table[node]["verdict"] != TIE:
            break
        at[STOOD], at[DECIDING] = -1, node
        used = ask(answers, CHOICE if answers.stack[0] < answers.branches else NODE, node, 1, used)
    return used


@njit(inner=True)
def _judge(answers, report, node, used, anytime):
    """Judge a proposal; what it changes takes effect later. A node that is kept is told so at once."""
    at, row, options = answers.at, answers.table[node], answers.options
    _, base, gains, _ = answers.matrices
    step = answers.style.command_bytes // 4
    row["due_at"] = at[_NUMBER] - at[FIRST]
    answers.tally[TRIALS] += 1
    answers.tally[HALVINGS] += _flags_of(report, 0) & _HALVED
    row["verdict"], row["cell"], row["value"] = judge_row(
        report,
        answers.form,
        options,
        answers.table,
        base,
        gains,
        node,
        answers.classes,
        np.int64(row["due_at"]),
        anytime,
    )
    if row["verdict"] != KEEP:
        return used
    out = answers.out
    if options.adaptive:
        out[used : used + step] = 0
        _put_period(out, used, (_PERIOD, 0, at[_SLOT], min(np.int64(row["period"]), MAX_PERIOD)))
        used += step
    out[used : used + step] = 0
    _put_keep(out, used, (_EDIT, _KEEP_IT | _mode(answers), node))
    at[EDITS] += 1
    return used + step


@njit(inner=True)
def _mode(answers):
    """Flags of all EDITs: locks stop all records where slots could run out, whatever is decided before that changes.

    Then which leaf loses its slot depends on what all have counted as the decision takes effect. What is free changes
    with decisions only, at whose EDITs the stream stands, and between two LEARNs: so the board knows in time.
    """
    free = answers.stack[0]
    return _STOP if free < (len(answers.stack) - 1 - free) * answers.branches else 0


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
    classes, step = answers.matrices[0].shape[1], answers.style.command_bytes // 4
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
        _put_row(answers.out, used, (_ASK_ROW, _READ_ROW, asked[i, 0], asked[i, 1]))
        used += step
    for i in range(entries):
        used = _put_reading(answers.out, used, step, table[held[i]]["slot"], NONE)
    if whole:
        slot = table[node]["slot"]
        used = _put_reading(answers.out, used, step, slot, NONE)
        _, first, cells = cells_of(answers.first_cell, answers.form.attribute, table[node]["cell"])
        for cell in range(first, first + cells):
            used = _put_reading(answers.out, used, step, slot, cell)
    at[_SCOPE], at[_ROWS], at[_ENTRIES], at[_CELLS] = scope, rows, entries + whole, cells
    at[_ROWS_IN] = at[_ENTRIES_IN] = at[_CELLS_IN] = 0
    at[WAITING] = at[_ROWS] + at[_ENTRIES] + at[_CELLS]
    return used


@njit(inner=True)
def _want(asked, rows, leaf, classes):
    """Ask for the counts of so many classes of a leaf; of none: for what it predicts by beside."""
    count = classes if classes else 2
    asked[rows : rows + count, 0] = leaf
    for k in range(classes):
        asked[rows + k, 1] = _COUNTS + k
    if not classes:
        asked[rows, 1], asked[rows + 1, 1] = _MAJORITY, _RIGHT
    return rows + count


@njit(inner=True)
def _put_reading(out, used, step, slot, cell):
    out[used : used + step] = 0
    _put_read(out, used, (_READ, 0, np.int64(slot), np.int64(cell)))
    return used + step


@njit(inner=True)
def _decide(answers, node, used, anytime):
    """Split a node as its last trial has decided, by what `ask` has brought, and tell the board."""
    table, tally = answers.table, answers.tally
    row = table[node]
    cell, value, tie = np.int64(row["cell"]), np.int64(row["value"]), row["verdict"] == TIE
    kind = np.int64(answers.kind[cell])
    attribute, _, cells = cells_of(answers.first_cell, answers.form.attribute, cell)
    each = answers.bins.shape[1] - (cells > 1)  # a cell of several has a bin for other values
    values = np.empty((cells * each, answers.bins.shape[2]), np.int64)
    for part in range(cells):
        values[part * each : (part + 1) * each] = answers.bins[part, :each]
    row["verdict"] = KEEP
    tally[SPLITS if row["kind"] == LEAF else REPLACED] += 1
    tally[TIES] += tie
    written = divide(
        table,
        answers.matrices,
        answers.room,
        answers.blank,
        answers.style,
        answers.first_cell,
        answers.stack,
        answers.slot_node,
        node,
        attribute,
        kind,
        value,
        values,
        sides_of(values, kind, value),
        answers.own.copy(),
        tie,
        answers.out_bytes[4 * used :],
        anytime,
    )
    first = np.int64(row["child"])
    answers.told[first : first + row["width"]] = UNTOLD  # new, whatever stood there
    return tell(answers, answers.at[_SCOPE], node, used + written // 4)


@njit(inner=True)
def _let_go(answers, mode, used):
    """Keep the rows of nodes that went with the one above them, so that no lock of theirs is still to come."""
    told, step = answers.told, answers.style.command_bytes // 4
    gone = told[:, 0] != UNTOLD
    for node in descendants(answers.table, 0, answers.room[0]):
        gone[node] = False
    for node in range(len(told)):
        if gone[node]:
            answers.out[used : used + step] = 0
            _put_keep(answers.out, used, (_EDIT, _KEEP_IT | mode, node))
            used += step
            answers.at[EDITS] += 1
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
    used : int
        Words of ``out`` that have been written.

    Returns
    -------
    int
        Words of ``out`` with commands.
    """
    table, mode = answers.table, _mode(answers)
    if answers.style.anytime is not None:
        used = _let_go(answers, mode, used)
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
        answers.told,
        touched,
        decided,
        mode,
        answers.out,
        used,
    )
    answers.at[EDITS] += edits
    return used
