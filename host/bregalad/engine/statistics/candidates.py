"""A slot's split attempt: its class counts and best candidates, as `policy.decide` takes them."""

import numpy as np

from ...geometry import NONE
from .bins import IGNORED
from .counting import HALVED, UNDERFLOW
from .gains import entropy_of, gain, join, reciprocals_of
from .state import ATTEMPTS, CELL, COUNTS, CURRENT, EXTENT, FIRST, FLAGS, GAIN, KIND, SINCE, VALUE, inlined, inner


@inner
def attempt(state, slot, cells, classes, all_gains, out):
    """Try a slot by the cells and classes in use; whether its counts were halved since the last time.

    Written to ``out``, int64, are the class counts, then the candidates, see ``policy.decide.Form``: with ``all_gains``
    one for every cell; if that is None, the best, second best and current attribute.
    """
    entries, width = state.entries, state.counts.shape[2]
    config, found, measure = state.config, state.found, state.measure
    for cell in range(cells):
        if not state.wanted[cell]:  # nor are the other cells of its attribute
            found[cell, CELL] = NONE
            continue
        gain(
            config,
            state.counts,
            entries[slot, EXTENT],
            np.uint64(slot),
            np.uint64(cell),
            classes,
            state.count_max,
            state.gain_half,
            found,
            state.scratch,
            entropy_of(measure),
            reciprocals_of(measure),
            measure,
        )
        if cell and not config[FIRST, cell] and config[KIND, cell] != IGNORED:
            join(config, found, cell, state.gain_half)
    for k in range(width):
        out[k] = entries[slot, COUNTS + k]
    used = np.int64(width)
    if all_gains is not None:
        for cell in range(cells):
            used = _put(found, np.int64(cell), out, used)
    else:
        best, second, current = _top(found, cells, entries[slot, CURRENT])
        for cell in (best, second, current):
            used = _put(found, cell, out, used)
    halved = entries[slot, FLAGS] & HALVED
    entries[slot, SINCE] = 0
    entries[slot, FLAGS] &= ~(HALVED | UNDERFLOW)
    state.events[ATTEMPTS] += 1
    return halved != 0


@inlined
def _top(found, cells, current_cell):
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
def _put(found, cell, out, used):
    """Write a cell's candidate; a cell of -1 where it has none, or ``cell`` is negative."""
    out[used], out[used + 1], out[used + 2] = -1, 0, 0
    if cell >= 0 and found[cell, CELL] != NONE:
        out[used], out[used + 1], out[used + 2] = found[cell, CELL], found[cell, VALUE], found[cell, GAIN]
    return used + 3
