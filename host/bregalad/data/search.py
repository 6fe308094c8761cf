"""The codes of many numeric attributes at once, searched in compiled code."""

import numpy as np

from ..compiled import njit
from ..geometry import MISSING

# Equal parts of an attribute's range that say where to begin a search: so many that in most
# columns no two edges share one, and a single comparison is left.
BUCKETS = 2048
EDGES = 512  # a code book's edges, filled up with infinity for searches that run beyond
_ROWS = 1024  # of a block, whose values and codes stay in a core's caches
_LAST = BUCKETS - 1.0
_ONE, _NONE = np.uint32(1), np.uint32(0)  # no sign, so that no index is tested for being negative

_inner = njit(inner=True)


def flat_of(values):
    """All of an array's memory in one dimension, read-only, and the steps from row to row and column.

    So compiled code is the same for all layouts.
    """
    size = values.itemsize
    if any(stride < 0 or stride % size for stride in values.strides):
        values = np.ascontiguousarray(values)
    if values.flags.c_contiguous:
        flat, steps = values.reshape(-1), (values.shape[1], 1)
    else:
        steps = [stride // size for stride in values.strides]
        last = sum((length - 1) * step for length, step in zip(values.shape, steps, strict=True))
        flat = np.lib.stride_tricks.as_strided(values, (last + 1,), (size,))
    flat.flags.writeable = False
    return flat, *steps


@_inner
def _bucket(value, origin, scale):
    """Rising with the value, rounding or not; 0 for NaN."""
    at = (value - origin) * scale
    at = at if at > 0.0 else 0.0
    return np.int32(at if at < _LAST else _LAST)


@njit()
def begin(columns, edges, counts, origin, scale, below, steps):
    """Write what a search needs to know of some columns' edges, int64 array (m,).

    The edges are float64 (all, EDGES), rising, filled up with infinity, the counts int64 (all,). Written are origin and
    scale of the buckets, float64 (all,), how many edges are in the buckets ``below`` each, uint8 (all, BUCKETS), and a
    search's first step, uint32 (all,).
    """
    for column in columns:
        count, line = counts[column], edges[column]
        origin[column] = scale[column] = 0.0
        if count > 1:
            origin[column] = line[0]
            scale[column] = _LAST / (line[count - 1] - line[0])
            if scale[column] == np.inf:  # a subnormal range
                scale[column] = 0.0
        known = first = most = 0
        for edge in range(count):
            bucket = _bucket(line[edge], origin[column], scale[column])
            if bucket >= known:
                first = edge
                while known <= bucket:
                    below[column, known] = edge
                    known += 1
            most = max(most, edge - first + 1)
        below[column, known:] = count
        steps[column] = 1
        while 2 * steps[column] <= most:
            steps[column] *= 2


@njit(nogil=True)
def search(flat, row_step, column_step, places, edges, origin, scale, below, steps, codes):
    """Write the codes of numbers into columns of ``codes``; whether one is infinite, and has no code.

    Block by block, so that rows and columns may lie either way; a step per loop, since each loop by itself is made
    vector instructions of, and all in one are not.

    The numbers are as of `flat_of`: float32 or float64, n rows; what follows ``places`` is as `begin` has written it.
    The codes are a uint8 array (n, attributes); ``places``, int64 (columns,), has the column for each.
    """
    block, codes_found, infinite = np.empty(_ROWS), np.empty(_ROWS, np.uint32), np.int32(0)
    for top in range(0, len(codes), _ROWS):
        rows = min(_ROWS, len(codes) - top)
        values, found = block[:rows], codes_found[:rows]
        for column in range(len(places)):
            at = np.uint64(top * row_step + column * column_step)
            for i in range(rows):
                values[i] = flat[at]
                at += np.uint64(row_step)
            step = steps[column]
            _look_up(values, origin[column], scale[column], below[column], edges[column], step, found)
            while step > 1:
                step >>= _ONE
                _halve(values, edges[column], step, found)
            for i in range(rows):
                infinite |= np.int32(abs(values[i]) == np.inf)
                found[i] = found[i] if values[i] == values[i] else np.uint32(MISSING)
            place = np.uint64(places[column])
            for i in range(rows):
                codes[np.uint64(top + i), place] = np.uint8(found[i])
    return infinite != 0


@_inner
def _look_up(values, origin, scale, below, edges, step, found):
    for i in range(len(values)):
        found[i] = np.uint32(_bucket(values[i], origin, scale))
    for i in range(len(values)):
        start = np.uint32(below[found[i]])
        found[i] = start + (step if edges[start + step - _ONE] <= values[i] else _NONE)


@_inner
def _halve(values, edges, step, found):
    for i in range(len(values)):
        found[i] += step if edges[found[i] + step - _ONE] <= values[i] else _NONE
