"""The codes of many numeric attributes at once, searched in compiled code."""

import numpy as np

from ..compiled import njit
from ..geometry import MISSING
from .parts import in_parts

# Equal parts of an attribute's range that say where to begin a search: so many that in most
# columns no two edges share one, and a single comparison is left.
_BUCKETS = 2048
EDGES = 512  # a code book's edges, filled up with infinity for searches that run beyond
# Of a block, whose values and codes stay in a core's caches: many rows, so that a column's tables are fetched seldom,
# and as many columns as codes fill a line of the cache with, which is written at once.
_ROWS, _BAND = 1024, 64
_WORD = 8  # codes that are written at a time
_INDEX = np.uint32  # no sign, so that no index is tested for being negative
_NONE, _LAST = np.float32(0), np.float32(_BUCKETS - 1)  # buckets, in no more digits than the values have

_inner = njit(inner=True)


class InfiniteValue(ValueError):
    """A value has no code.

    Attributes
    ----------
    column : int
        Which attribute's.
    """

    def __init__(self, row, column, value):
        super().__init__(f"value {row} is {value}; values must be finite or NaN")
        self.column = column


def check_finite(values):
    """Raise InfiniteValue if there is one in a float array (n, columns)."""
    if _has_infinity(*flat_of(values), *values.shape):
        row, column = np.argwhere(np.isinf(values))[0].tolist()
        raise InfiniteValue(row, column, values[row, column])


@njit(nogil=True)
def _has_infinity(flat, row_step, column_step, rows, columns):
    if len(flat) == rows * columns:  # one after the other, whichever way
        rows, columns, row_step, column_step = 1, len(flat), 0, 1
    found = np.int32(0)
    for row in range(rows):
        at = np.uint64(row * row_step)
        for column in range(columns):
            found |= np.int32(abs(flat[at + np.uint64(column * column_step)]) == np.inf)
    return found != 0


def search(values, codes, places, tables, threads):
    """Write the codes of numbers into columns of ``codes``.

    Parameters
    ----------
    values : float32 or float64 array (n, columns)
    codes : uint8 array (n, attributes)
        Written.
    places : int64 array (columns,)
        The column of ``codes`` for each column of ``values``.
    tables
        Of `begin`, for values of this type.
    threads : int
        That search at the same time; the codes are the same.

    Returns
    -------
    bool
        Whether a value is infinite, and has no code.
    """
    return any(
        in_parts(lambda part: _search(*flat_of(values[part]), places, *tables, codes[part]), len(values), threads)
    )


