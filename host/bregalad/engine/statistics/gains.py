"""Gains of a slot's cells."""

import numpy as np

from ...compiled import overload
from ...complete import complete
from ...criteria import CRITERIA, criterion_of
from ...geometry import GAIN_FRACTION, NONE
from .arithmetic import gini, kearns_mansour, wrap, xlog2x
from .bins import IGNORED, MULTIWAY, NUMERIC
from .state import BASE, CELL, FIRST, GAIN, KIND, OTHER, VALUE, inlined, inner

# A measure is what a criterion looks up, in a tuple after one of as many zeros as its number says: Numba
# takes tuples of other lengths for other types, and so compiles for each criterion what it needs.


def measure_of(criterion, *tables):
    """The measure of a criterion that looks up these arrays."""
    return ((0,) * criterion.number, *tables)


# n times the impurity of a side's counts, by criterion.


@inner
def scaled_entropy(counts, classes, count_max, tables):
    n = parts = 0
    for k in range(classes):
        n += counts[k]
        parts += xlog2x(counts[k], tables)
    return xlog2x(n & count_max, tables) - parts


@inner
def scaled_gini(counts, classes, count_max, tables):
    n = squares = 0
    for k in range(classes):
        n += counts[k]
        squares += counts[k] * counts[k]
    return gini(n & count_max, squares, count_max, tables)


@inner
def scaled_kearns_mansour(counts, classes, count_max, tables):
    return kearns_mansour(counts[0], counts[1], tables) if classes == 2 else 0


@inner
def scaled_classification_error(counts, classes, count_max, tables):
    n = most = 0
    for k in range(classes):
        n += counts[k]
        most = max(most, counts[k])
    return max(0, (n & count_max) - most) << GAIN_FRACTION


_SCALED = {
    criterion_of(name).number: function
    for name, function in complete(
        CRITERIA,
        {
            "information_gain": scaled_entropy,
            "gini": scaled_gini,
            "kearns_mansour": scaled_kearns_mansour,
            "classification_error": scaled_classification_error,
        },
        __file__,
    ).items()
}


def impurity(counts, classes, count_max, measure):
    """n times the impurity of the counts; for compiled code."""


@overload(impurity, inline="always")
def _choose(counts, classes, count_max, measure):
    function = _SCALED[len(measure.types[0])]
    return lambda counts, classes, count_max, measure: function(counts, classes, count_max, measure[1:])


# Tables of those that loops below are written for, else None, by which Numba leaves these out.


def entropy_of(measure):
    """x log2 x of small x, base and slope that log2 interpolates; for compiled code."""


def reciprocals_of(measure):
    """Base and slope, for Gini's; for compiled code."""


def _only(name):
    number = criterion_of(name).number

    def choose(measure):
        if len(measure.types[0]) == number:
            return lambda measure: measure[1:]
        return lambda measure: None

    return choose


overload(entropy_of, inline="always")(_only("information_gain"))
overload(reciprocals_of, inline="always")(_only("gini"))


@inner
def join(config, found, cell, gain_half):
    """Make a later cell's candidate that of the attribute up to it; none at the cell before."""
    group = cell - 1
    multiway = config[KIND, cell] == MULTIWAY
    before = found[group, GAIN]
    if multiway:
        before = wrap(before + found[cell, GAIN], gain_half)
    if multiway or found[cell, GAIN] <= before:
        found[cell, VALUE] = found[group, VALUE]
        found[cell, GAIN] = before
    found[cell, CELL] = found[group, CELL]
    found[group, CELL] = NONE


@inner
def gain(
    config, counts, extent, slot, cell, classes, count_max, gain_half, found, scratch, entropy, reciprocals, measure
):
    """Set a cell's candidate (multiway: its share of the attribute's gain)."""
    kind = config[KIND, cell]
    own_values = np.int64(counts.shape[1] - config[OTHER, cell])
    found[cell, CELL] = NONE if kind == IGNORED else np.int64(cell)
    found[cell, VALUE] = found[cell, GAIN] = 0
    if kind == IGNORED:
        return
    total = scratch[0]
    known = sum_bins(counts, extent, slot, cell, classes, count_max, total)
    if kind == MULTIWAY:
        used, first = min(own_values, extent), config[FIRST, cell]
        found[cell, GAIN] = gain_multiway(
            counts, slot, cell, classes, used, first, count_max, gain_half, scratch, measure
        )
        return
    numeric = kind == NUMERIC
    values = counts.shape[1] - 1 if numeric else own_values
    # No bin from the extent on differs from the first one there.
    values = min(values, extent + 1)
    if entropy is not None and known <= count_max and known < len(entropy[0]):
        value, best = small_binary(counts, slot, cell, classes, values, numeric, gain_half, known, scratch, entropy[0])
    else:
        value, best = gain_binary(
            counts, slot, cell, classes, values, numeric, count_max, gain_half, scratch, entropy, reciprocals, measure
        )
    first_code = 0 if numeric else np.int64(config[BASE, cell])
    found[cell, VALUE] = (first_code + value) & 0xFF
    found[cell, GAIN] = best


