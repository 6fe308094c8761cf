"""Trials: a slot's best candidates, reported."""

import numpy as np

from ...geometry import NONE
from ...protocol.reports import CANDIDATE, Kind, SuggestionFlag
from ...protocol.words import putter
from .counting import HALVED, UNDERFLOW
from .gains import find, left_count
from .reports import head
from .state import (
    ALL,
    CELL,
    CELLS,
    CLASSES,
    COUNTS,
    CURRENT,
    EXTENT,
    FLAGS,
    GAIN,
    SINCE,
    TRIALS,
    USED,
    VALUE,
    N,
    compiled,
    inlined,
    inner,
)

__all__ = ["ask", "trial"]

SUGGESTION, GAINS = int(Kind.SUGGESTION), int(Kind.GAINS)
REQUESTED = int(SuggestionFlag.REQUESTED)  # by a command, not by the grace period
CANDIDATE_WORDS, fill_candidate = CANDIDATE.size // 4, putter(CANDIDATE, "cell", "value", "valid", "gain")


@compiled
def ask(state, slot):
    """Try a slot because a command asks for it."""
    trial(state, slot, np.int64(REQUESTED))


@inner
def trial(state, slot, requested):
    all_gains = state.registers[ALL]
    kind = np.int64(GAINS) if all_gains else np.int64(SUGGESTION)
    head(state.out, state.progress, kind, state.entries[slot, FLAGS] | requested, slot)
    state.progress[USED] = put_trial(
        state.entries,
        state.counts,
        state.config,
        state.wanted,
        state.found,
        state.scratch,
        state.measure,
        slot,
        state.registers[CELLS],
        min(state.registers[CLASSES], state.counts.shape[2]),
        state.count_max,
        state.gain_half,
        all_gains,
        state.out,
        state.progress[USED],
    )
    state.entries[slot, SINCE] = 0
    state.entries[slot, FLAGS] &= ~(HALVED | UNDERFLOW)
    state.events[TRIALS] += 1


@inlined
def put_trial(
    entries,
    counts,
    config,
    wanted,
    found,
    scratch,
    measure,
    slot,
    cells,
    classes,
    count_max,
    gain_half,
    all_gains,
    out,
    used,
):
    """Compute a slot's gains and write what its report says of them; the words used then.

    Array by array, as calls and loops with the whole state would count references of all.
    """
    find(
        config,
        wanted,
        counts,
        entries[slot, EXTENT],
        slot,
        cells,
        classes,
        count_max,
        gain_half,
        found,
        scratch,
        measure,
    )
    width = counts.shape[2]
    out[used] = entries[slot, N]
    used += 1
    for k in range(width):
        out[used + k] = entries[slot, COUNTS + k]
    used += width
    if all_gains:
        for cell in range(cells):
            used = put_candidate(found, np.int64(cell), out, np.int64(used))
        return used
    best, second, current = top(found, cells, entries[slot, CURRENT])
    for cell in (best, second, current):
        used = put_candidate(found, np.int64(cell), out, np.int64(used))
    for k in range(width):
        known = best >= 0 and k < classes
        out[used + k] = left_count(config, counts, slot, found, np.int64(best), k, count_max) if known else 0
    return used + width


@inlined
def top(found, cells, current_cell):
    """Cells of the best, second best and current attribute, -1 for none; ties to the lower."""
    best = second = current = np.int64(-1)
    for cell in range(cells):
        if found[cell, CELL] == NONE:
            continue
        if found[cell, CELL] == current_cell:
            current = cell
        if best < 0 or found[cell, GAIN] > found[best, GAIN]:
            best, second = cell, best
        elif second < 0 or found[cell, GAIN] > found[second, GAIN]:
            second = cell
    return best, second, current


@inner
def put_candidate(found, cell, out, used):
    """Write a cell's candidate, an empty one if it has none or ``cell`` is negative."""
    valid = cell >= 0 and found[cell, CELL] != NONE
    if valid:
        fill_candidate(out, used, (found[cell, CELL], found[cell, VALUE], np.int64(1), found[cell, GAIN]))
    else:
        fill_candidate(out, used, (np.int64(NONE), np.int64(0), np.int64(0), np.int64(0)))
    return used + CANDIDATE_WORDS
