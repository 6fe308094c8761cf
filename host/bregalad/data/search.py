"""The codes of many numeric attributes at once, searched in compiled code."""

import numpy as np

from ..compiled import njit
from ..geometry import MISSING
from .edges import HUGE
from .parts import in_parts

__all__ = ["InfiniteValue", "check_finite", "encode_numbers"]

# Equal parts of an attribute's range that say where to begin a search: so many that in most
# columns no two edges share one, and a single comparison is left.
_BUCKETS = 2048
_FEW = 256  # rows below which the buckets cost more than they save
_EDGES = 512  # a code book's edges, filled up with infinity for searches that run beyond
_ROWS, _COLUMNS = 512, 8  # of a block, whose values and tables stay in a core's caches
_BAND = 64  # columns that are fetched at once: of long rows a processor foresees what comes next
_INDEX = np.uint32  # no sign, so that no index is tested for being negative

_inner = njit(inner=True, error_model="numpy")


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
    """Raise InfiniteValue if there is one in a float64 array (n, columns)."""
    found = np.isinf(values)
    if found.any():
        row, column = np.argwhere(found)[0].tolist()
        raise InfiniteValue(row, column, values[row, column])


def encode_numbers(books, values, codes, places, *, read_only=False, threads=1):
    """Write the codes of numeric attributes into columns of ``codes``; new ranges claim codes.

    Parameters
    ----------
    books : list of CodeBook
        One per column of ``values``.
    values : float64 array (n, len(books))
    codes : uint8 array (n, attributes)
        Written.
    places : sequence of int
        The column of ``codes`` for each column of ``values``.
    read_only : bool
        Leave the books as they are; values out of range get the outermost code.
    threads : int
        That search at the same time; the codes are the same.

    Raises
    ------
    InfiniteValue
        If there is one; the books are as before.
    """
    places = np.asarray(places, np.int64)
    if not read_only and any(book.first is None for book in books):
        check_finite(values)
        for book, column in zip(books, values.T, strict=True):
            if book.first is None:
                book.begin(column)
    missing, columns, rows = _encode(books, values, codes, places, threads)
    # An infinite value is out of range, so that the others need not be looked at again.
    lost = np.isinf(values[rows, columns])
    if lost.any():
        row, column = min(zip(rows[lost].tolist(), columns[lost].tolist(), strict=True))
        raise InfiniteValue(row, column, values[row, column])
    if read_only:
        return
    for book, gone in zip(books, missing, strict=True):
        book.seen += len(values) - int(gone)
    if not len(rows):
        return
    # What is out of range is all that books grow by, and no other value's code changes by it.
    order = columns.argsort(kind="stable")
    columns, rows = columns[order], rows[order]
    strays = values[rows, columns]
    starts = np.searchsorted(columns, np.arange(len(books) + 1))
    for i in np.flatnonzero(np.diff(starts)):
        part = slice(starts[i], starts[i + 1])
        books[i].admit(strays[part])
        codes[rows[part], places[i]] = books[i].edges.searchsorted(strays[part], side="right") + books[i].first