@inlined
def gain_multiway(counts, slot, cell, classes, own_values, first, count_max, gain_half, scratch, measure):
    total, row = scratch[0], scratch[1]
    share = 0
    if first:
        share = impurity(total, classes, count_max, measure)
    for value in range(own_values):
        for k in range(classes):
            row[k] = counts[slot, np.uint64(value), np.uint64(k), cell]
        share -= impurity(row, classes, count_max, measure)
    return wrap(share, gain_half)


@inlined
def small_binary(counts, slot, cell, classes, values, numeric, gain_half, known, scratch, table):
    """`gain_binary` of counts so small that nothing wraps and the table has all logarithms."""
    total, left = scratch[0], scratch[1]
    whole = table[np.uint64(known)]
    for k in range(classes):
        whole -= table[np.uint64(total[k])]
        left[k] = 0
    best_value, best = 0, -(np.int64(1) << 62)
    n_left = np.int64(0)
    for value in range(values):
        n = np.int64(0)
        for k in range(classes):
            n += counts[slot, np.uint64(value), np.uint64(k), cell]
        if numeric and not n and value:
            continue  # the same sides as before
        n_left = n_left + n if numeric else n
        parts = table[np.uint64(n_left)] + table[np.uint64(known - n_left)]
        for k in range(classes):
            side = np.int64(counts[slot, np.uint64(value), np.uint64(k), cell])
            if numeric:
                side += left[k]
                left[k] = side
            parts -= table[np.uint64(side)] + table[np.uint64(total[k] - side)]
        candidate = whole - parts
        if candidate > best:
            best_value, best = value, candidate
    return best_value, wrap(best, gain_half)


@inner
def gain_binary(
    counts, slot, cell, classes, values, numeric, count_max, gain_half, scratch, entropy, reciprocals, measure
):
    """Value and gain of the best threshold (numeric), or value against the rest."""
    total, left, right = scratch[0], scratch[1], scratch[2]
    whole = impurity(total, classes, count_max, measure)
    for k in range(classes):
        left[k] = 0
    best_value, best = -1, 0
    for value in range(values):
        if numeric and value and is_empty(counts, slot, cell, value, classes):
            continue  # the same sides as before
        # The sides' impurities, beside the loop that finds the sides: twice as fast as by calls.
        n_left = n_right = squares_left = squares_right = parts = 0
        for k in range(classes):
            side = np.int64(counts[slot, np.uint64(value), np.uint64(k), cell])
            left[k] = (left[k] + side) & count_max if numeric else side
            rest = (total[k] - left[k]) & count_max
            right[k] = rest
            n_left += left[k]
            n_right += rest
            if entropy is not None:
                parts -= xlog2x(left[k], entropy)
                parts -= xlog2x(rest, entropy)
            else:
                squares_left += left[k] * left[k]
                squares_right += rest * rest
        if entropy is not None:
            parts += xlog2x(n_left & count_max, entropy)
            parts += xlog2x(n_right & count_max, entropy)
        elif reciprocals is not None:
            parts = gini(n_left & count_max, squares_left, count_max, reciprocals) + gini(
                n_right & count_max, squares_right, count_max, reciprocals
            )
        else:
            parts = impurity(left, classes, count_max, measure) + impurity(right, classes, count_max, measure)
        candidate = wrap(whole - parts, gain_half)
        if best_value < 0 or candidate > best:
            best_value, best = value, candidate
    return best_value, best


@inner
def is_empty(counts, slot, cell, value, classes):
    for k in range(classes):
        if counts[slot, np.uint64(value), np.uint64(k), cell]:
            return False
    return True


@inlined
def sum_bins(counts, extent, slot, cell, classes, count_max, total):
    """Class counts over all bins, wrapped, in ``total``; returns their sum, not wrapped."""
    known = np.int64(0)
    for k in range(classes):
        n = np.int64(0)
        for value in range(extent):
            n += counts[slot, np.uint64(value), np.uint64(k), cell]
        total[k] = n & count_max
        known += n
    return known
