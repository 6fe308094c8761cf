"""Where a code book's edges lie: in the head of a stream, and in a region that is claimed later."""

import math
import sys

import numpy as np

from ..compiled import njit

__all__ = ["HUGE", "distinct", "head_edges", "region"]

HUGE = sys.float_info.max
_GEOMETRIC = 4.0  # a region over this many times the range so far gets geometric edges


def head_edges(values, count):
    """At most ``count - 1`` edges for the head: at quantiles, then wherever a gap is widest.

    Parameters
    ----------
    values : float64 array
        The head's, in any order; finite.
    count : int
        Codes, at least 1.
    """
    return _head_edges(np.sort(values), count)


def region(distance, span, count):
    """How far to grow for a value ``distance`` away, and where the ``count`` edges are."""
    distance = min(distance, HUGE)  # the difference of two floats may be infinite
    reach = min(max(span, 2 * distance), HUGE)
    if reach <= _GEOMETRIC * span:
        return reach, reach * ((np.arange(count) + 0.5) / count)
    nearest = span if span else distance / 16
    # By logarithms: the quotient of the two may overflow.
    rise = math.log(reach) - math.log(nearest) if nearest else 0.0
    with np.errstate(over="ignore"):
        return reach, nearest * np.exp(rise * np.arange(count) / count)


@njit(error_model="numpy")
def distinct(values):
    """Each value once, rising; fast where few are out of order."""
    values = values.copy()
    for i in range(1, len(values)):
        value, at = values[i], i
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
    count = 0
    for i in range(len(values)):
        if i == 0 or values[i] != values[count - 1]:
            values[count] = values[i]
            count += 1
    return values[:count].copy()


@njit(error_model="numpy")
def _head_edges(values, count):
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
