"""Slots set up by edits, read and written."""

import numpy as np

from ...geometry import NONE
from ...tree import edits
from .counting import HALVED, INNER, UNDERFLOW, clear
from .state import COUNTS, CURRENT, EXTENT, FLAGS, LINK, PERIOD, SINCE, TERMS, N, inner

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
