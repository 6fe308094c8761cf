"""Learning over a stream to the board, compiled: where instances go, what is due, the records for it."""

import numpy as np

from ...compiled import njit
from ...engine.alternate_tests import contest, worth
from ...engine.arguments import BUSY, LENGTH, PENDING
from ...engine.drift import follow
from ...engine.tally import BEGUN, ENDS, INSTANCES
from ...geometry import AHEAD, NONE
from ...protocol.commands import LABEL_HIGH, RECORD_HEADER, RecordFlag
from ...tree.arrivals import MAJORITY, arrive, choose, count_class, summon
from ...tree.blocks import block_of, is_overdue
from ...tree.routing import GROUP, next_leaf, walk
from ...tree.table import NO_NODE, above
from ...tree.window import count_off, leaf_of

__all__ = ["ANSWERED", "LACKING", "SENT", "WAITING", "advance", "answer"]

# Elements of `progress`: rows of `waiting` in use; how many of them are done with; the records that the next
# instance takes, where there is no room for them.
SENT, ANSWERED, LACKING = range(3)
# A row of `waiting`: an instance, its leaf, -1 where nothing is to be done, what that predicts but for the board; bits.
WAITING = 4
_INSTANCE, _LEAF, _MAJORITY, _HOW = range(WAITING)
_REPORTED = 1  # the board will report a prediction
_CHOOSES = 2  # the leaf may predict that
_PREDICTS = 4  # and the tree what the leaf does
_COUNTS = 8  # whether the leaf is wrong is watched

# Arrays are passed one by one, not in a tuple: Numba counts references on every access to one, and
# in every call that takes them. An index that may be negative is tested for it.
_inlined = njit(inline="always")

_RECORD_HEAD = RECORD_HEADER.size
_MINUS, _TEST = int(RecordFlag.MINUS), int(RecordFlag.TEST)
_SLOT_AT, _LABEL_AT, _FLAGS_AT = map(RECORD_HEADER.offset, ("slot", "label", "flags"))


@_inlined
def _count(node, most):
    """Count an instance's arrival as the board does: what is full is halved before."""
    own = node["own"]
    node["own"] = (own >> 1 if own == most else own) + 1


@_inlined
def _write_record(out, at, slot, label, flags, codes, first_code, cell_attribute):
    """Write an instance's record; return where the next begins."""
    out[np.uint64(at + _SLOT_AT)] = slot & 0xFF
    out[np.uint64(at + _SLOT_AT + 1)] = slot >> 8
    out[np.uint64(at + _LABEL_AT)] = label & 0xFF
    out[np.uint64(at + _FLAGS_AT)] = label >> 8 << LABEL_HIGH | flags
    at += _RECORD_HEAD
    for cell in range(len(cell_attribute)):
        out[np.uint64(at + cell)] = codes[first_code + np.uint64(cell_attribute[cell])]
    return at + len(cell_attribute)


@_inlined
def _wait(waiting, progress, instance, leaf, majority, how):
    """Take down what is to be done with a prediction."""
    row = waiting[progress[SENT]]
    row[_INSTANCE], row[_LEAF], row[_MAJORITY], row[_HOW] = instance, leaf, majority, how
    progress[SENT] += 1


@njit(inner=True)
def _count_above(table, node, weight, alternates):
    """Count an arrival at the inner nodes above a leaf; whether any is due."""
    due = False
    while True:
        node = table[node]["parent"] if alternates is None else above(table, node)
        if node == NO_NODE:
            return due
        due |= arrive(table[node], weight)


@njit(inner=True)
def _reached(table, leaf, codes, at, alternates):
    """How many leaves an instance reaches."""
    leaves = 1
    while alternates is not None:
        leaf = next_leaf(table, leaf, codes, at)
        if not leaf:
            break
        leaves += 1
    return leaves


