"""Learning on a board in this process: no link, so no report is ever late.

What goes over a link as records, reports, commands and statistics is done here in one compiled
loop: an instance is routed, predicted and counted in one walk, a trial is judged at once, and a
leaf that splits gets its children. Only what changes inner nodes, or is short of room, returns.
"""

import numpy as np

from ...boards import kernel
from ...compiled import njit
from ..policy.judge import SPLIT, TIE
from ..structure.blocks import FAR, busy, length_of, next_of
from ..structure.memory import date
from ..structure.router import ADAPTIVE
from ..structure.table import LEAF
from ..structure.walk import GROUP, child_of
from .decisions import change_alternate, split, try_due
from .desk import BUSY, COUNTS, END, LEFT, PENDING, PHASE, TRIED, TRIES
from .instances import learn_until_due
from .tally import BEGUN, INSTANCES, SPLITS, TIES

__all__ = ["learn", "predict"]


@njit(error_model="numpy", nogil=True)
def learn(desk, start, stop, predictor, anytime, alternates, watch, forgets, rules, chances):
    """Learn instances until ``stop``, or until a decision takes effect that it leaves.

    Parameters
    ----------
    desk : Desk
    start, stop : int
    predictor : BAYES, ADAPTIVE or None
        The last for the majority class: what is None, Numba compiles nothing for.
    anytime, alternates : int or None
        Of the style.
    watch : Watch or None
    forgets : int or None
        Whether there is a memory.
    rules : Contest or None
    chances : Chances or None
        Of trees whose rivals are tested without all labels.

    Returns
    -------
    int
        The next instance.
    """
    state, table, room, style = desk.state, desk.table, desk.room, desk.style
    form, options, classes = desk.form, desk.options, desk.classes
    first_cell, stack, slot_node = desk.first_cell, desk.stack, desk.slot_node
    multiple, rule, block, tally = desk.multiple, desk.rule, desk.block, desk.tally
    codes, labels, predictions = desk.codes, desk.labels, desk.predictions
    counts, base, gains, windows = desk.matrices
    where = form.attribute
    own_codes, places = state.codes[: len(where)], state.places[: len(where)]
    group, going = np.empty(GROUP, np.uint32), np.empty(GROUP, np.uint32)
    seen = tally[INSTANCES] - start
    i = first = walked = start
    while True:
        if seen + i == block[END]:
            walked = i  # beyond, the tree may have changed
            if block[PHASE] == COUNTS:
                block[PHASE] = TRIES
            node = np.int64(-1)
            if block[BUSY] & PENDING:
                node = next_of(table, room[0], tally[BEGUN] if block[PHASE] == TRIES else FAR)
            if node >= 0:
                row = table[node]
                if watch is not None and change_alternate(
                    state,
                    table,
                    (counts, base, gains, windows),
                    room,
                    desk.blank,
                    style,
                    first_cell,
                    stack,
                    slot_node,
                    desk.written,
                    desk.read,
                    tally,
                    node,
                    seen + i,
                ):
                    continue
                tie = row["verdict"] == TIE
                if not (tie or row["verdict"] == SPLIT) or row["kind"] != LEAF:
                    break
                if not split(
                    state,
                    table,
                    (counts, base, gains, windows),
                    room,
                    desk.blank,
                    style,
                    first_cell,
                    stack,
                    slot_node,
                    desk.written,
                    desk.read,
                    form,
                    node,
                    anytime,
                ):
                    break
                if forgets is not None:
                    date(table, node, seen + i, style.inherit)
                tally[SPLITS] += 1
                tally[TIES] += tie
                continue
            if block[PHASE] == TRIES and block[BUSY]:
                decided = try_due(state, table, base, gains, room[0], form, options, classes, seen + i, tally)
                if alternates is not None:  # there may be decisions that no trial has come to
                    decided |= busy(table, room[0])
                block[BUSY] = PENDING * decided
                if rule.fixed == 1 and block[BUSY]:
                    block[PHASE] = TRIED
                    continue
            if block[PHASE] == TRIED:
                block[BUSY] = 0
            tally[BEGUN], block[PHASE] = block[END], COUNTS
            block[END] += length_of(rule, table, room[0])
        if i >= stop:
            break
        # A function of its own: a loop that uses the state counts references of all its arrays.
        i, first, walked = learn_until_due(
            state.entries,
            state.counts,
            state.counters,
            state.shares,
            state.lo,
            state.shift,
            state.config,
            state.events,
            state.scores,
            state.logs,
            state.bayes_table,
            own_codes,
            places,
            state.count_max,
            state.lanes,
            table,
            counts,
            windows,
            base,
            desk.past,
            desk.kept,
            desk.kept_labels,
            codes,
            where,
            labels,
            predictions,
            desk.weights,
            i,
            stop,
            seen,
            predictor,
            anytime,
            alternates,
            watch,
            forgets,
            rules,
            chances,
            multiple,
            rule,
            block,
            tally,
            state.registers[kernel.NEIGHBOURS],
            classes,
            len(first_cell),
            group,
            going,
            first,
            walked,
        )
    block[LEFT] = seen + i == block[END]
    tally[INSTANCES] += i - start
    return i


@njit(error_model="numpy")
def predict(desk, predictor):
    """What the leaf of the first instance predicts; naive Bayes as ``bayes.predict`` asks for it.

    Parameters
    ----------
    desk : Desk
    predictor : BAYES, ADAPTIVE or None
        As in `learn`.

    Returns
    -------
    leaf, label : int
    bayes : bool
        Whether it was naive Bayes; then ``state.scores`` has the classes' scores.
    """
    table, codes = desk.table, desk.codes
    node = np.uint32(0)
    while table[node]["kind"] != LEAF:
        node = child_of(table[node], codes, 0)
    row = table[node]
    majority = np.int64(row["majority"])
    if predictor is None:
        return np.int64(node), majority, False
    if row["slot"] < 0 or row["own"] <= 0 or predictor == ADAPTIVE and row["right"] > 0:
        return np.int64(node), majority, False
    state, where = desk.state, desk.form.attribute
    own_codes, places = state.codes[: len(where)], state.places[: len(where)]
    mix, shape, slot = kernel.mixture(state.config, len(where)), state.counts.shape, row["slot"]
    kernel.gather(mix, shape, codes, 0, where, own_codes, places)
    kernel.locate(state.config, state.lo, state.shift, mix, shape, np.uint32(slot), own_codes, places)
    label = kernel.classify(
        state.entries,
        shape,
        state.counters,
        state.shares,
        state.config,
        mix,
        state.registers[kernel.NEIGHBOURS],
        desk.classes,
        state.scores,
        state.logs,
        state.bayes_table,
        np.int64(slot),
        places,
    )
    state.events[kernel.PREDICTED] += 1
    state.events[kernel.NODES] += 1
    state.events[kernel.BEATS] += (len(where) + state.lanes - 1) // state.lanes
    return np.int64(node), np.int64(label), True
