"""Gains of a slot's cells."""

import numpy as np

from ...geometry import CRITERIA, GAIN_FRACTION, NONE
from .arithmetic import gini, kearns_mansour, wrap, xlog2x
from .bins import IGNORED, MULTIWAY, NUMERIC
from .state import BASE, BIN, CELL, FIRST, GAIN, KIND, OTHER, SOURCE, VALUE, compiled, inlined

__all__ = ["find", "left_count"]

# Plain integers, since Numba types every enumeration anew.
INFORMATION_GAIN, GINI, KEARNS_MANSOUR, CLASSIFICATION_ERROR = range(len(CRITERIA))


@inlined
def find(config, counts, extent, slot, cells, classes, count_max, gain_half, found, scratch,
         criterion, table, base, slope):
    """Fill ``found`` with the candidates of all cells; an attribute's is that of its last one."""
    slot = np.uint64(slot)
    for cell in range(cells):
        gain(config, counts, extent, slot, np.uint64(cell), classes, count_max, gain_half, found,
             scratch, criterion, table, base, slope)
        if cell and not config[FIRST, cell] and config[KIND, cell] != IGNORED:
            join(config, found, cell, gain_half)


@compiled
def join(config, found, cell, gain_half):
    """Make a later cell's candidate that of the attribute up to it; none at the cell before."""
    group = cell - 1
    multiway = config[KIND, cell] == MULTIWAY
    before = found[group, GAIN]
    if multiway:
        before = wrap(before + found[cell, GAIN], gain_half)
    if multiway or found[cell, GAIN] <= before:
        for column in (VALUE, SOURCE, BIN):
            found[cell, column] = found[group, column]
        found[cell, GAIN] = before
    found[cell, CELL] = found[group, CELL]
    found[group, CELL] = NONE


@compiled
def gain(config, counts, extent, slot, cell, classes, count_max, gain_half, found, scratch,
         criterion, table, base, slope):
    """Set a cell's candidate (multiway: its share of the attribute's gain)."""
    kind = config[KIND, cell]
    own_values = np.int64(counts.shape[1] - config[OTHER, cell])
    found[cell, CELL] = NONE if kind == IGNORED else np.int64(cell)
    found[cell, SOURCE] = cell
    found[cell, VALUE] = found[cell, GAIN] = found[cell, BIN] = 0
    if kind == IGNORED:
        return
    total = scratch[0]
    known = sum_bins(counts, extent, slot, cell, classes, count_max, total)
    if kind == MULTIWAY:
        found[cell, GAIN] = gain_multiway(
            counts, slot, cell, classes, min(own_values, extent), config[FIRST, cell], count_max,
            gain_half, scratch, criterion, table, base, slope)
        return
    numeric = kind == NUMERIC
    values = counts.shape[1] - 1 if numeric else own_values
    # No bin from the extent on differs from the first one there.
    values = min(values, extent + 1)
    if criterion == INFORMATION_GAIN and known <= count_max and known < table.size:
        value, best = small_binary(counts, slot, cell, classes, values, numeric, gain_half, known,
                                   scratch, table)
    else:
        value, best = gain_binary(counts, slot, cell, classes, values, numeric, count_max,
                                  gain_half, scratch, criterion, table, base, slope)
    first_code = 0 if numeric else np.int64(config[BASE, cell])
    found[cell, VALUE] = (first_code + value) & 0xFF
    found[cell, GAIN] = best
    found[cell, BIN] = value


@inlined
def gain_multiway(counts, slot, cell, classes, own_values, first, count_max, gain_half, scratch,
                  criterion, table, base, slope):
    total, row = scratch[0], scratch[1]
    share = 0
    if first:
        share = impurity(total, classes, count_max, criterion, table, base, slope)
    for value in range(own_values):
        for k in range(classes):
            row[k] = counts[slot, np.uint64(value), np.uint64(k), cell]
        share -= impurity(row, classes, count_max, criterion, table, base, slope)
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


@compiled
def gain_binary(counts, slot, cell, classes, values, numeric, count_max, gain_half, scratch,
                criterion, table, base, slope):
    """Value and gain of the best threshold (numeric), or value against the rest."""
    total, left = scratch[0], scratch[1]
    whole = impurity(total, classes, count_max, criterion, table, base, slope)
    for k in range(classes):
        left[k] = 0
    best_value, best = -1, 0
    entropy = criterion == INFORMATION_GAIN
    for value in range(values):
        if numeric and value and is_empty(counts, slot, cell, value, classes):
            continue  # the same sides as before
        # The sides' impurities, beside the loop that finds the sides: twice as fast as by calls.
        n_left = n_right = squares_left = squares_right = parts = 0
        for k in range(classes):
            side = np.int64(counts[slot, np.uint64(value), np.uint64(k), cell])
            left[k] = (left[k] + side) & count_max if numeric else side
            right = (total[k] - left[k]) & count_max
            n_left += left[k]
            n_right += right
            if entropy:
                parts -= xlog2x(left[k], table, base, slope)
                parts -= xlog2x(right, table, base, slope)
            else:
                squares_left += left[k] * left[k]
                squares_right += right * right
        if entropy:
            parts += xlog2x(n_left & count_max, table, base, slope)
            parts += xlog2x(n_right & count_max, table, base, slope)
        elif criterion == GINI:
            parts = (gini(n_left & count_max, squares_left, count_max, base, slope)
                     + gini(n_right & count_max, squares_right, count_max, base, slope))
        elif criterion == CLASSIFICATION_ERROR:
            parts = 0
            for n, side in ((n_left, 0), (n_right, 1)):
                most = 0
                for k in range(classes):
                    most = max(most, (total[k] - left[k]) & count_max if side else left[k])
                parts += max(0, (n & count_max) - most) << GAIN_FRACTION
        elif classes == 2:
            parts = (kearns_mansour(left[0], left[1], base, slope)
                     + kearns_mansour((total[0] - left[0]) & count_max, right, base, slope))
        candidate = wrap(whole - parts, gain_half)
        if best_value < 0 or candidate > best:
            best_value, best = value, candidate
    return best_value, best


@compiled
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


@compiled
def left_count(config, counts, slot, found, best, k, count_max):
    """Class count of the first side of the best candidate; 0 if it has more than two."""
    cell = found[best, SOURCE]
    kind = config[KIND, cell]
    if kind == MULTIWAY:
        return np.int64(0)
    value = found[best, BIN]
    n = np.int64(counts[slot, value, k, cell])
    if kind == NUMERIC:
        for index in range(value):
            n += counts[slot, index, k, cell]
    return n & count_max


@inlined
def impurity(counts, classes, count_max, criterion, table, base, slope):
    """n times the impurity of the counts, by the criterion."""
    n = squares = parts = most = 0
    for k in range(classes):
        n += counts[k]
        if criterion == INFORMATION_GAIN:
            parts += xlog2x(counts[k], table, base, slope)
        else:
            squares += counts[k] * counts[k]
            most = max(most, counts[k])
    n &= count_max
    if criterion == INFORMATION_GAIN:
        return xlog2x(n, table, base, slope) - parts
    if criterion == GINI:
        return gini(n, squares, count_max, base, slope)
    if criterion == CLASSIFICATION_ERROR:
        return max(0, n - most) << GAIN_FRACTION
    return kearns_mansour(counts[0], counts[1], base, slope) if classes == 2 else 0