def flat_of(values):
    """All of an array's memory in one dimension, read-only, and the steps from row to row and column.

    So compiled code is the same for all layouts.
    """
    if values.flags.c_contiguous:
        flat, steps = values.reshape(-1), (values.shape[1], 1)
    elif values.flags.f_contiguous:
        flat, steps = values.T.reshape(-1), (1, len(values))
    else:
        size = values.itemsize
        if not values.size or any(stride < 0 or stride % size for stride in values.strides):
            return flat_of(np.ascontiguousarray(values))
        steps = [stride // size for stride in values.strides]
        last = sum((length - 1) * step for length, step in zip(values.shape, steps, strict=True))
        flat = np.lib.stride_tricks.as_strided(values, (last + 1,), (size,))
    flat.flags.writeable = False
    return flat, *steps


@_inner
def _bucket(value, origin, scale):
    """Rising with the value, rounding or not; 0 for NaN."""
    at = (value - origin) * scale
    at = at if at > _NONE else _NONE
    return np.int32(at if at < _LAST else _LAST)


def begin(edges, counts, buckets, kind):
    """What a search needs to know of edges.

    Parameters
    ----------
    edges : float64 array (columns, EDGES)
        Rising, filled up with infinity.
    counts : int64 array (columns,)
        How many each column has.
    buckets : bool
        Whether there are to be any.
    kind : dtype
        Of the values: float32 or float64.

    Returns
    -------
    Per column: the edges as such values, origin and scale of the buckets, the edges below each, a search's first step.
    """
    columns = len(edges)
    own = np.full(edges.shape, np.inf, kind)
    origin, scale = np.zeros(columns, kind), np.zeros(columns, kind)
    # A byte each, so that a column's fit a core's cache; without buckets one, that of scale 0.
    below = np.zeros((columns, _BUCKETS if buckets else 1), np.uint8)
    steps = np.ones(columns, _INDEX)
    _begin(edges, counts, own, origin, scale, below, steps)
    return own, origin, scale, below, steps


@njit()
def _begin(edges, counts, own, origin, scale, below, steps):
    for column in range(len(edges)):
        count, line = counts[column], own[column]
        for edge in range(count):
            line[edge] = edges[column, edge]
            if line[edge] < edges[column, edge]:  # the least value at or above the edge
                line[edge] = np.nextafter(line[edge], line[count])
        if below.shape[1] > 1 and count > 1:
            origin[column] = line[0]
            scale[column] = _LAST / (line[count - 1] - line[0])
            if scale[column] == np.inf:  # a subnormal range
                scale[column] = _NONE
        known = first = most = 0
        for edge in range(count):
            bucket = _bucket(line[edge], origin[column], scale[column])
            if bucket >= known:
                first = edge
                while known <= bucket:
                    below[column, known] = edge
                    known += 1
            most = max(most, edge - first + 1)
        while known < below.shape[1]:
            below[column, known] = count
            known += 1
        while 2 * steps[column] <= most:
            steps[column] *= 2


@njit(nogil=True)
def _search(flat, row_step, column_step, places, edges, origin, scale, below, steps, codes):
    """Block by block, so that rows and columns may lie either way; a step per loop, since each
    loop by itself is made vector instructions of, and all in one are not.

    Returns how many values are infinite.
    """
    band = np.empty((_BAND, _ROWS + 8), edges.dtype)  # its rows not in the same lines of the cache
    found = np.empty(_ROWS, _INDEX)
    out = np.empty((_BAND, _ROWS), np.uint8)
    words = np.empty((_BAND // _WORD, _ROWS), np.uint64)
    infinite = 0
    for top in range(0, len(codes), _ROWS):
        rows = min(_ROWS, len(codes) - top)
        for left in range(0, len(places), _BAND):
            columns = min(_BAND, len(places) - left)
            _take(flat, top, rows, row_step, left, columns, column_step, band)
            for index in range(columns):
                column = left + index
                values, step = band[index, :rows], steps[column]
                _look_up(values, origin[column], scale[column], below[column], edges[column], step, found)
                while step > 1:
                    step >>= _INDEX(1)
                    _halve(values, edges[column], step, found)
                infinite += _finish(values, found, out[index])
            _give(out, words, top, rows, places[left : left + columns], codes)
    return infinite


@_inner
def _take(flat, top, rows, row_step, left, columns, column_step, band):
    step, across = np.uint64(row_step), np.uint64(column_step)
    at = np.uint64(top) * step + np.uint64(left) * across
    if column_step < row_step:
        for row in range(rows):
            for index in range(columns):
                band[index, row] = flat[at + np.uint64(index) * across]
            at += step
    else:
        for index in range(columns):
            for row in range(rows):
                band[index, row] = flat[at + np.uint64(row) * step]
            at += across


@_inner
def _give(out, words, top, rows, places, codes):
    whole = 0  # columns that are beside each other, in words
    if places[-1] - places[0] == len(places) - 1:
        whole = len(places) // _WORD
    for index in range(whole):
        for row in range(rows):  # by themselves, so that vectors are made of them
            word = np.uint64(0)
            for i in range(_WORD):
                word |= np.uint64(out[_WORD * index + i, row]) << np.uint64(8 * i)
            words[index, row] = word
    at = np.uint64(places[0])
    for row in range(rows):
        line = codes[np.uint64(top + row)]
        for index in range(whole):
            word, start = words[np.uint64(index), np.uint64(row)], at + np.uint64(_WORD * index)
            for i in range(_WORD):  # one store
                line[start + np.uint64(i)] = np.uint8(word >> np.uint64(8 * i))
    for index in range(_WORD * whole, len(places)):
        place = np.uint64(places[index])
        for row in range(rows):
            codes[np.uint64(top + row), place] = out[index, row]


@_inner
def _look_up(values, origin, scale, below, edges, step, found):
    for i in range(len(values)):
        found[i] = _INDEX(_bucket(values[i], origin, scale))
    for i in range(len(values)):
        start = _INDEX(below[found[i]])
        found[i] = start + (step if edges[start + step - _INDEX(1)] <= values[i] else _INDEX(0))


@_inner
def _halve(values, edges, step, found):
    for i in range(len(values)):
        found[i] += step if edges[found[i] + step - _INDEX(1)] <= values[i] else _INDEX(0)


@_inner
def _finish(values, found, out):
    """Write the codes; how many values are infinite."""
    infinite = np.int32(0)
    for i in range(len(values)):
        infinite += np.int32(abs(values[i]) == np.inf)
        out[i] = np.uint8(found[i]) if values[i] == values[i] else np.uint8(MISSING)
    return infinite
