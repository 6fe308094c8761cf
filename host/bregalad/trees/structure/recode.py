"""What a change of an attribute's code book does to a tree and to its statistics.

Thresholds stay where they are: they are edges of the new book, too. What a bin has counted is
divided among the new bins as the values that the stream's sample holds of it are.
"""

import numpy as np

from ...compiled import njit
from ...geometry import MISSING
from .split import shift_of
from .table import NUMERIC

__all__ = ["carry", "pieces_of", "recode_nodes", "thresholds_of"]


@njit()
def pieces_of(old, new, values):
    """The pieces that the edges of two books cut the line of numbers into.

    Parameters
    ----------
    old, new : float64 array
        Edges.
    values : float64 array
        The sample, rising.

    Returns
    -------
    int64 arrays (pieces,)
        The old code of each, its new code, and how many values it has.
    """
    most = len(old) + len(new) + 1
    old_code, new_code, mass = np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most, np.int64)
    i = j = seen = count = 0
    while True:
        old_code[count], new_code[count] = i, j
        ends_old, ends_new = i < len(old), j < len(new)
        if not ends_old and not ends_new:
            break
        end = old[i] if ends_old and not (ends_new and new[j] < old[i]) else new[j]
        while seen < len(values) and values[seen] < end:
            mass[count] += 1
            seen += 1
        i += ends_old and old[i] == end
        j += ends_new and new[j] == end
        count += 1
    mass[count] = len(values) - seen
    count += 1
    return old_code[:count], new_code[:count], mass[:count]


@njit()
def thresholds_of(table, live, attribute):
    """Which codes a numeric attribute's values are compared with at nodes; bool array (codes + 1,)."""
    used = np.zeros(MISSING + 1, np.bool_)
    for node in live:
        row = table[node]
        if row["kind"] == NUMERIC and row["attribute"] == attribute:
            used[min(row["threshold"], MISSING)] = True
    return used


@njit()
def recode_nodes(table, live, attribute, old, new):
    """Give the thresholds and ranges of an attribute's nodes the codes of a new book.

    Parameters
    ----------
    table : structured array
        Of ``Nodes``.
    live : int array
        The nodes of the tree.
    attribute : int
    old, new : float64 array
        The books' edges.
    """
    # For each old code the new one that begins there; where none does, the one around, or the one
    # after that.
    around, after = np.full(MISSING + 1, MISSING), np.full(MISSING + 1, MISSING)
    around[0] = after[0] = below = 0
    for code in range(1, len(old) + 1):
        while below < len(new) and new[below] < old[code - 1]:
            below += 1
        after[code] = below + 1
        around[code] = below + (below < len(new) and new[below] == old[code - 1])
    for node in live:
        row = table[node]
        if row["kind"] == NUMERIC and row["attribute"] == attribute:
            row["threshold"] = after[min(row["threshold"], MISSING)]
            for child in range(row["child"], row["child"] + 2):
                low = around[table[child]["low"]]
                table[child]["low"], table[child]["high"] = low, max(after[table[child]["high"]], low)


@njit()
def carry(counts, old_range, new_range, pieces, most, out):
    """Divide what a cell's bins have counted among the bins of its new range.

    Parameters
    ----------
    counts : int array (bins, classes)
    old_range, new_range : (int, int)
        Codes [low, high) of the node, by the old and the new book.
    pieces
        Of `pieces_of`.
    most : int
        The largest count of a bin and class.
    out : int array (bins, classes)
        Zeros; written.
    """
    old, new, mass = pieces
    bins, classes = counts.shape
    low, high = old_range
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
                    seen += 1 if even else mass[piece]
                    up_to = (2 * count * seen + total) // (2 * total)  # rounded
                    if up_to > given:
                        at = min(max(new[piece] - new_low, 0) >> new_shift, bins - 1)
                        out[at, k] = min(out[at, k] + up_to - given, most)
                        given = up_to
        first = last