@njit()
def advance(
    table,
    counts,
    windows,
    codes,
    labels,
    predictions,
    weights,
    waiting,
    start,
    stop,
    predictor,
    anytime,
    alternates,
    multiple,
    rule,
    block,
    tally,
    most,
    progress,
    cell_attribute,
    out,
    base,
    past,
    kept,
    kept_labels,
    watch,
    rules,
    chances,
):
    """Route the instances ``start`` to ``stop``, up to the end of a block at which there is anything to be done.

    Parameters
    ----------
    table, counts, windows : arrays
        Of ``Nodes``.
    codes : uint8 array (n * attributes,), read-only
    labels, predictions : int32 array (n,)
        Predictions by majority class are written.
    weights : int32 array (n,) or None
        How often each is learnt; 0: it is predicted only. None: once each.
    waiting : int32 array (m, WAITING)
        What is to be done with every prediction that the board will report, in order; written. Empty where it
        reports none.
    start, stop : int
    predictor : MAJORITY, BAYES or ADAPTIVE
    anytime : bool
        Whether inner nodes count, too.
    alternates : int or None
        Of the style.
    multiple : int
        When the tree has learnt a multiple of it the inner nodes above are tried, too; 0: never.
    rule, block, tally
        As in `Arguments`; ``block`` and ``tally`` are written.
    most : int
        Instances that a slot counts before it halves.
    progress : int64 array
        By SENT, ANSWERED and LACKING.
    cell_attribute : int array (cells,)
        Attribute of every code of a record.
    out : uint8 array
        Records for the board are written.
    base, past, kept, kept_labels : arrays
        ``Nodes.base``; ``read``, ``codes`` and ``labels`` of ``Memory``, empty where nothing is forgotten.
    watch : Watch or None
    rules : Contest or None
    chances : Chances or None

    Returns
    -------
    position, at : int
        Next instance, bytes in ``out``.
    """
    attributes = len(codes) // len(labels)
    size = _RECORD_HEAD + len(cell_attribute)
    found, going = np.empty(GROUP, np.uint32), np.empty(GROUP, np.uint32)
    asks, forgets = predictor != MAJORITY, len(kept_labels)
    at = 0
    progress[LACKING] = 0
    seen = tally[INSTANCES] - start
    until, due = tally[ENDS] - seen, block[BUSY]
    now = block_of(rule, tally[BEGUN])
    i = first = walked = start
    while i < stop:
        if i == until:
            # Errors that only the board knows of may come to a decision.
            if due or watch is not None and progress[ANSWERED] < progress[SENT]:
                break
            until += block[LENGTH]  # the tree is as it was
            now = block_of(rule, seen + i)
        if i >= walked:
            first, walked = i, min(i + GROUP, stop)
            walk(table, codes, attributes, first, found[: walked - first], going)
        leaf = found[np.uint64(i - first)]
        here, label = i * attributes, labels[i]
        weight = np.int64(1) if weights is None else np.int64(weights[i])
        number = seen + i + 1
        needed = _reached(table, leaf, codes, here, alternates) * max(np.int64(1), weight)
        turn, old = 0, np.uint32(0)
        if forgets:
            turn = (number - 1) % forgets
            if number > forgets:
                before = turn * attributes
                old = leaf_of(table, past, before)
                needed += _reached(table, old, past, before, alternates)
        if at + needed * size > len(out) or asks and progress[SENT] + needed > len(waiting):
            progress[LACKING] = needed
            break
        if forgets:
            if number > forgets:
                gone_label = kept_labels[turn]
                if chances is not None:
                    chances.totals[gone_label] -= 1
                while True:
                    slot = count_off(table, counts, base, old, number - forgets, gone_label)
                    if slot != NONE:
                        if asks:
                            _wait(waiting, progress, i, -1, 0, _REPORTED)
                        at = _write_record(
                            out, at, slot, gone_label, _MINUS, past, np.uint64(turn * attributes), cell_attribute
                        )
                    if alternates is None:
                        break
                    old = next_leaf(table, old, past, turn * attributes)
                    if not old:
                        break
            for attribute in range(attributes):
                kept[turn * attributes + attribute] = codes[here + attribute]
            kept_labels[turn] = label
        if chances is not None:
            chances.totals[label] += 1
        own_right = right = 0.0
        node = np.int64(leaf)  # then the leaves of the alternates, too
        while True:
            row = table[node]
            majority = row["majority"]
            if chances is not None:
                right = worth(chances, counts, node, label)
            if weight:
                majority = count_class(row, counts, node, label, weight)
            own = node == leaf
            if own:
                predictions[i] = majority
            slot = np.int64(row["slot"])
            active = slot >= 0
            chooses = asks and active and row["own"] != 0  # else there is nothing to predict from
            if anytime:
                over = np.int64(row["parent"]) if alternates is None else np.int64(above(table, node))
                if over != NO_NODE:
                    if not active:  # the nodes above count it all the same
                        slot = np.int64(table[over]["slot"])
                    if weight:
                        due |= _count_above(table, node, weight, alternates)
                    if multiple and number % multiple == 0:
                        due |= summon(table, node)
            how = 0
            if slot >= 0 and (weight or chooses):
                if asks:
                    how = _REPORTED | _CHOOSES * chooses | _PREDICTS * own | _COUNTS * (weight > 0)
                    place = node if chooses else np.int64(-1)
                    if watch is not None:
                        place = node
                    _wait(waiting, progress, i, place, majority, how)
                for again in range(max(np.int64(1), weight)):
                    if again and asks:
                        _wait(waiting, progress, i, -1, 0, _REPORTED)
                    flags = 0 if weight else _TEST
                    at = _write_record(out, at, slot, label, flags, codes, np.uint64(here), cell_attribute)
            if active and weight:
                for _ in range(weight):
                    _count(row, most)
                due |= arrive(row, weight)
                if own and is_overdue(row, rule, now):
                    until = min(until, i + 1 + AHEAD)
            if rules is not None:
                if chances is None:
                    right = 1.0 if majority == label else 0.0
                if own:
                    own_right = right
                else:
                    due |= PENDING * (contest(table, windows, node, right - own_right, rules, now) > 0)
            if watch is not None:
                if how == 0 and weight:
                    if asks and progress[ANSWERED] < progress[SENT]:
                        _wait(waiting, progress, i, node, majority, _COUNTS)
                    else:
                        due |= PENDING * (follow(table, windows, node, majority != label, watch, now) > 0)
            if alternates is None:
                break
            node = np.int64(next_leaf(table, node, codes, here))
            if not node:
                break
        i += 1
    tally[INSTANCES] += i - start
    tally[BEGUN], tally[ENDS], block[BUSY] = now.begun, seen + until, due
    return i, at


