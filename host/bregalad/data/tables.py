"""Numeric attributes' edges in tables that are kept, for a few instances at a time."""

import numpy as np

from ..compiled import njit
from ..geometry import MISSING

__all__ = ["FEW", "NumberTables"]

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
    stale : bool
        Whether a book's edges may have changed; to be set by whoever changes them.
    """

    def __init__(self, books, places):
        self._books = books
        self._places = np.asarray(places, np.int64)
        self._edges = np.empty((len(books), MISSING))
        self._counts = np.zeros(len(books), np.int64)
        self.stale = True

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
        if self.stale:
            self.stale = False
            for i, book in enumerate(self._books):
                self._counts[i] = len(book.edges)
                self._edges[i, : self._counts[i]] = book.edges
        return _encode(values, self._edges, self._counts, self._places, codes)


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