def _flat(values):
    """All of an array's memory in one dimension, and the steps from row to row and column."""
    size = values.itemsize
    if not values.size or any(stride < 0 or stride % size for stride in values.strides):
        values = np.ascontiguousarray(values)
    steps = [stride // size for stride in values.strides]
    last = sum((length - 1) * step for length, step in zip(values.shape, steps, strict=True))
    flat = np.lib.stride_tricks.as_strided(values, (max(0, last + 1),), (size,), writeable=False)
    return flat, *steps


def _encode(books, values, codes, places, threads):
    """Encode by the books as they are.

    Returns
    -------
    missing : int64 array (columns,)
        How many values of each column.
    columns, rows : int64 arrays
        Where a value is out of range, or infinite; the rows of a column rise.
    """
    edges = np.full((len(books), _EDGES), np.inf)
    counts = np.zeros(len(books), np.int64)
    firsts = np.full(len(books), -1, np.int64)
    low, high = np.full(len(books), -HUGE), np.full(len(books), HUGE)
    for i, book in enumerate(books):
        if book.first is not None:
            counts[i] = len(book.edges)
            edges[i, : counts[i]] = book.edges
            firsts[i], low[i], high[i] = book.first, book.low, book.high
    tables = _begin(edges, counts, len(values) >= _FEW)

    def search(part):
        missing = np.zeros(len(books), np.int64)
        columns, rows = _search(*_flat(values[part]), places, *tables, edges, firsts, low, high, codes[part], missing)
        return missing, columns, rows + part.start

    missing, columns, rows = zip(*in_parts(search, len(values), threads), strict=True)
    return sum(missing), np.concatenate(columns), np.concatenate(rows)


@_inner
def _bucket(value, origin, scale):
    """Rising with the value, rounding or not; 0 for NaN."""
    at = (value - origin) * scale
    at = at if at > 0.0 else 0.0
    return np.int32(at if at < _BUCKETS - 1.0 else _BUCKETS - 1.0)


@njit(error_model="numpy")
def _begin(edges, counts, buckets):
    """Per column: origin and scale of the buckets, the edges below each, a search's first step."""
    columns = len(edges)
    origin, scale = np.zeros(columns), np.zeros(columns)
    # A byte each, so that a column's fit a core's cache; without buckets one, that of scale 0.
    below = np.zeros((columns, _BUCKETS if buckets else 1), np.uint8)
    steps = np.ones(columns, _INDEX)
    for column in range(columns):
        count = counts[column]
        if buckets and count > 1:
            origin[column] = edges[column, 0]
            scale[column] = (_BUCKETS - 1) / (edges[column, count - 1] - edges[column, 0])
            if scale[column] == np.inf:  # a subnormal range
                scale[column] = 0.0
        known = first = most = 0
        for edge in range(count):
            bucket = _bucket(edges[column, edge], origin[column], scale[column])
            if bucket >= known:
                below[column, known : bucket + 1] = first = edge
                known = bucket + 1
            most = max(most, edge - first + 1)
        below[column, known:] = count
        while 2 * steps[column] <= most:
            steps[column] *= 2
    return origin, scale, below, steps


@njit(error_model="numpy", nogil=True)
def _search(flat, row_step, column_step, places, origin, scale, below, steps, edges, firsts, low, high, codes, missing):
    """Block by block, so that rows and columns may lie either way; a step per loop, since each
    loop by itself is made vector instructions of, and all in one are not."""
    band = np.empty((_BAND, _ROWS + 8))  # its rows not in the same lines of the cache
    found = np.empty(_ROWS, _INDEX)
    out = np.empty((_COLUMNS, _ROWS), np.uint8)
    strays, many = np.empty((2, _ROWS), np.int64), 0
    for top in range(0, len(codes), _ROWS):
        rows = min(_ROWS, len(codes) - top)
        for left in range(0, len(places), _COLUMNS):
            columns = min(_COLUMNS, len(places) - left)
            if left % _BAND == 0:
                _take(flat, top, rows, row_step, left, min(_BAND, len(places) - left), column_step, band)
            for index in range(columns):
                column = left + index
                values = band[column % _BAND, :rows]
                gone, beyond = _survey(values, low[column], high[column])
                missing[column] += gone
                if beyond:
                    while many + beyond > strays.shape[1]:
                        strays = _doubled(strays)
                    for i in range(rows):
                        if values[i] < low[column] or values[i] > high[column]:
                            strays[0, many], strays[1, many] = column, top + i
                            many += 1
                step = steps[column]
                _look_up(values, origin[column], scale[column], below[column], edges[column], step, found)
                while step > 1:
                    step >>= _INDEX(1)
                    _halve(values, edges[column], step, found)
                if firsts[column] < 0:
                    out[index] = MISSING
                else:
                    _finish(values, found, _INDEX(firsts[column]), out[index])
            _give(out, top, rows, places[left : left + columns], codes)
    return strays[:, :many]


@njit(inner=True)
def _doubled(strays):
    wider = np.empty((2, 2 * strays.shape[1]), np.int64)
    for row in range(2):
        for index in range(strays.shape[1]):
            wider[row, index] = strays[row, index]
    return wider


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
def _give(out, top, rows, places, codes):
    where = places.astype(np.uint64)
    together = len(where) == _COLUMNS
    for index in range(1, len(where)):
        together &= where[index] == where[index - 1] + np.uint64(1)
    if together:
        words, at = np.empty(rows, np.uint64), where[0]
        for row in range(rows):  # by themselves, so that vectors are made of them
            word = np.uint64(0)
            for index in range(_COLUMNS):
                word |= np.uint64(out[index, row]) << np.uint64(8 * index)
            words[row] = word
        for row in range(rows):
            word, line = words[row], codes[np.uint64(top + row)]
            for index in range(_COLUMNS):  # one store
                line[at + np.uint64(index)] = np.uint8(word >> np.uint64(8 * index))
        return
    for row in range(top, top + rows):
        line = codes[row]
        for index in range(len(where)):
            line[where[index]] = out[index, row - top]


@_inner
def _survey(values, low, high):
    """How many values are missing, and how many out of range."""
    missing = outside = np.int32(0)  # as many of them to a vector as possible
    for i in range(len(values)):
        missing += np.int32(values[i] != values[i])
        outside += np.int32((values[i] < low) | (values[i] > high))
    return missing, outside


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
def _finish(values, found, first, out):
    for i in range(len(values)):
        out[i] = np.uint8(found[i] + first) if values[i] == values[i] else np.uint8(MISSING)