@njit()
def answer(
    table, windows, labels, predictions, weights, waiting, progress, predictor, found, watch, rule, block, tally
):
    """Take in predictions by naive Bayes.

    Parameters
    ----------
    table, windows, labels, predictions, weights, waiting, progress, predictor, watch, rule, block, tally
        As in ``advance``. Where errors are watched, all are of the block that is being learnt.
    found : int32 array
        The classes predicted.
    """
    taken = 0
    now = block_of(rule, tally[BEGUN])
    while progress[ANSWERED] < progress[SENT]:
        row = waiting[progress[ANSWERED]]
        i, leaf, predicted, how = row[_INSTANCE], np.int64(row[_LEAF]), row[_MAJORITY], row[_HOW]
        if how & _REPORTED:
            if taken == len(found):
                return
            bayes = found[taken]
            taken += 1
            if how & _CHOOSES:
                weight = np.int64(1) if weights is None else np.int64(weights[i])
                predicted = choose(table[leaf], predictor, predicted, bayes, labels[i], weight)
                if how & _PREDICTS:
                    predictions[i] = predicted
        progress[ANSWERED] += 1
        if watch is not None:
            if leaf >= 0 and how & _COUNTS:
                block[BUSY] |= PENDING * (follow(table, windows, leaf, predicted != labels[i], watch, now) > 0)
