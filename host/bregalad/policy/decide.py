"""Decisions on attempts, in compiled code."""

from collections import namedtuple

import numpy as np

from ..compiled import njit
from ..geometry import GAIN_FRACTION
from ..tree.table import BOUND, DECIDED, FORK, KEPT, LEAF, MULTIWAY, NO_NODE, has_alternate, is_alternate
from .bounds import CONFIDENCE, PRACTICAL, epsilon, measured, unit_of
from .criteria import impurity, span
from .subset import leave_out

# Decisions. TIE: a split that only the tie threshold allowed; PRUNE: an inner node becomes a leaf
# again; RELOCATE: whether an inner node's split moves to another threshold depends on its bins;
# CONSULT: all depends on the bins, of all attributes. ALTERNATE: one begins beside the node, anew if
# there is one; SWAP, DROP: a fork's takes over, or goes.
KEEP, SPLIT, TIE, PRUNE, RELOCATE, CONSULT, ALTERNATE, SWAP, DROP = range(KEPT, KEPT + 9)
NO_CELL = -1
MAX_PERIOD = (1 << 16) - 1  # of adaptive_grace

# For what only compiled code calls; no divisor is 0.
_inner = njit(inner=True)

MIN_GAIN = 1e-10  # by which a split must beat the null split, as in MOA
_UNIT = 1 << GAIN_FRACTION

# Ties: leaves whose best attributes the bound cannot tell apart; in the order of `options.table.TIES`.
# Source: Holmes, Kirkby and Pfahringer, Tie-breaking in Hoeffding trees, 2005.
_GENUINE, _WAITING = 1, 2
FIRST_WAIT = 3000  # observed instances
_ALPHA = 5

# Elements of a candidate: first cell of the attribute, NO_CELL for none; where it splits; the scaled gain.
CELL, VALUE, GAIN = range(3)
CANDIDATE = 3

# A split attempt is an int64 array: the class counts of the board's classes, then candidates.
Form = namedtuple(
    "Form",
    [
        "size",  # elements
        "best",  # where the candidates of the best, second best and current attribute begin
        "second",
        "current",
        "candidates",  # where those of all cells do; an attribute's is that of its last cell
        "all",  # 1: there is one for every cell; None: for the three attributes
        "cells",
        "attributes",
        "attribute",  # array: attribute of every cell
    ],
)

_Ranking = namedtuple(
    "_Ranking",
    [
        "at",  # where the best attribute's candidate begins, -1: there is none
        "best",
        "second",
        "worst",
        "current",  # gains per instance
    ],
)


def form_of(classes, cells, gains_of_all=False):
    """What a split attempt of a board is made of: a candidate for every cell if ``gains_of_all``, else three."""
    best, second, current = (0, 0, 0) if gains_of_all else (classes + CANDIDATE * place for place in range(3))
    return Form(
        classes + CANDIDATE * (len(cells) if gains_of_all else 3),
        best,
        second,
        current,
        classes if gains_of_all else 0,
        1 if gains_of_all else None,
        len(cells),
        len(cells.first_cell),
        np.ascontiguousarray(cells.attribute, np.int64),
    )


@njit()
def genuine(best, second, worst):
    """Are the two best attributes much closer to each other than the second is to the worst?"""
    return _ALPHA * (best - second) < second - worst


@_inner
def _compare(options, gap, n, classes, depth, t, attributes):
    """(Is the gap wide enough, is it a tie, the gap in the bound's unit)."""
    error = epsilon(options, n, classes, depth, t, attributes)
    gap *= unit_of(options.bound, options.criterion)
    if options.bound == CONFIDENCE:
        return gap >= 2 * error, error <= options.tau, gap
    if options.bound == PRACTICAL:
        return gap >= error, False, gap
    return gap > error, error < options.tau, gap


@njit()
def change(options, gap, n, classes, depth, t, attributes):
    """KEEP, SPLIT or TIE for a gap at an inner node; parameters as in ``SplitPolicy.moved``."""
    wide, tie, gap = _compare(options, gap, n, classes, depth, t, attributes)
    if wide:
        return SPLIT
    return TIE if tie and options.inner_ties and gap > options.tau / 2 else KEEP


@_inner
def _depth(table, node):
    steps = 0
    while table[node]["parent"] != NO_NODE:
        node = table[node]["parent"]
        steps += table[node]["kind"] != FORK
    return steps


