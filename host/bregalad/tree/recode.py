"""What a change of an attribute's code book does to a tree and to its statistics.

Thresholds stay where they are: they are edges of the new book, too. What a bin has counted is
divided among the new bins as the values that the stream's sample holds of it are.
"""

import numpy as np

from ..compiled import njit
from ..geometry import MISSING
from .split import shift_of
from .table import NUMERIC


def pieces_of(old, new, values):
    """The pieces that the edges of two books cut the line of numbers into, of several attributes.

    ``old`` and ``new`` are edges, float64 (attributes, edges), and how many each attribute has, int64 (attributes,);
    ``values`` the same of the sample, rising. Returns how many pieces there are of each attribute, int64 (attributes,),
    and int16 arrays (attributes, most): the old code of each piece, its new code, and how many values it has.
    """
    shape = len(old[1]), old[0].shape[1] + new[0].shape[1] + 1
    pieces = np.empty(shape[0], np.int64), *(np.empty(shape, np.int16) for _ in range(3))
    _write_pieces(old, new, values, *pieces)
    return pieces


@njit()
def _write_pieces(old, new, values, counts, old_code, new_code, mass):
    for attribute in range(len(counts)):
        before, after, own = old[0][attribute], new[0][attribute], values[0][attribute]
        ends, others, known = old[1][attribute], new[1][attribute], values[1][attribute]
        i = j = seen = count = 0
        while True:
            old_code[attribute, count], new_code[attribute, count] = i, j
            if i == ends and j == others:
                break
            end = before[i] if i < ends and not (j < others and after[j] < before[i]) else after[j]
            first = seen
            while seen < known and own[seen] < end:
                seen += 1
            mass[attribute, count] = seen - first
            i += i < ends and before[i] == end
            j += j < others and after[j] == end
            count += 1
        mass[attribute, count] = known - seen
        counts[attribute] = count + 1


def thresholds_of(table, live, attributes):
    """Which codes each numeric attribute is compared with at nodes; bool array (attributes, codes + 1)."""
    used, rows = np.zeros((attributes, MISSING + 1), np.bool_), table[live]
    rows = rows[rows["kind"] == NUMERIC]
    used[rows["attribute"], np.minimum(rows["threshold"], MISSING)] = True
    return used


@njit()
def recode_nodes(table, live, attributes, old, new):
    """Give the thresholds and ranges of attributes' ``live`` nodes the codes of new books; books as for `pieces_of`."""
    around, after = np.empty(MISSING + 1, np.int64), np.empty(MISSING + 1, np.int64)
    for i in range(len(attributes)):
        tested = False
        for node in live:
            tested |= table[node]["kind"] == NUMERIC and table[node]["attribute"] == attributes[i]
        if not tested:
            continue
        before, others = old[0][i, : old[1][i]], new[0][i, : new[1][i]]
        # For each old code the new one that begins there; where none does, the one around, or the one
        # after that.
        for code in range(MISSING + 1):
            around[code] = after[code] = MISSING
        around[0] = after[0] = below = 0
        for code in range(1, len(before) + 1):
            while below < len(others) and others[below] < before[code - 1]:
                below += 1
            after[code] = below + 1
            around[code] = below + (below < len(others) and others[below] == before[code - 1])
        for node in live:
            row = table[node]
            if row["kind"] == NUMERIC and row["attribute"] == attributes[i]:
                row["threshold"] = after[min(row["threshold"], MISSING)]
                for child in range(row["child"], row["child"] + 2):
                    low = around[table[child]["low"]]
                    table[child]["low"], table[child]["high"] = low, max(after[table[child]["high"]], low)


@njit()
def carry(counts, old_range, new_range, pieces, most, out):  # noqa: C901 (compiled)
    """Divide what a cell's bins have counted, int array (bins, classes), among the bins of its new range.

    Ranges are the node's codes [low, high) by the old and the new book, ``pieces`` those of the cell's attribute by
    `pieces_of`; ``most`` is the largest count of a bin and class. Written to ``out``, zeros of the shape of ``counts``.
    """
    old, new, mass = pieces
    bins, classes = counts.shape
    low, high = old_range[0], old_range[1]  # of an array Numba takes long to compile as a pair
    old_shift = shift_of(bins, high - low)
    new_low = new_range[0]
    new_shift = shift_of(bins, new_range[1] - new_low)
    first = 0
    while first < len(old) and old[first] < low:
        first += 1
    for index in range(bins):
        # The pieces whose codes the bin counts; of none, those around.
        end = low + (index + 1 << old_shift)
        if index == bins - 1 or end > high:
            end = max(high, low + 1)
        last = first
        while last < len(old) and old[last] < end:
            last += 1
        start = first
        if start >= last:
            start = max(0, last - 1)
        counted = False
        for k in range(classes):
            counted |= counts[index, k] != 0
        if not counted:
            first = last
            continue
        total = 0
        for piece in range(start, last):
            total += mass[piece]
        even = total == 0
        if even:
            total = last - start
        for k in range(classes):
            count = np.int64(counts[index, k])
            if count:
                seen = given = 0
                for piece in range(start, last):
                    if not (even or mass[piece]):
                        continue
                    seen += 1 if even else mass[piece]
                    # Rounded; below 2**53, where this is as exact as an integers' division, which takes longer.
                    up_to = np.int64(np.float64(2 * count * seen + total) / np.float64(2 * total))
                    if up_to > given:
                        at = min(max(new[piece] - new_low, 0) >> new_shift, bins - 1)
                        out[at, k] = min(out[at, k] + up_to - given, most)
                        given = up_to
        first = last
