"""Where the edges of code books lie."""

import numpy as np

from ..compiled import njit
from ..geometry import MISSING

_SMALL = 1e-300  # widths below have too few digits for a mean


@njit(inner=True)
def insert(values, count, value):
    """Put a value among the first ``count``, which rise, unless it is there: how many there are then."""
    at = count
    while at and values[at - 1] > value:
        at -= 1
    if at and values[at - 1] == value:
        return count
    for i in range(count, at, -1):
        values[i] = values[i - 1]
    values[at] = value
    return count + 1


@njit()
def place_edges(values, count):
    """At most ``count - 1`` edges, float64 array, of finite values that rise: at quantiles, then wherever a gap is
    widest.
    """
    edges = np.empty(count)
    return edges[: _place(values, count, edges)]


@njit()
def renew(books, columns, kept, values, new):
    """The edges of the code books of columns, int64 array (m,), by what a sample holds; which are other, bool array
    (m,).

    Books, values, and the new ones, which are written, are pairs of a float64 array, a row each, and of how many
    numbers each row has, int64 array: edges of all books, what the sample holds of the columns, rising, and their new
    edges. ``kept``, bool array (m, MISSING + 1), has the codes where edges stay.
    """
    stays, placed = np.empty(MISSING), np.empty(MISSING)
    differs = np.zeros(len(columns), np.bool_)
    for i in range(len(columns)):
        old, known = books[0][columns[i]], books[1][columns[i]]
        staying = 0
        for code in range(1, known + 1):
            if kept[i, code]:
                stays[staying] = old[code - 1]
                staying += 1
        found = _place(values[0][i, : values[1][i]], MISSING - staying, placed)
        edges, count = new[0][i], np.int64(found)
        for at in range(found):  # a slice takes Numba long
            edges[at] = placed[at]
        for at in range(staying):
            count = insert(edges, count, stays[at])
        new[1][i] = count
        differs[i] = count != known
        for at in range(min(count, known)):
            differs[i] |= edges[at] != old[at]
    return differs


@njit(inner=True)
def _place(values, count, found):
    """Write the edges of `place_edges`; how many they are."""
    # Loops, as Numba takes a second to compile what NumPy does at once.
    borders = np.empty(len(values), np.int64)  # how many values are up to each gap
    gaps = 0
    for i in range(1, len(values)):
        borders[gaps] = i
        gaps += values[i] != values[i - 1]
    if gaps == 0 or count == 1:
        return 0
    edges = np.empty(gaps, np.int64)  # per gap between neighbours
    for i in range(gaps):
        edges[i] = gaps < count
    given = gaps
    if gaps >= count:
        gap = given = 0
        step = len(values) / count
        for i in range(1, count):
            while gap < gaps - 1 and borders[gap] < i * step:
                gap += 1
            given += 1 - edges[gap]
            edges[gap] = 1
    if given < count - 1:
        _spend(values, borders, count - 1 - given, edges)
    total = np.int64(0)  # of a literal number `insert` would be compiled once more
    for i in range(gaps):
        left, right = values[borders[i] - 1], values[borders[i]]
        least = np.nextafter(left, np.inf)
        for k in range(1, edges[i] + 1):
            part = k / (edges[i] + 1)
            edge = left * (1 - part) + right * part
            edge = least if edge < least else right if edge > right else edge
            total = insert(found, total, edge)
    return total


@njit(inner=True)
def _spend(values, borders, spare, edges):
    """Give codes to spare to the gaps where values not seen yet would otherwise share one."""
    gaps, leaves = len(edges), 1
    while leaves < gaps:
        leaves *= 2
    # Above each two gaps, and so on, the one whose codes are to share most of the line; the first of several.
    width, shared, best = np.empty(gaps), np.full(leaves, -1.0), np.empty(2 * leaves, np.int64)
    for i in range(leaves):
        best[leaves + i] = i
    total = 0.0
    for i in range(gaps):
        # Halves: the difference itself may overflow.
        width[i] = values[borders[i]] / 2 - values[borders[i] - 1] / 2
        shared[i] = width[i] / (edges[i] + 1)
        total += width[i]
    # Most of them in any order: so many shares above this mean that there are codes for all.
    mean = total / spare if total > _SMALL * spare else np.inf
    for i in range(gaps):
        while spare and shared[i] > mean:
            edges[i] += 1
            shared[i] = width[i] / (edges[i] + 1)
            spare -= 1
    for at in range(leaves - 1, 0, -1):
        a, b = best[2 * at], best[2 * at + 1]
        best[at] = a if shared[a] >= shared[b] else b
    for _ in range(spare):
        widest = best[1]
        edges[widest] += 1
        shared[widest] = width[widest] / (edges[widest] + 1)
        at = (leaves + widest) >> 1
        while at:
            a, b = best[2 * at], best[2 * at + 1]
            best[at] = a if shared[a] >= shared[b] else b
            at >>= 1
