"""Counters of a slot: count an instance, halve, forget."""

import numpy as np

from ...geometry import NONE
from ...protocol.reports import EntryFlag
from ...tree import edits
from .arithmetic import share_log
from .state import COUNTS, CURRENT, EXTENT, FLAGS, HALVINGS, LINK, PERIOD, SINCE, TERMS, N, inlined, inner

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
    """Forget a slot, except for its bin window."""
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


_CLEAR, _KEEP, _INNER = edits.CLEAR, edits.KEEP, edits.INNER


@inner
def reset(slots, slot):
    """Forget a slot, and let its bins cover all codes."""
    clear(slots, slot)
    whole, bins = 8, slots.shape[1]
    while bins > 1:
        bins >>= 1
        whole -= 1
    slots.lo[slot] = 0
    slots.shift[slot] = whole


@inner
def place(slots, edit):
    """Set a slot up as an edit says."""
    entries, lo, shift = slots.entries, slots.lo, slots.shift
    slot, cell, flags = edit[edits.SLOT], edit[edits.CELL], edit[edits.FLAGS]
    if flags & _KEEP and cell != NONE:
        lo[slot, cell] = edit[edits.LO]
        shift[slot, cell] = edit[edits.SHIFT] & 7
        return
    if not flags & _KEEP:
        clear(slots, slot)
        for each in range(lo.shape[1]):
            lo[slot, each] = lo[edit[edits.PARENT], each]
            shift[slot, each] = shift[edit[edits.PARENT], each]
        if cell != NONE:
            lo[slot, cell] = edit[edits.LO]
            shift[slot, cell] = edit[edits.SHIFT] & 7
    entries[slot, SINCE] = entries[slot, PERIOD] = entries[slot, TERMS] = 0
    entries[slot, LINK] = edit[edits.LINK]
    entries[slot, CURRENT] = edit[edits.CURRENT]
    role = INNER if flags & _INNER else 0
    entries[slot, FLAGS] = entries[slot, FLAGS] & ~INNER | role


@inner
def obey(slots, changes, used):
    """Carry out the first ``used`` of some edits, int64 array (n, EDIT)."""
    for at in range(used):
        if changes[at, edits.WHAT] == _CLEAR:
            reset(slots, changes[at, edits.SLOT])
        else:
            place(slots, changes[at])


_COLUMNS = {"n": N, "since": SINCE, "link": LINK, "current": CURRENT, "entry_flags": FLAGS, "period": PERIOD}


def read_entries(state, slots, entries):
    """Fill a structured array with the entries of slots; its fields are as of the board's report ENTRY."""
    rows = state.entries[slots]
    for name, column in _COLUMNS.items():
        entries[name] = rows[:, column]
    entries["class_counts"] = rows[:, COUNTS:]


def write_entries(state, slots, entries):
    """Set the entries of slots to those of such an array."""
    most, shape = state.count_max, state.counts.shape
    rows = np.zeros((len(slots), state.entries.shape[1]), np.int64)
    for name, column in _COLUMNS.items():
        rows[:, column] = entries[name]
    rows[:, N] &= most
    rows[:, SINCE] &= 0xFFFFFF
    rows[rows[:, LINK] >= shape[0], LINK] = NONE
    rows[rows[:, CURRENT] >= shape[3], CURRENT] = NONE
    rows[:, FLAGS] &= HALVED | UNDERFLOW | INNER
    rows[:, EXTENT], rows[:, COUNTS:] = shape[1], entries["class_counts"] & np.uint32(most)
    state.entries[slots] = rows
