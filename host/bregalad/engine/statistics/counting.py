"""Counters of a slot: count an instance, halve, forget."""

import numpy as np

from ...geometry import NONE
from ...protocol.reports import EntryFlag
from .arithmetic import share_log
from .state import COUNTS, CURRENT, EXTENT, FLAGS, HALVINGS, LINK, SINCE, TERMS, N, inlined, inner

HALVED, UNDERFLOW, INNER = map(int, (EntryFlag.HALVED, EntryFlag.UNDERFLOW, EntryFlag.INNER))


@inlined
def add(slots, weight, slot, label, places, rows):
    """Count an instance ``weight`` times in a slot that has room for that; beats in which a counter was full."""
    entries, count_max = slots.entries, slots.count_max
    slot = np.uint64(slot)
    row = np.uint64(COUNTS + label)
    entries[slot, N] += weight
    entries[slot, SINCE] = (entries[slot, SINCE] + weight) & 0xFFFFFF
    entries[slot, row] = (entries[slot, row] + weight) & count_max
    return count_places(slots, count_max, weight, slot, label, places, rows)


@inlined
def take_off(entries, slot, label):
    """Forget an instance of a class in a slot's entry."""
    slot, row = np.uint64(slot), np.uint64(COUNTS + label)
    if entries[slot, row] and entries[slot, N]:
        entries[slot, N] -= 1
        entries[slot, row] -= 1
    else:
        entries[slot, FLAGS] |= UNDERFLOW


@inlined
def count_places(slots, limit, step, slot, label, places, rows):
    """Add ``step`` to the counters that are not at ``limit``; beats with one that is.

    ``places`` and ``rows`` as `locate` and `gather` give them.
    """
    entries, counters, shares, lanes = slots.entries, slots.counters, slots.shares, slots.lanes
    slot = np.uint64(slot)
    if rows > entries[slot, EXTENT]:
        entries[slot, EXTENT] = rows
    keep = entries[slot, TERMS]
    first, row = label * slots.shape[3], row_of(counters, shares)
    clamped, stuck_beat = 0, -1
    for cell in range(len(places)):
        place = places[cell]
        if place >= 0:
            at = np.uint64(first + place)
            old = counters[slot, at]
            if old != limit:
                counters[slot, at] = old + step
                if keep:
                    shares[slot, at + row] = share_log(old + step, slots.logs, slots.bayes_table)
            elif cell // lanes != stuck_beat:
                stuck_beat = cell // lanes
                clamped += 1
    return clamped


@inner
def halve(entries, shape, counters, events, slot):
    """Halve all counters of a slot."""
    entries[slot, N] >>= 1
    for k in range(shape[2]):
        entries[slot, COUNTS + k] >>= 1
    entries[slot, FLAGS] |= HALVED
    entries[slot, TERMS] = 0
    for at in range(used(entries, shape, slot)):
        counters[slot, at] >>= 1
    events[HALVINGS] += 1


@inlined
def row_of(counters, shares):
    """Where a slot's shares begin that there are counters of: before and behind lies a bin that holds nothing."""
    return np.uint64((shares.shape[1] - counters.shape[1]) // 2)


@inner
def restate(slots, slot):
    """Work out the terms of a slot's counters, to be kept up to date from now on."""
    counters, shares = slots.counters, slots.shares
    row = row_of(counters, shares)
    for at in range(used(slots.entries, slots.shape, slot)):
        shares[slot, np.uint64(at) + row] = share_log(counters[slot, at], slots.logs, slots.bayes_table)
    slots.entries[slot, TERMS] = 1


@inner
def clear(slots, slot):
    """Forget a slot, except for its zoom."""
    entries, counters, shares = slots.entries, slots.counters, slots.shares
    row = row_of(counters, shares)
    for at in range(used(entries, slots.shape, slot)):
        counters[slot, at] = 0
        if len(shares):
            shares[slot, np.uint64(at) + row] = 0  # log2 of 1
    entries[slot] = 0
    entries[slot, LINK] = entries[slot, CURRENT] = NONE


@inner
def used(entries, shape, slot):
    """From where on a slot's counters are 0."""
    return entries[slot, EXTENT] * shape[2] * shape[3]
