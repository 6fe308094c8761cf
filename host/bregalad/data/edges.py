"""Where a code book's edges lie."""

import numpy as np

from ..compiled import njit

__all__ = ["distinct", "place_edges"]


@njit(error_model="numpy")
def distinct(values):
    """Each value once, rising."""
    values = np.sort(values)
    count = 0
    for i in range(len(values)):
        if i == 0 or values[i] != values[count - 1]:
            values[count] = values[i]
            count += 1
    return values[:count].copy()


@njit(error_model="numpy")
def place_edges(values, count):
    """At most ``count - 1`` edges: at quantiles, then wherever a gap is widest.

    Parameters
    ----------
    values : float64 array
        Rising; finite.
    count : int
        Codes, at least 1.
    """
    # Loops, as Numba takes a second to compile what NumPy does at once.
    borders = np.empty(len(values), np.int64)  # how many values are up to each gap
    gaps = 0
    for i in range(1, len(values)):
        if values[i] != values[i - 1]:
            borders[gaps] = i
            gaps += 1
    if gaps == 0 or count == 1:
        return np.empty(0)
    edges = np.empty(gaps, np.int64)  # per gap between neighbours
    for i in range(gaps):
        edges[i] = gaps < count
    if gaps >= count:
        gap, step = 0, len(values) / count
        for i in range(1, count):
            while gap < gaps - 1 and borders[gap] < i * step:
                gap += 1
            edges[gap] = 1
    # Codes to spare go where values not seen yet would otherwise share one.
    width, shared = np.empty(gaps), np.empty(gaps)
    given = 0
    for i in range(gaps):
        # Halves: the difference itself may overflow.
        width[i] = values[borders[i]] / 2 - values[borders[i] - 1] / 2
        shared[i] = width[i] / (edges[i] + 1)
        given += edges[i]
    for _ in range(count - 1 - given):
        widest = 0
        for i in range(1, gaps):
            if shared[i] > shared[widest]:
                widest = i
        edges[widest] += 1
        shared[widest] = width[widest] / (edges[widest] + 1)
    found, total = np.empty(max(given, count - 1)), 0
    for i in range(gaps):
        left, right = values[borders[i] - 1], values[borders[i]]
        for k in range(1, edges[i] + 1):
            part = k / (edges[i] + 1)
            edge = left * (1 - part) + right * part
            found[total] = min(max(edge, np.nextafter(left, np.inf)), right)
            total += 1
    return distinct(found[:total])