@_inner
def _gain(words, at, n_observed):
    """Gain per instance of the candidate that begins there.

    Any two gains of the board that differ do so here: they have less than 53 bits.
    """
    return words[at + GAIN] / (_UNIT * n_observed)


@_inner
def _is_valid(words, at):
    return words[at + CELL] != NO_CELL


@_inner
def left_out(table, node, options, attributes):
    """Which attributes a node is not split on: those of multiway splits above, and those beyond its random few."""
    out, above = np.zeros(attributes, np.bool_), np.int64(table[node]["parent"])
    while above != NO_NODE:
        if table[above]["kind"] == MULTIWAY:
            out[table[above]["attribute"]] = True
        above = np.int64(table[above]["parent"])
    leave_out(table, node, options.subset, options.seed, out)
    return out


@_inner
def _rank_all(words, form, options, sums, tried, n_observed, shift, current, used):
    """The ranking of all attributes; with averages that of the means, which take it in."""
    attribute = form.attribute
    best_at = -1
    best, second, worst, kept = -np.inf, -np.inf, np.inf, -shift
    for cell in range(form.cells):
        at = form.candidates + CANDIDATE * cell
        if not _is_valid(words, at):
            continue
        index = attribute[words[at + CELL]]
        if used[index]:
            continue
        gain = _gain(words, at, n_observed)
        if options.average:
            sums[index] += gain + shift
            gain = sums[index] / tried
        if gain > best:
            best_at, best, second = at, gain, best
        elif gain > second:
            second = gain
        worst = min(worst, gain)
        if index == current:
            kept = gain
    if not options.average:
        return _Ranking(best_at, best + shift, second + shift, worst + shift, kept + shift)
    if current >= 0:
        kept = sums[current] / tried
    return _Ranking(best_at, best, second, worst, kept)


@_inner
def _is_used(words, form, at, used):
    return at >= 0 and used[form.attribute[words[at + CELL]]]


@_inner
def _rank_top(words, form, n_observed, shift, used):
    """The ranking of the best two attributes.

    An attribute that is used has one value here, and so no gain, but for values that its split did
    not know, which have come to the default branch. Where it is the best, the second takes its
    place; the one after that is not named, and taken for its equal.
    """
    best_at = next_at = -1
    best, second, kept = -np.inf, -np.inf, 0.0
    if _is_valid(words, form.best):
        best_at, best = form.best, _gain(words, form.best, n_observed) + shift
    if _is_valid(words, form.second):
        next_at, second = form.second, _gain(words, form.second, n_observed) + shift
    if _is_used(words, form, best_at, used):
        best_at, best = next_at, second
        if _is_used(words, form, best_at, used):
            best_at, best = -1, -np.inf
    left = 0
    for attribute in range(len(used)):
        left += not used[attribute]
    if left < 2:
        second = -np.inf
    if _is_valid(words, form.current):
        kept = _gain(words, form.current, n_observed) + shift
    return _Ranking(best_at, best, second, -np.inf, kept)


@_inner
def _rank(words, form, options, sums, tried, n_observed, shift, current, used, all_gains):
    # By an argument that is None, as Numba then leaves out what the report is not.
    if all_gains is not None:
        return _rank_all(words, form, options, sums, tried, n_observed, shift, current, used)
    return _rank_top(words, form, n_observed, shift, used)


@_inner
def _keep(options, row, period):
    """The decision to leave a node alone; its next attempt is due after ``period`` instances."""
    if options.adaptive:
        row["period"] = period
    return KEEP, NO_CELL, 0


@_inner
def _decide_leaf(ranking, words, form, options, row, n_observed, n, classes, depth, t):
    gap = ranking.best if options.anytime else ranking.best - max(ranking.second, 0.0)
    if options.rivals:
        gap = ranking.best - max(ranking.second, 0.0)
    decision = KEEP
    if ranking.best >= MIN_GAIN:
        wide, tie, _ = _compare(options, gap, n, classes, depth, t, form.attributes)
        if options.ties == _GENUINE:
            tie = tie and genuine(ranking.best, ranking.second, ranking.worst)
        elif options.ties == _WAITING:
            tie = n_observed >= row["wait"]
        if wide or options.first_attempt:
            decision = SPLIT
        elif tie and options.leaf_ties:
            decision = TIE
    if decision == KEEP:
        period = options.grace
        if options.adaptive:  # further instances until a gap like this one, or else a tie, decides
            reach = span(options.criterion, classes)
            needed = np.ceil(reach**2 * options.certainty / (2 * max(gap, options.tau) ** 2)) - n
            period = int(min(max(needed, options.grace), MAX_PERIOD))
        return _keep(options, row, period)
    return decision, words[ranking.at + CELL], words[ranking.at + VALUE]


