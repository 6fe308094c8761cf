"""What becomes of the reports of a board that walks records down the tree, in compiled code.

A proposal is judged at once. What the driver has asked for is put where it belongs, and when it is all there `go_on`
goes on: so nothing but bytes goes to and fro outside.
"""

import numpy as np

from ...compiled import njit
from ...protocol.reports import HEADER, Kind
from ...protocol.tree import TREE_COMMANDS, TREE_REPORTS, TreeKind, TreeOpcode
from ...protocol.words import getter, putter
from ..policy.judge import KEEP, MAX_PERIOD, judge_row
from .asking import (
    ALL,
    BEFORE,
    CELLS,
    CELLS_IN,
    COUNTS,
    ENTRIES,
    ENTRIES_IN,
    LEARNT,
    MAJORITY,
    NUMBER,
    RIGHT,
    ROWS,
    ROWS_IN,
    SCOPE,
    SLOT,
    STOOD,
    WAITING,
    keep,
)
from .course import go_on
from .tally import HALVINGS, TRIALS
from .trial_reports import read_attempt

__all__ = ["take"]

_SUGGESTION, _GAINS, _STATISTICS, _ENTRY = (int(Kind[name]) for name in ("SUGGESTION", "GAINS", "STATISTICS", "ENTRY"))
_PROPOSAL, _STANDS, _LEARNT, _ROW = (int(TreeKind[name]) for name in ("PROPOSAL", "STANDS", "LEARNT", "ROW"))
_NUMBER_WORDS, _ROW_WORDS = (TREE_REPORTS[kind].size // 4 for kind in (TreeKind.PROPOSAL, TreeKind.ROW))
_kind_of = getter(HEADER, "kind")
_slot_of, _number_of = (getter(TREE_REPORTS[TreeKind.PROPOSAL], name) for name in ("slot", "number"))
_word_of = getter(TREE_REPORTS[TreeKind.ROW], "value")

_PERIOD = int(TreeOpcode.PERIOD)
_put_period = putter(TREE_COMMANDS[TreeOpcode.PERIOD], "opcode", "flags", "slot", "period")


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
    trials, report = _SUGGESTION if form.all is None else _GAINS, answers.report
    used = np.int64(0)
    while position < len(words):
        kind = _kind_of(words, position)
        if kind == _PROPOSAL:
            at[SLOT], at[NUMBER] = _slot_of(words, position), _number_of(words, position)
            position += _NUMBER_WORDS
        elif kind == trials:
            node = answers.slot_node[at[SLOT]]
            if node < 0:
                break
            answers.tally[HALVINGS] += read_attempt(report, words, position, answers.words)
            used = _judge(answers, node, used, answers.options.anytime)
            position += report.size
        elif kind == _STANDS:
            at[STOOD] = _slot_of(words, position)
            position += _NUMBER_WORDS
        elif kind == _LEARNT:
            at[LEARNT] = 1
            position += _NUMBER_WORDS
        elif kind == _ROW and at[ROWS_IN] < at[ROWS]:
            leaf, word = answers.asked[at[ROWS_IN], 0], answers.asked[at[ROWS_IN], 1]
            _take_row(answers.table, answers.matrices[0], leaf, word, _word_of(words, position))
            at[ROWS_IN] += 1
            at[WAITING] -= 1
            position += _ROW_WORDS
        elif kind == _ENTRY and at[ENTRIES_IN] < at[ENTRIES]:
            if at[SCOPE] == ALL:
                answers.table[answers.held[at[ENTRIES_IN]]]["own"] = words[position + sizes.n]
            for k in range(classes):
                answers.own[k] = words[position + sizes.class_counts + k]
            at[ENTRIES_IN] += 1
            at[WAITING] -= 1
            position += sizes.entry
        elif kind == _STATISTICS and at[CELLS_IN] < at[CELLS]:
            bins = answers.bins[at[CELLS_IN]]
            first = position + sizes.counts
            for index in range(bins.shape[0]):
                for k in range(classes):
                    bins[index, k] = words[first + index * classes + k]
            at[CELLS_IN] += 1
            at[WAITING] -= 1
            position += sizes.statistics
        else:
            break
    return position, go_on(answers, used, anytime)


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
def _judge(answers, node, used, anytime):
    """Judge a proposal; what it changes takes effect later. A node that is kept is told so at once."""
    at, row, options = answers.at, answers.table[node], answers.options
    _, base, gains, _ = answers.matrices
    row["due_at"] = at[BEFORE] + (at[NUMBER] - at[BEFORE] & 0xFFFFFFFF)  # reports have 32 bits of it
    answers.tally[TRIALS] += 1
    row["verdict"], row["cell"], row["value"] = judge_row(
        answers.words,
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
    if options.adaptive:
        out, step = answers.out, answers.step
        out[used : used + step] = 0
        _put_period(out, used, (_PERIOD, 0, at[SLOT], min(np.int64(row["period"]), MAX_PERIOD)))
        used += step
    return keep(answers, node, used)
