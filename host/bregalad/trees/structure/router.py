"""Learning over a stream to the board, compiled: where instances go, what is due, the records for it."""

import numpy as np

from ...compiled import njit
from ...geometry import NONE
from ...protocol.commands import LABEL_HIGH, RECORD_HEADER, RecordFlag
from .memory import count_off, leaf_of
from .nodes import ASKED, KEPT, NO_NODE, above
from .walk import GROUP, walk

__all__ = [
    "SENT",
    "MAJORITY",
    "BAYES",
    "ADAPTIVE",
    "PREDICTIONS",
    "arrive",
    "summon",
    "count_class",
    "choose",
    "advance",
    "answer",
]

SENT = 0  # element of `progress`: records sent whose prediction the board will report
MAJORITY, BAYES, ADAPTIVE = range(3)
PREDICTIONS = {"mc": MAJORITY, "nb": BAYES, "nba": ADAPTIVE}  # what a leaf predicts

# Arrays are passed one by one, not in a tuple: Numba counts references on every access to one, and
# in every call that takes them. An index that may be negative is tested for it.
_inlined = njit(inline="always")

_RECORD_HEAD = RECORD_HEADER.size
_MINUS = int(RecordFlag.MINUS)
_SLOT_AT, _LABEL_AT, _FLAGS_AT = map(RECORD_HEADER.offset, ("slot", "label", "flags"))


@njit()
def arrive(node, number, delay, weight=1):
    """Count an instance's arrival towards a node's trial; 1 if that makes it due.

    Parameters
    ----------
    node : row of ``Nodes.table``
    number : int
        Instances that the tree has learnt, this one included.
    delay : int
        Of the policy: until the last trial has taken effect there is no other one.
    weight : int
        How often the instance is learnt.
    """
    since = node["since"] + weight
    node["since"] = since
    if since < node["period"] or number <= node["due_at"] + delay:
        return 0
    node["since"] = 0
    node["due_at"] = number
    return 1


@njit()
def summon(table, leaf, number, delay):
    """The tree's own counter makes the trials of the inner nodes above a leaf due; how many."""
    due = 0
    node = above(table, leaf)
    while node != NO_NODE:
        row = table[node]
        if number > row["due_at"] + delay:
            row["due_at"] = number
            due += 1
        node = above(table, node)
    return due


@_inlined
def _count(node, most):
    """Count an instance's arrival as the board does: what is full is halved before."""
    own = node["own"]
    node["own"] = (own >> 1 if own == most else own) + 1


@_inlined
def count_class(node, counts, leaf, label, weight=1):
    """Count an instance's class at a leaf; the majority class before."""
    majority = node["majority"]
    count = counts[leaf, label] + weight
    counts[leaf, label] = count
    lead = counts[leaf, majority]  # outside of branches, or references are counted
    # Ties go to the lower class; an empty leaf's first class is its own.
    if label != majority and (count > lead or (count == lead and label < majority)):
        node["majority"] = label
    return majority


@njit()
def choose(node, predictor, majority, bayes, label, weight=1):
    """The prediction by BAYES or ADAPTIVE, which then counts which of the two was right."""
    if predictor == BAYES or bayes == majority:
        return bayes
    chosen = bayes if node["right"] <= 0 else majority
    node["right"] += weight * (np.int64(label == majority) - np.int64(label == bayes))
    return chosen


@_inlined
def _write_record(out, at, slot, label, codes, first_code, cell_attribute):
    """Write an instance's record; return where the next begins."""
    out[np.uint64(at + _SLOT_AT)] = slot & 0xFF
    out[np.uint64(at + _SLOT_AT + 1)] = slot >> 8
    out[np.uint64(at + _LABEL_AT)] = label & 0xFF
    out[np.uint64(at + _FLAGS_AT)] = label >> 8 << LABEL_HIGH
    at += _RECORD_HEAD
    for cell in range(len(cell_attribute)):
        out[np.uint64(at + cell)] = codes[first_code + np.uint64(cell_attribute[cell])]
    return at + len(cell_attribute)


@njit()
def _count_above(table, leaf, number, delay):
    """Count an arrival at the inner nodes above a leaf; trials that are due."""
    due = 0
    node = table[leaf]["parent"]
    while node != NO_NODE:
        due += arrive(table[node], number, delay)
        node = table[node]["parent"]
    return due


@_inlined
def _is_locked(table, leaf, number, delay, anytime):
    """Whether an instance reaches a node whose trial takes effect before it, and has not yet."""
    node = leaf
    while node != NO_NODE:
        row = table[node]
        if row["verdict"] != KEPT and number > row["due_at"] + delay:
            return True
        if not anytime:  # an inner node is not tried
            break
        node = np.int64(row["parent"])
    return False