@_inner
def _decide_inner(ranking, words, form, options, row, n, classes, depth, t):
    if options.null and not options.rivals and ranking.best < MIN_GAIN:
        decision = change(options, -ranking.current, n, classes, depth, t, form.attributes)
        return KEEP if decision == KEEP else PRUNE, NO_CELL, 0
    if ranking.at < 0:
        return KEEP, NO_CELL, 0
    cell, value = words[ranking.at + CELL], words[ranking.at + VALUE]
    if form.attribute[cell] != row["attribute"]:
        decision = change(options, ranking.best - ranking.current, n, classes, depth, t, form.attributes)
        if options.rivals and decision != KEEP:
            decision = ALTERNATE
    else:
        decision = RELOCATE if options.replace and row["kind"] != MULTIWAY else KEEP
    if decision == KEEP:
        return KEEP, NO_CELL, 0
    return decision, cell, value


@_inner
def _may_fork(table, node):
    """Whether a node may have an alternate: it has none, nor is it below one."""
    if has_alternate(table, node):
        return False
    while table[node]["parent"] != NO_NODE:
        if is_alternate(table, node):
            return False
        node = np.int64(table[node]["parent"])
    return True


@_inner  # compiled
def decide_row(words, form, options, table, inherited, gains, evidence, node, classes, t, inner):  # noqa: C901
    """Decide on one attempt: decision, cell and value.

    ``words`` is the split attempt, int64 (form.size,); the options are ``SplitPolicy.options``; table, base, gains and
    evidence arrays of ``Nodes``: averages of gains, the period of a node that is kept and the evidence for any other
    decision are written. So many classes are in use; t are the instances that the tree had learnt when the attempt was
    due, the one that it was due with included. ``inner`` is ``options.anytime``, as an argument, so that Numba leaves
    out what None has no use for: decisions on inner nodes. Cell and value are those of the attribute that wins, to
    split on or whose threshold may move; NO_CELL and 0 otherwise.
    """
    row = table[node]
    if options.max_depth and row["kind"] == LEAF and _depth(table, node) >= options.max_depth:
        return _keep(options, row, options.grace)
    width = inherited.shape[1]
    n_observed = n = np.int64(0)
    named = 0
    for k in range(width):
        observed = words[k]
        total = observed + inherited[node, k]
        n_observed += observed
        n += total
        named += total > 0
    if named < 2 or n_observed == 0:
        return _keep(options, row, options.grace)
    if options.consults:
        if inner is not None and row["kind"] != LEAF and not _may_fork(table, node):
            return KEEP, NO_CELL, 0
        return CONSULT, NO_CELL, 0
    shift = 0.0
    if n > n_observed:
        counts = np.empty(width, np.int64)
        for k in range(width):
            counts[k] = words[k]
        shift = -impurity(options.criterion, counts)
        for k in range(width):
            counts[k] += inherited[node, k]
        shift += impurity(options.criterion, counts)
    current = row["attribute"] if row["kind"] != LEAF else -1
    used = left_out(table, node, options, form.attributes)
    if options.average:
        row["tried"] += 1
    ranking = _rank(words, form, options, gains[node], row["tried"], n_observed, shift, current, used, form.all)
    if ranking.at < 0 and row["kind"] == LEAF:
        return _keep(options, row, options.grace)
    depth = 0
    if options.bound == CONFIDENCE or options.bound == PRACTICAL:
        depth = _depth(table, node)
    rival = max(ranking.second, 0.0)
    if inner is not None and row["kind"] != LEAF:
        if options.rivals and not _may_fork(table, node):
            return KEEP, NO_CELL, 0
        decision, cell, value = _decide_inner(ranking, words, form, options, row, n, classes, depth, t)
        rival = ranking.current
    else:
        decision, cell, value = _decide_leaf(ranking, words, form, options, row, n_observed, n, classes, depth, t)
        if options.anytime and not options.rivals:
            rival = 0.0
    if decision != KEEP:
        gain = 0.0 if decision == PRUNE else ranking.best
        measured(evidence[node], options, n, gain, rival, classes, depth, t, form.attributes)
        if options.first_attempt and row["kind"] == LEAF:
            evidence[node, DECIDED + BOUND] = 0.0
    return decision, cell, value
