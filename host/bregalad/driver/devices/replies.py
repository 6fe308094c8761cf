"""What becomes of the reports of a board that walks records down the tree, in compiled code.

A proposal is judged at once. What the driver has asked for is put where it belongs, and when it is all there `go_on`
goes on: so nothing but bytes goes to and fro outside.
"""

import numpy as np

from ...compiled import njit
from ...engine.tally import BEGUN, ENDS, HALVINGS, INSTANCES, TRIALS
from ...policy.decide import KEEP, MAX_PERIOD, judge_row
from ...protocol.reports import HEADER, Kind
from ...protocol.tree import TREE_REPORTS, TreeKind
from ...protocol.words import getter
from ...tree.blocks import FAR, next_of
from .attempts import read_attempt
from .progress import go_on
from .queries import ALL, COUNTS, MAJORITY, RIGHT, put_period

_SUGGESTION, _GAINS, _STATISTICS, _ENTRY = (int(Kind[name]) for name in ("SUGGESTION", "GAINS", "STATISTICS", "ENTRY"))
_PROPOSAL, _BLOCK, _LEARNT, _ROW = (int(TreeKind[name]) for name in ("PROPOSAL", "BLOCK", "LEARNT", "ROW"))
_NUMBER_WORDS, _LEARNT_WORDS, _ROW_WORDS = (
    TREE_REPORTS[kind].size // 4 for kind in (TreeKind.PROPOSAL, TreeKind.LEARNT, TreeKind.ROW)
)
_kind_of = getter(HEADER, "kind")
_slot_of, _number_of = (getter(TREE_REPORTS[TreeKind.PROPOSAL], name) for name in ("slot", "number"))
_since_of, _left_of = (getter(TREE_REPORTS[TreeKind.LEARNT], name) for name in ("since", "left"))
_word_of = getter(TREE_REPORTS[TreeKind.ROW], "value")


@njit()
def take(answers, words, position, anytime):
    """Take in whole reports from ``position`` on, uint32 array, read-only, and go on.

    ``anytime`` is of the style; None as an argument: what it leaves out is not compiled. Returns where the first report
    begins that is for somebody else, or the end, and words of ``out`` with commands.
    """
    at, form, sizes = answers.at[0], answers.form, answers.sizes
    table, matrices = answers.tree.table, answers.tree.matrices
    classes = matrices[0].shape[1]
    trials, report = _SUGGESTION if form.all is None else _GAINS, answers.report
    used = np.int64(0)
    while position < len(words):
        kind = _kind_of(words, position)
        moves = kind == _PROPOSAL or kind == _BLOCK or kind == _LEARNT
        if moves and at["labels"] and (_number_of(words, position) - answers.tally[INSTANCES]) & 0xFFFFFFFF:
            break  # the errors made until then are looked at first
        if kind == _PROPOSAL and at["running"]:
            at["slot"] = _slot_of(words, position)
            _reach(answers.tally, _number_of(words, position))
            position += _NUMBER_WORDS
        elif kind == trials:
            node = answers.tree.slot_node[at["slot"]]
            if node < 0:
                break
            answers.tally[HALVINGS] += read_attempt(report, words, position, answers.words)
            used = _judge(answers, node, used, answers.options.anytime)
            position += report.size
        elif kind == _BLOCK and at["running"]:
            _reach(answers.tally, _number_of(words, position))
            at["waits"], at["made"] = 1, _made(answers)
            position += _NUMBER_WORDS
        elif kind == _LEARNT and at["running"]:
            _reach(answers.tally, _number_of(words, position))
            answers.tally[BEGUN] -= _since_of(words, position)
            answers.tally[ENDS] = answers.tally[INSTANCES] + _left_of(words, position) + 1
            at["running"], at["ended"] = 0, 1
            position += _LEARNT_WORDS
        elif kind == _ROW and at["rows_in"] < at["rows"]:
            leaf, word = answers.asked[at["rows_in"], 0], answers.asked[at["rows_in"], 1]
            _take_row(table, matrices[0], leaf, word, _word_of(words, position))
            at["rows_in"] += 1
            at["waiting"] -= 1
            position += _ROW_WORDS
        elif kind == _ENTRY and at["entries_in"] < at["entries"]:
            if at["scope"] == ALL:
                table[answers.held[at["entries_in"]]]["own"] = words[position + sizes.n]
            else:
                for k in range(classes):
                    answers.own[at["entries_in"], k] = words[position + sizes.class_counts + k]
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
def _reach(tally, number):
    """So many instances have been learnt, of which a report has 32 bits, and a block begins."""
    tally[INSTANCES] += number - tally[INSTANCES] & 0xFFFFFFFF
    tally[BEGUN] = tally[INSTANCES]


@njit(inner=True)
def _made(answers):
    """Up to when decisions were made that take effect where the board waits; those of old before others are tried."""
    if answers.rule.fixed == 1:
        before = answers.tally[INSTANCES] - 1
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
def _judge(answers, node, used, anytime):
    """Judge a proposal; what it changes takes effect at the block's end."""
    table, options, learnt = answers.tree.table, answers.options, answers.tally[INSTANCES]
    _, base, gains, _, evidence = answers.tree.matrices
    row = table[node]
    row["due_at"] = learnt
    answers.tally[TRIALS] += 1
    row["verdict"], row["cell"], row["value"] = judge_row(
        answers.words, answers.form, options, table, base, gains, evidence, node, answers.classes, learnt, anytime
    )
    if row["verdict"] == KEEP and options.adaptive:
        used = put_period(answers, answers.at[0]["slot"], min(np.int64(row["period"]), MAX_PERIOD), used)
    return used
