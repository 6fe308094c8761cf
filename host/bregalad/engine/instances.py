"""Instances of a board in this process: forgotten, routed, predicted and counted in one walk."""

import numpy as np

from ..geometry import NONE
from ..tree.arrivals import arrive, choose, count_class, summon
from ..tree.blocks import block_of
from ..tree.routing import GROUP, leaf_below, next_leaf, walk
from ..tree.table import NO_NODE, above
from ..tree.window import count_off
from .alternate_tests import test_alternate, worth
from .arguments import BUSY, LENGTH, PENDING
from .drift import follow
from .event_counts import BEGUN, ENDS
from .statistics.bayes import classify, only_class
from .statistics.bins import gather, locate, mixture
from .statistics.counting import add, count_places, halve, take_off
from .statistics.state import BEATS, CLAMPED, LINK, NODES, PREDICTED, RECORDS, N, inner


@inner
def _forget(slots, cells, mix, table, counts, inherited, past, at, label, number):
    """Forget an instance; how many records, nodes and beats that were at 0 it takes.

    Its codes begin at ``at`` in ``past``, uint8 (n,), read-only; ``cells`` are int arrays (cells,): attributes, and the
    state's codes and places. ``number`` instances the tree had learnt, this one included.
    """
    where, own_codes, places = cells
    records = nodes = clamped = 0
    rows = gather(mix, slots.shape, past, at, where, own_codes, places)
    leaf = leaf_below(table, np.uint32(0), past, at)
    while True:
        slot = count_off(table, counts, inherited, leaf, number, label)
        records += slot != NONE
        while slot != NONE:
            locate(slots, mix, slot, own_codes, places)
            take_off(slots.entries, slot, label)
            clamped += count_places(slots, 0, -1, slot, label, places, rows)
            nodes += 1
            slot = np.int64(slots.entries[slot, LINK])
        leaf = next_leaf(table, leaf, past, at)
        if not leaf:
            return records, nodes, clamped


@inner
def learn_until_due(  # noqa: C901 (compiled: each part would be a call per instance)
    work, weights, start, stop, seen, first, walked, predictor, anytime, alternates, watch, forgets, rules, chances
):
    """Learn instances until ``stop``, or the end of a block at which there is anything to be done.

    ``work.found`` has the leaves of the instances ``first`` to ``walked``, and is written; ``seen`` were learnt before
    the first of the stream; others are as in ``learn.learn``. Returns the next instance, and ``first`` and ``walked``
    then.
    """
    slots, events, own_codes, places, found, going, tree, memory, stream, plan, block, event_counts = work
    table, (counts, inherited, _, windows, _) = tree.table, tree.matrices
    codes, labels, predictions = stream
    past, kept, kept_labels = memory
    where, attributes, rule = plan.form.attribute, plan.form.attributes, plan.rule
    cells = where, own_codes, places
    entries, shape = slots.entries, slots.shape
    mix = mixture(slots.config, len(where))
    records = nodes = clamped = 0
    until, due = event_counts[ENDS] - seen, block[BUSY]
    now = block_of(rule, event_counts[BEGUN])
    i = start
    while i < stop:
        if i == until:
            if due:
                break
            until += block[LENGTH]  # the tree is as it was
            now = block_of(rule, seen + i)
        at = i * attributes
        label = labels[i]
        number = seen + i + 1
        if forgets is not None:
            turn = (number - 1) % len(kept_labels)
            if number > len(kept_labels):
                old = turn * attributes, kept_labels[turn], number - len(kept_labels)
                taken, passed, stuck = _forget(slots, cells, mix, table, counts, inherited, past, *old)
                records, nodes, clamped = records + taken, nodes + passed, clamped + stuck
                if chances is not None:
                    chances.totals[kept_labels[turn]] -= 1
            for attribute in range(attributes):
                kept[turn * attributes + attribute] = codes[at + attribute]
            kept_labels[turn] = label
        if chances is not None:
            chances.totals[label] += 1
        rows = gather(mix, shape, codes, at, where, own_codes, places)
        if i >= walked:
            first, walked = i, min(i + GROUP, stop)
            walk(table, codes, attributes, first, found[: walked - first], going)
        leaf = found[np.uint64(i - first)]
        row = table[leaf]
        weight = np.int64(1) if weights is None else np.int64(weights[i])
        own_right = right = 0.0
        reached = leaf  # then the leaves of the alternates, too
        while True:
            if chances is not None:
                right = worth(chances, counts, np.int64(reached), label)
            if weights is None:
                majority = count_class(row, counts, reached, label)
            else:
                majority = row["majority"]
                if weight:
                    count_class(row, counts, reached, label, weight)
            predicted = majority
            active = row["slot"] >= 0
            counting = active
            node = reached
            while True:
                if counting:
                    slot = np.uint32(row["slot"])
                    locate(slots, mix, slot, own_codes, places)
                    if predictor is not None and (anytime is None or node == reached) and row["observed"]:
                        bayes = only_class(entries, plan.classes, slot)
                        if bayes < 0:
                            bayes = classify(slots, mix, plan.neighbours, plan.classes, np.int64(slot), places)
                        predicted = choose(row, predictor, majority, bayes, label, weight)
                    left = weight
                    while left:
                        # What is full is halved before it counts further: near that, by one after the other.
                        step = left if entries[slot, N] + left <= slots.count_max else np.int64(1)
                        if entries[slot, N] == slots.count_max:
                            halve(entries, shape, slots.counters, events, np.int64(slot))
                        clamped += add(slots, step, slot, label, places, rows)
                        left -= step
                    nodes += 1
                    if weight:
                        due |= arrive(row, weight)
                        if anytime is None or node == reached:
                            row["observed"] = entries[slot, N]
                if anytime is None:  # inner nodes count nothing
                    break
                over = row["parent"] if alternates is None else above(table, node)
                if over == NO_NODE:
                    break
                node = np.uint32(over)
                row = table[node]
                counting = True
            if anytime is not None:
                if plan.multiple and number % plan.multiple == 0:
                    due |= summon(table, reached)
                active |= node != reached
            records += active
            if reached == leaf:
                predictions[i] = predicted
            if rules is not None:
                if chances is None:
                    right = 1.0 if majority == label else 0.0
                if reached == leaf:
                    own_right = right
                else:
                    due |= PENDING * (
                        test_alternate(table, windows, np.int64(reached), right - own_right, rules, now) > 0
                    )
            if watch is not None and weight:
                due |= PENDING * (follow(table, windows, np.int64(reached), predicted != label, watch, now) > 0)
            if alternates is None:
                break
            reached = next_leaf(table, reached, codes, at)
            if not reached:
                break
            row = table[reached]
        i += 1
    events[RECORDS] += records
    events[NODES] += nodes
    events[BEATS] += nodes * ((len(where) + slots.lanes - 1) // slots.lanes)
    events[CLAMPED] += clamped
    if predictor is not None:
        events[PREDICTED] += records
    event_counts[BEGUN], event_counts[ENDS], block[BUSY] = now.begun, seen + until, due
    return i, first, walked