@njit()
def advance(
    table,
    counts,
    codes,
    labels,
    predictions,
    order,
    start,
    stop,
    number,
    predictor,
    anytime,
    multiple,
    delay,
    most,
    progress,
    cell_attribute,
    out,
    trials,
    budget,
    base,
    past,
    kept,
    kept_labels,
):
    """Route the instances ``start`` to ``stop``, up to the first that reaches a locked node.

    A node is locked from the instance on with which its trial takes effect, until it has; see `Trials`.

    Parameters
    ----------
    table, counts : arrays
        ``Nodes.table`` and ``Nodes.counts``.
    codes : uint8 array (n, attributes)
    labels, predictions : int32 array (n,)
        Predictions by majority class are written.
    order : int32 array (n, 2)
        Instance and leaf of every prediction that the board will report, in order; written. The
        leaf is -1 where the majority class's prediction stands.
    start, stop : int
    number : int
        Instances learnt before ``start``.
    predictor : MAJORITY, BAYES or ADAPTIVE
    anytime : bool
        Whether inner nodes count, too.
    multiple : int
        When the tree has learnt a multiple of it the inner nodes above are tried, too; 0: never.
    delay : int
        Of the policy.
    most : int
        Instances that a slot counts before it halves.
    progress : int64 array
        By SENT.
    cell_attribute : int array (cells,)
        Attribute of every code of a record.
    out : uint8 array
        Records for the board are written.
    trials : int64 array (m, 2)
        Records before a trial, and since the trial before it, and the node to be tried; written. There is room for
        those of a path.
    budget : int
        So many more trials may change the tree in any order, since slots will do; none is routed beyond an instance
        with which one takes effect that is not among them.
    base, past, kept, kept_labels : arrays
        ``Nodes.base``; ``read``, ``codes`` and ``labels`` of ``Memory``, empty where nothing is forgotten.

    Returns
    -------
    position, at, due : int
        Next instance, bytes in ``out``, rows in ``trials``.
    """
    size, attributes = _RECORD_HEAD + len(cell_attribute), codes.shape[1]
    flat = codes.ravel()
    found, going = np.empty(GROUP, np.uint32), np.empty(GROUP, np.uint32)
    at = due = records = 0
    i = first = walked = start
    forgets = len(kept_labels)
    room = 2 * size if forgets else size
    while i < stop and at + room <= len(out):
        if i >= walked:
            first, walked = i, min(i + GROUP, stop)
            walk(table, flat, attributes, first, found[: walked - first], going)
        leaf = np.int64(found[np.uint64(i - first)])
        node, label = table[leaf], labels[i]
        number += 1
        if _is_locked(table, leaf, number, delay, anytime):
            break
        if forgets:
            turn = (number - 1) % forgets
            if number > forgets:
                old = np.int64(leaf_of(table, past, turn * attributes))
                if _is_locked(table, old, number, delay, anytime):
                    break
                gone = kept_labels[turn]
                slot = count_off(table, counts, base, old, number - forgets, gone)
                if slot != NONE:
                    if predictor != MAJORITY:
                        order[progress[SENT], 0], order[progress[SENT], 1] = i, -1
                        progress[SENT] += 1
                    out_flags = at + _FLAGS_AT
                    at = _write_record(out, at, slot, gone, past, np.uint64(turn * attributes), cell_attribute)
                    out[out_flags] |= _MINUS
                    records += 1
            for attribute in range(attributes):
                kept[turn * attributes + attribute] = flat[i * attributes + attribute]
            kept_labels[turn] = label
        predictions[i] = count_class(node, counts, leaf, label)
        slot = node["slot"]
        active = slot >= 0
        called = 0
        if anytime and node["parent"] != NO_NODE:
            if not active:  # the nodes above count it all the same
                slot = table[node["parent"]]["slot"]
            called = _count_above(table, leaf, number, delay)
            if multiple and number % multiple == 0:
                called += summon(table, leaf, number, delay)
        if slot >= 0:
            if predictor != MAJORITY:
                # A leaf without statistics of its own has nothing to predict from.
                order[progress[SENT], 0] = i
                order[progress[SENT], 1] = leaf if active and node["own"] else -1
                progress[SENT] += 1
            at = _write_record(out, at, slot, label, flat, np.uint64(i) * np.uint64(attributes), cell_attribute)
            records += 1
        if active:
            _count(node, most)
            called += arrive(node, number, delay)
        i += 1
        if not called:
            continue
        above = leaf
        while above != NO_NODE:
            if table[above]["due_at"] == number:
                table[above]["verdict"] = ASKED
                trials[due, 0], trials[due, 1] = records, above
                records = 0
                due += 1
            above = table[above]["parent"]
        if due > budget:
            stop = min(stop, i + delay)
        if len(trials) - due < len(table):  # no path is longer
            break
    return i, at, due


@njit()
def answer(table, labels, predictions, order, answered, predictor, found):
    """Take in predictions by naive Bayes.

    Parameters
    ----------
    table, labels, predictions, order, predictor
        As in ``advance``.
    answered : int
        Predictions taken in before.
    found : int32 array
        The classes predicted.
    """
    for bayes in found:
        i, leaf = order[answered, 0], order[answered, 1]
        answered += 1
        if leaf < 0:
            continue
        predictions[i] = choose(table[leaf], predictor, predictions[i], bayes, labels[i])
