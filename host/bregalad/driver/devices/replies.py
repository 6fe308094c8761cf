"""What becomes of the reports of a board that routes records down the tree, compiled: attempts, labels, answers.

A candidate is decided at once. What the driver has asked for is put where it belongs, and when it is all there `go_on`
goes on: so nothing but bytes goes to and fro outside.
"""

from collections import namedtuple

import numpy as np

from ...compiled import njit
from ...engine.drift import follow
from ...engine.event_counts import ATTEMPTS, BEGUN, ENDS, HALVINGS, INSTANCES
from ...policy.decide import CANDIDATE as ELEMENTS
from ...policy.decide import KEEP, MAX_PERIOD, NO_CELL, decide_row
from ...protocol.reports import CANDIDATE, HEADER, AttemptFlag, Kind, gains_layout, top_candidates_layout
from ...protocol.tree import TREE_REPORTS, TreeKind
from ...protocol.words import getter, words_before
from ...tree.blocks import FAR, block_of, next_of
from ...tree.table import LEAF, NO_NODE, is_alternate
from .progress import go_on
from .queries import ALL, COUNTS, MAJORITY, RIGHT, put_period

_flags_of = getter(HEADER, "flags")
_HALVED = int(AttemptFlag.HALVED)
_WORDS = CANDIDATE.size // 4
_cell_of, _value_of, _valid_of, _gain_of = (getter(CANDIDATE, name) for name in ("cell", "value", "valid", "gain"))

_Report = namedtuple("_Report", ["size", "class_counts", "classes", "candidates", "count"])


