"""Numeric attributes' edges in tables that are kept, for a few instances at a time."""

from copy import copy

import numpy as np

from ..compiled import njit
from ..geometry import MISSING

__all__ = ["FEW", "NumberTables", "with_room"]

FEW = 32  # instances up to which these are quicker than `encode_numbers`


class NumberTables:
    """Numeric attributes' codes, for a few instances at a time: what `encode_numbers` gives.

    Parameters
    ----------
    books : list of CodeBook
    places : sequence of int
        The column of ``codes`` for each.

    Attributes
    ----------
    changes : int
        How often books' edges may have changed; to be counted by whoever changes them.
    """

    def __init__(self, books, places):
        self._books = books
        self._places = np.asarray(places, np.int64)
        self._edges = np.empty((len(books), MISSING))
        self._counts = np.zeros(len(books), np.int64)
        self.changes = 0
        self._read = -1

    def extended(self, books, places):
        """Tables with those of more books; see `Quantiser.extended`."""
        other = copy(self)
        other._books = [*self._books, *books]
        other._places = np.append(self._places, np.asarray(places, np.int64))
        other._edges = with_room(self._edges, len(other._books), 0.0)
        other._counts = with_room(self._counts, len(other._books), 0)
        return other

    def encode(self, values, codes):
        """Write the codes of values; see `encode_numbers`.

        Parameters
        ----------
        values : float64 array (n, books), C-contiguous
        codes : uint8 array (n, attributes), C-contiguous

        Returns
        -------
        bool
            Whether a value is infinite, and has no code.
        """
        if self._read != self.changes:
            self._read = self.changes
            for i, book in enumerate(self._books):
                self._counts[i] = len(book.edges)
                self._edges[i, : self._counts[i]] = book.edges
        return _encode(values, self._edges, self._counts, self._places, codes)


def with_room(array, size, blank, axis=0):
    """An array of so many elements along an axis at least, the new ones ``blank``: itself, or with room for twice as
    many, so that it is seldom copied."""
    if size <= array.shape[axis]:
        return array
    widths = [(0, 2 * size - array.shape[axis]) if each == axis else (0, 0) for each in range(array.ndim)]
    return np.pad(array, widths, constant_values=blank)


@njit(error_model="numpy")
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
