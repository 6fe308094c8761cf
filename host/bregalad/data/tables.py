"""Numeric attributes' edges in tables that are kept while the books stay as they are."""

from copy import copy

import numpy as np

from ..compiled import njit
from ..geometry import MISSING
from .parts import in_parts
from .search import BUCKETS, EDGES, begin, flat_of, search

_FEW = 32  # instances up to which a search through one attribute after another is quicker
# What `search` reads of each column, of one without edges: edges, how many, origin, scale, edges below, first step.
_BLANK = (
    np.full(EDGES, np.inf),
    np.int64(0),
    np.float64(0),
    np.float64(0),
    np.zeros(BUCKETS, np.uint8),
    np.uint32(1),
)


class NumberTables:
    """Numeric attributes' codes, of many instances or few: of these CodeBooks, whose codes come to columns ``places``.

    ``changes`` says how often books have got other edges.
    """

    def __init__(self, books, places):
        self._books = books
        self._places = np.asarray(places, np.int64)
        self._tables = [np.repeat(blank[np.newaxis], len(books), axis=0) for blank in _BLANK]
        for i, book in enumerate(books):
            self._tables[1][i] = len(book.edges)
            self._tables[0][i, : len(book.edges)] = book.edges
        begin(np.arange(len(books)), *self._tables)
        self.changes = 0

    @property
    def edges(self):
        """Of all books, float64 array (books, EDGES), filled up with infinity; and how many each has, int64 array."""
        return tuple(table[: len(self._books)] for table in self._tables[:2])

    def extended(self, books, places):
        """Tables with those of more books, which have no edges yet; see `Quantiser.extended`."""
        other = copy(self)
        other._books = [*self._books, *books]
        other._places = np.append(self._places, np.asarray(places, np.int64))
        other._tables = [
            with_room(table, len(other._books), blank) for table, blank in zip(self._tables, _BLANK, strict=True)
        ]
        return other

    def change(self, columns, edges, counts):
        """Give books of some columns other edges, float64 array (m, EDGES), filled up with infinity."""
        self._tables[0][columns], self._tables[1][columns] = edges, counts
        begin(columns, *self._tables)
        self.changes += 1
        for column, own, count in zip(columns.tolist(), edges, counts.tolist(), strict=True):
            self._books[column].edges = own[:count]

    def encode(self, values, codes, threads=1):
        """Write the codes of values, float32 or float64 array (n, books), into columns of ``codes``.

        These are a uint8 array (n, attributes), C-contiguous; so many threads search at the same time. Returns whether
        a value is infinite, and has no code.
        """
        edges, counts, *others = self._tables
        if len(values) <= _FEW:
            return _encode(np.ascontiguousarray(values, np.float64), edges, counts, self._places, codes)
        return any(
            in_parts(
                lambda part: search(*flat_of(values[part]), self._places, edges, *others, codes[part]),
                len(values),
                threads,
            )
        )

    def alone(self, values):
        """The codes of values beside no others: uint8 array (n, books)."""
        other, codes = copy(self), np.empty(values.shape, np.uint8)
        other._places = np.arange(len(self._books))
        other.encode(values, codes)
        return codes


def with_room(array, size, blank):
    """An array of so many rows at least, the new ones ``blank``: itself, or with room for twice as many, so that it is
    seldom copied.
    """
    if size <= len(array):
        return array
    return np.concatenate([array, np.full((2 * size - len(array), *array.shape[1:]), blank, array.dtype)])


@njit()
def _encode(values, edges, counts, places, codes):
    infinite = False
    for row in range(len(values)):
        for column in range(len(places)):
            value, own = values[row, column], edges[column]
            infinite |= abs(value) == np.inf
            low, high = 0, counts[column]
            while low < high:
                middle = (low + high) >> 1
                if own[middle] <= value:
                    low = middle + 1
                else:
                    high = middle
            codes[row, places[column]] = low if value == value else MISSING
    return infinite
