"""Learning on a board in this process: no link, so no report is ever late.

What goes over a link as records, reports, commands and statistics is done here in one compiled
loop: an instance is routed, predicted and counted in one walk, an attempt is decided at once, and a
leaf that splits gets its children. Only what changes inner nodes, or is short of room, returns.
"""

import numpy as np

from ..compiled import njit
from ..policy.decide import KEEP, SPLIT, TIE
from ..tree.arrivals import ADAPTIVE
from ..tree.blocks import FAR, busy, length_of, next_of
from ..tree.routing import child_of
from ..tree.table import LEAF, ROWS
from ..tree.window import date
from .arguments import BUSY, COUNTS, LEFT, LENGTH, PENDING, PHASE, TRIED, TRIES
from .decisions import change_alternate, split, try_due
from .event_counts import BEGUN, ENDS, INSTANCES, SPLITS, TIES
from .history import SPLIT as DIVIDED
from .history import record_event
from .instances import learn_until_due
from .statistics.bayes import class_shares_of_one, classify
from .statistics.bins import gather, locate, mixture
from .statistics.state import BEATS, NODES, PREDICTED


@njit(nogil=True)
def learn(given, start, stop, predictor, anytime, alternates, watch, forgets, rules, chances):  # noqa: C901 (compiled)
    """Learn instances from ``start`` until ``stop``, or until a decision takes effect that it leaves; the next
    instance.

    The predictor is BAYES, ADAPTIVE, or None for the majority class: what is None, Numba compiles nothing for. Anytime
    and alternates are an int or None, of the style; watch, rules and chances a Watch, AlternateTest and Chances or
    None, the last of trees whose rivals are tested without all labels; forgets is an int if there is a memory.
    """
    work = given.work
    tree, plan, block, event_counts = work.tree, work.plan, work.block, work.event_counts
    table, room, rule = tree.table, tree.room, plan.rule
    seen = event_counts[INSTANCES] - start
    i = first = walked = start
    while True:
        if seen + i == event_counts[ENDS]:
            walked = i  # beyond, the tree may have changed
            if block[PHASE] == COUNTS:
                block[PHASE] = TRIES
            node = np.int64(-1)
            if block[BUSY] & PENDING:
                node = next_of(table, room[ROWS], event_counts[BEGUN] if block[PHASE] == TRIES else FAR)
            if node >= 0:
                row = table[node]
                if watch is not None and change_alternate(work, node, seen + i):
                    continue
                tie = row["decision"] == TIE
                if (tie or row["decision"] == SPLIT) and room[ROWS] > tree.style.most_rows:
                    row["decision"] = KEEP
                    continue
                if not (tie or row["decision"] == SPLIT) or row["kind"] != LEAF:
                    break
                if not split(given.state, work, node, anytime):
                    break
                if forgets is not None:
                    date(table, node, seen + i, tree.style.inherit)
                event_counts[SPLITS] += 1
                event_counts[TIES] += tie
                record_event(tree, DIVIDED, node, seen + i)
                continue
            if block[PHASE] == TRIES and block[BUSY]:
                decided = try_due(given.state, work, seen + i, given.words)
                if alternates is not None:  # there may be decisions that no attempt has come to
                    decided |= busy(table, room[ROWS])
                block[BUSY] = PENDING * decided
                if rule.fixed == 1 and block[BUSY]:
                    block[PHASE] = TRIED
                    continue
            if block[PHASE] == TRIED:
                block[BUSY] = 0
            event_counts[BEGUN], block[PHASE] = event_counts[ENDS], COUNTS
            block[LENGTH] = length_of(rule, table, room[ROWS])
            event_counts[ENDS] += block[LENGTH]
        if i >= stop:
            break
        # A function of its own: a loop that uses the state counts references of all its arrays.
        weights = given.weights
        i, first, walked = learn_until_due(
            work, weights, i, stop, seen, first, walked, predictor, anytime, alternates, watch, forgets, rules, chances
        )
    block[LEFT] = seen + i == event_counts[ENDS]
    event_counts[INSTANCES] += i - start
    return i


@njit()
def predict(given, predictor):
    """What the leaf of the first instance predicts; naive Bayes as ``bayes.predict`` asks for it.

    The predictor is as in `learn`. Returns leaf, label, and whether it was naive Bayes; then ``state.scores`` has the
    classes' scores.
    """
    work = given.work
    slots, plan, table, codes = work.slots, work.plan, work.tree.table, work.stream.codes
    node = np.uint32(0)
    while table[node]["kind"] != LEAF:
        node = child_of(table[node], codes, 0)
    row = table[node]
    majority = np.int64(row["majority"])
    if predictor is None:
        return np.int64(node), majority, False
    if row["slot"] < 0 or row["observed"] <= 0 or predictor == ADAPTIVE and row["right"] > 0:
        return np.int64(node), majority, False
    where, slot = plan.form.attribute, row["slot"]
    mix = mixture(slots.config, len(where))
    gather(mix, slots.shape, codes, 0, where, work.codes, work.places)
    locate(slots, mix, np.uint32(slot), work.codes, work.places)
    label = classify(slots, mix, plan.neighbours, plan.classes, np.int64(slot), work.places)
    work.events[PREDICTED] += 1
    work.events[NODES] += 1
    work.events[BEATS] += (len(where) + slots.lanes - 1) // slots.lanes
    return np.int64(node), np.int64(label), True


@njit()
def predict_shares(given, predictor, shares):
    """Write the class shares of the first instance, as ``predict_proba`` tells them, to a float64 array (classes,).

    In one call: two take longer than all they do.
    """
    leaf, label, bayes = predict(given, predictor)
    if bayes:
        class_shares_of_one(given.work.slots.scores, shares)
        return
    counts, total = given.work.tree.matrices[0], 0
    for k in range(len(shares)):
        total += counts[leaf, k]
    if not total:
        shares[:] = 0.0
        shares[label] = 1.0
        return
    for k in range(len(shares)):
        shares[k] = counts[leaf, k] / total
