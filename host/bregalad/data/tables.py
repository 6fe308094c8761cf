"""Numeric attributes' edges in tables that are kept while the books stay as they are."""

from copy import copy

import numpy as np

from ..compiled import njit
from ..geometry import MISSING
from .search import EDGES, begin, search

_FEW = 32  # instances up to which a search through one attribute after another is quicker
_BUCKETS = 256  # instances from which on buckets save more than they cost


class NumberTables:
    """Numeric attributes' codes, of many instances or few.

    Parameters
    ----------
    books : list of CodeBook
    places : sequence of int
        The column of ``codes`` for each.

    Attributes
    ----------
    changes : int
        How often books have got other edges.
    """

    def __init__(self, books, places):
        self._books = books
        self._places = np.asarray(places, np.int64)
        self._edges = np.full((len(books), EDGES), np.inf)
        self._counts = np.zeros(len(books), np.int64)
        self._begun = None  # for values of some type, with buckets or not: `begin` of these
        self._for = None
        self.changes = 0
        for i, book in enumerate(books):
            self._counts[i] = len(book.edges)
            self._edges[i, : self._counts[i]] = book.edges

    @property
    def edges(self):
        """Of all books, float64 array (books, EDGES), filled up with infinity; and how many each has, int64 array."""
        return self._edges[: len(self._books)], self._counts[: len(self._books)]

    def extended(self, books, places):
        """Tables with those of more books, which have no edges yet; see `Quantiser.extended`."""
        other = copy(self)
        other._books = [*self._books, *books]
        other._places = np.append(self._places, np.asarray(places, np.int64))
        other._edges = with_room(self._edges, len(other._books), np.inf)
        other._counts = with_room(self._counts, len(other._books), 0)
        other._begun = None
        return other

    def change(self, columns, edges, counts):
        """Give books of some columns other edges, float64 array (m, EDGES), filled up with infinity."""
        self._edges[columns], self._counts[columns], self._begun = edges, counts, None
        self.changes += 1
        for column, own, count in zip(columns.tolist(), edges, counts.tolist(), strict=True):
            self._books[column].edges = own[:count]

    def encode(self, values, codes, threads=1):
        """Write the codes of values into columns of ``codes``.

        Parameters
        ----------
        values : float32 or float64 array (n, books)
        codes : uint8 array (n, attributes), C-contiguous
        threads : int
            That search at the same time; the codes are the same.

        Returns
        -------
        bool
            Whether a value is infinite, and has no code.
        """
        if len(values) <= _FEW:
            return _encode(np.ascontiguousarray(values, np.float64), self._edges, self._counts, self._places, codes)
        wanted = values.dtype, len(values) >= _BUCKETS
        if self._begun is None or self._for not in (wanted, (values.dtype, True)):
            self._begun, self._for = begin(*self.edges, wanted[1], wanted[0]), wanted
        return search(values, codes, self._places, self._begun, threads)


def with_room(array, size, blank, axis=0):
    """An array of so many elements along an axis at least, the new ones ``blank``: itself, or with room for twice as
    many, so that it is seldom copied."""
    if size <= array.shape[axis]:
        return array
    widths = [(0, 2 * size - array.shape[axis]) if each == axis else (0, 0) for each in range(array.ndim)]
    return np.pad(array, widths, constant_values=blank)


@njit()
def _encode(values, edges, counts, places, codes):
    infinite = False
    for row in range(len(values)):
        for column in range(len(places)):
            value, own = values[row, column], edges[column]
            code = np.int64(MISSING)
            infinite |= abs(value) == np.inf
            if value == value:
                low, high = 0, counts[column]
                while low < high:
                    middle = (low + high) >> 1
                    if own[middle] <= value:
                        low = middle + 1
                    else:
                        high = middle
                code = low
            codes[row, places[column]] = code
    return infinite
