"""Gains of a slot's cells."""

import numpy as np

from ...geometry import GAIN_FRACTION, NONE
from .arithmetic import gini, kearns_mansour, wrap, xlog2x
from .bins import IGNORED, MULTIWAY, NUMERIC
from .state import BASE, BIN, CELL, FIRST, GAIN, KIND, OTHER, SOURCE, VALUE, inlined, inner

__all__ = ["find", "left_count"]


@inlined
def find(config, counts, extent, slot, cells, classes, count_max, gain_half, found, scratch,
         entropy, reciprocals, roots):
    """Fill ``found`` with the candidates of all cells; an attribute's is that of its last one."""
    slot = np.uint64(slot)
    for cell in range(cells):
        gain(config, counts, extent, slot, np.uint64(cell), classes, count_max, gain_half, found,
             scratch, entropy, reciprocals, roots)
        if cell and not config[FIRST, cell] and config[KIND, cell] != IGNORED:
            join(config, found, cell, gain_half)


@inner
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


@inner
def gain(config, counts, extent, slot, cell, classes, count_max, gain_half, found, scratch,
         entropy, reciprocals, roots):
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
            gain_half, scratch, entropy, reciprocals, roots)
        return
    numeric = kind == NUMERIC
    values = counts.shape[1] - 1 if numeric else own_values
    # No bin from the extent on differs from the first one there.
    values = min(values, extent + 1)
    if entropy is not None and known <= count_max and known < len(entropy[0]):
        value, best = small_binary(counts, slot, cell, classes, values, numeric, gain_half, known,
                                   scratch, entropy[0])
    else:
        value, best = gain_binary(counts, slot, cell, classes, values, numeric, count_max,
                                  gain_half, scratch, entropy, reciprocals, roots)
    first_code = 0 if numeric else np.int64(config[BASE, cell])
    found[cell, VALUE] = (first_code + value) & 0xFF
    found[cell, GAIN] = best
    found[cell, BIN] = value


@inlined
def gain_multiway(counts, slot, cell, classes, own_values, first, count_max, gain_half, scratch,
                  entropy, reciprocals, roots):
    total, row = scratch[0], scratch[1]
    share = 0
    if first:
        share = impurity(total, classes, count_max, entropy, reciprocals, roots)
    for value in range(own_values):
        for k in range(classes):
            row[k] = counts[slot, np.uint64(value), np.uint64(k), cell]
        share -= impurity(row, classes, count_max, entropy, reciprocals, roots)
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
def gain_binary(counts, slot, cell, classes, values, numeric, count_max, gain_half, scratch,
                entropy, reciprocals, roots):
    """Value and gain of the best threshold (numeric), or value against the rest."""
    total, left = scratch[0], scratch[1]
    whole = impurity(total, classes, count_max, entropy, reciprocals, roots)
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
            right = (total[k] - left[k]) & count_max
            n_left += left[k]
            n_right += right
            if entropy is not None:
                parts -= xlog2x(left[k], entropy)
                parts -= xlog2x(right, entropy)
            else:
                squares_left += left[k] * left[k]
                squares_right += right * right
        if entropy is not None:
            parts += xlog2x(n_left & count_max, entropy)
            parts += xlog2x(n_right & count_max, entropy)
        elif reciprocals is not None:
            parts = (gini(n_left & count_max, squares_left, count_max, reciprocals)
                     + gini(n_right & count_max, squares_right, count_max, reciprocals))
        elif roots is not None:
            if classes == 2:
                parts = (kearns_mansour(left[0], left[1], roots)
                         + kearns_mansour((total[0] - left[0]) & count_max, right, roots))
        else:
            parts = 0
            for n, side in ((n_left, 0), (n_right, 1)):
                most = 0
                for k in range(classes):
                    most = max(most, (total[k] - left[k]) & count_max if side else left[k])
                parts += max(0, (n & count_max) - most) << GAIN_FRACTION
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


@inner
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


@inner
def impurity(counts, classes, count_max, entropy, reciprocals, roots):
    """n times the impurity of the counts, by the criterion."""
    n = squares = parts = most = 0
    for k in range(classes):
        n += counts[k]
        if entropy is not None:
            parts += xlog2x(counts[k], entropy)
        else:
            squares += counts[k] * counts[k]
            most = max(most, counts[k])
    n &= count_max
    if entropy is not None:
        return xlog2x(n, entropy) - parts
    if reciprocals is not None:
        return gini(n, squares, count_max, reciprocals)
    if roots is not None:
        return kearns_mansour(counts[0], counts[1], roots) if classes == 2 else 0
    return max(0, n - most) << GAIN_FRACTION