def report_of(geometry, cells, gains_of_all):
    """Where a board's reports, GAINS or TOP_CANDIDATES, have the class counts and the candidates; in 32-bit words."""
    layout = gains_layout(geometry, cells) if gains_of_all else top_candidates_layout(geometry)
    first = words_before(layout, "candidates" if gains_of_all else "best_cell")
    count = cells if gains_of_all else 3
    return _Report(layout.size // 4, words_before(layout, "class_counts"), geometry.classes, first, count)


@njit()
def read_attempt(report, words, at, out):
    """Write the split attempt of the report that begins at ``words[at]`` to ``out``, int64 array of a ``decide.Form``.

    Whether counts were halved since the last.
    """
    for k in range(report.classes):
        out[k] = words[at + report.class_counts + k]
    used = report.classes
    for i in range(report.count):
        place = at + report.candidates + _WORDS * i
        out[used], out[used + 1], out[used + 2] = NO_CELL, 0, 0
        if _valid_of(words, place):
            out[used], out[used + 1] = _cell_of(words, place), _value_of(words, place)
            out[used + 2] = _gain_of(words, place)
        used += ELEMENTS
    return _flags_of(words, at) & _HALVED != 0


_TOP_CANDIDATES, _GAINS, _STATISTICS, _ENTRY = (
    int(Kind[name]) for name in ("TOP_CANDIDATES", "GAINS", "STATISTICS", "ENTRY")
)
_SPLIT_CANDIDATE, _BLOCK, _LEARNT, _ROW = (
    int(TreeKind[name]) for name in ("SPLIT_CANDIDATE", "BLOCK", "LEARNT", "ROW")
)
_NUMBER_WORDS, _LEARNT_WORDS, _ROW_WORDS = (
    TREE_REPORTS[kind].size // 4 for kind in (TreeKind.SPLIT_CANDIDATE, TreeKind.LEARNT, TreeKind.ROW)
)
_kind_of = getter(HEADER, "kind")
_slot_of, _number_of = (getter(TREE_REPORTS[TreeKind.SPLIT_CANDIDATE], name) for name in ("slot", "number"))
_since_of, _left_of = (getter(TREE_REPORTS[TreeKind.LEARNT], name) for name in ("since", "left"))
_word_of = getter(TREE_REPORTS[TreeKind.ROW], "value")


@njit()
def take(answers, words, position, anytime):  # noqa: C901 (compiled)
    """Take in whole reports from ``position`` on, uint32 array, read-only, and go on.

    ``anytime`` is of the style; None as an argument: what it leaves out is not compiled. Returns where the first report
    begins that is for somebody else, or the end, and words of ``out`` with commands.
    """
    at, form, sizes = answers.at[0], answers.form, answers.sizes
    table, matrices = answers.tree.table, answers.tree.matrices
    classes = matrices[0].shape[1]
    attempts, report = _TOP_CANDIDATES if form.all is None else _GAINS, answers.report
    used = np.int64(0)
    while position < len(words):
        kind = _kind_of(words, position)
        moves = kind == _SPLIT_CANDIDATE or kind == _BLOCK or kind == _LEARNT
        if moves and at["labels"] and (_number_of(words, position) - answers.event_counts[INSTANCES]) & 0xFFFFFFFF:
            break  # the errors made until then are looked at first
        if kind == _SPLIT_CANDIDATE and at["running"]:
            at["slot"] = _slot_of(words, position)
            _reach(answers.event_counts, _number_of(words, position))
            position += _NUMBER_WORDS
        elif kind == attempts:
            node = answers.tree.slot_node[at["slot"]]
            if node < 0:
                break
            answers.event_counts[HALVINGS] += read_attempt(report, words, position, answers.words)
            used = _decide(answers, node, used, answers.options.anytime)
            position += report.size
        elif kind == _BLOCK and at["running"]:
            _reach(answers.event_counts, _number_of(words, position))
            at["waits"], at["made"] = 1, _made(answers)
            position += _NUMBER_WORDS
        elif kind == _LEARNT and at["running"]:
            _reach(answers.event_counts, _number_of(words, position))
            answers.event_counts[BEGUN] -= _since_of(words, position)
            answers.event_counts[ENDS] = answers.event_counts[INSTANCES] + _left_of(words, position) + 1
            at["running"], at["ended"] = 0, 1
            position += _LEARNT_WORDS
        elif kind == _ROW and at["rows_in"] < at["rows"]:
            leaf, word = answers.requested[at["rows_in"], 0], answers.requested[at["rows_in"], 1]
            _take_row(table, matrices[0], leaf, word, _word_of(words, position))
            at["rows_in"] += 1
            at["waiting"] -= 1
            position += _ROW_WORDS
        elif kind == _ENTRY and at["entries_in"] < at["entries"]:
            if at["scope"] == ALL:
                table[answers.held[at["entries_in"]]]["observed"] = words[position + sizes.n]
            else:
                for k in range(classes):
                    answers.observed[at["entries_in"], k] = words[position + sizes.class_counts + k]
            at["entries_in"] += 1
            at["waiting"] -= 1
            position += sizes.entry
        elif kind == _STATISTICS and at["cells_in"] < at["cells"]:
            bins = answers.bins[at["cells_in"]]
            first = position + sizes.counts
            for index in range(bins.shape[0]):
                for k in range(classes):
                    bins[index, k] = words[first + index * classes + k]
            at["cells_in"] += 1
            at["waiting"] -= 1
            position += sizes.statistics
        else:
            break
    return position, go_on(answers, used, anytime)


@njit(inner=True)
def _reach(event_counts, number):
    """So many instances have been learnt, of which a report has 32 bits, and a block begins."""
    event_counts[INSTANCES] += number - event_counts[INSTANCES] & 0xFFFFFFFF
    event_counts[BEGUN] = event_counts[INSTANCES]


@njit(inner=True)
def _made(answers):
    """Up to when decisions were made that take effect where the board waits; those of old before others are tried."""
    if answers.rule.fixed == 1:
        before = answers.event_counts[INSTANCES] - 1
        if next_of(answers.tree.table, answers.tree.room[0], before) >= 0:
            return before
    return np.int64(FAR)


@njit(inner=True)
def _take_row(table, counts, leaf, word, value):
    """Take in a word of a leaf row."""
    if word == MAJORITY:
        table[leaf]["majority"] = value & 0xFFFF
    elif word == RIGHT:
        table[leaf]["right"] = np.int32(value)
    else:
        counts[leaf, word - COUNTS] = value


@njit(inner=True)
def _decide(answers, node, used, anytime):
    """Decide on a candidate; what it changes takes effect at the block's end."""
    table, options, learnt = answers.tree.table, answers.options, answers.event_counts[INSTANCES]
    _, inherited, gains, _, evidence = answers.tree.matrices
    row = table[node]
    row["due_at"] = learnt
    answers.event_counts[ATTEMPTS] += 1
    row["decision"], row["cell"], row["value"] = decide_row(
        answers.words, answers.form, options, table, inherited, gains, evidence, node, answers.classes, learnt, anytime
    )
    if row["decision"] == KEEP and options.adaptive:
        used = put_period(answers, answers.at[0]["slot"], min(np.int64(row["period"]), MAX_PERIOD), used)
    return used


@njit()
def take_labels(table, windows, rows, leaves, reported, labels, predictions, weights, position, watch, rule, begun):
    """Take in the classes predicted of a block's instances: of each that of its own leaf, then those in alternates.

    Table and windows are those of ``Nodes``; the latter are written, and decisions of the former. ``leaves`` and
    ``reported`` are nodes and the classes that they predict, int64 (n,). Labels, predictions and weights are int32
    arrays of a window; the second is written, the last empty where all weigh 1. ``position`` is the next instance whose
    class is told; returned is the one after all these, or -1 if no board tells such. ``begun`` instances the tree had
    learnt as the block began.
    """
    now = block_of(rule, begun)
    for i in range(len(leaves)):
        leaf = leaves[i]
        if leaf < 0 or leaf >= rows or table[leaf]["kind"] != LEAF:
            return -1
        node = leaf
        while node != NO_NODE and not is_alternate(table, node):
            node = table[node]["parent"]
        if node == NO_NODE:
            if position == len(labels):
                return -1
            predictions[position] = reported[i]
            position += 1
        at = position - 1
        if at < 0:
            return -1
        if len(weights) == 0 or weights[at]:
            follow(table, windows, leaf, reported[i] != labels[at], watch, now)
    return position
