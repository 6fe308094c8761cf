"""Numeric attributes' edges in tables that are kept, for a few instances at a time."""

import numpy as np

from ..compiled import njit
from ..geometry import MISSING
from .edges import HUGE
from .search import encode_numbers

__all__ = ["FEW", "NumberTables"]

FEW = 32  # instances up to which these are quicker than `encode_numbers`

# Columns of a numeric attribute's table: the range in which a value gets its code without a code
# being claimed, the range that is covered, the code below the first edge (-1: none is given yet)
# and how many edges follow.
_FLOOR, _CEILING, _LOW, _HIGH, _FIRST, _COUNT, _EDGES = range(7)


class NumberTables:
    """Numeric attributes' codes, for a few instances at a time: what `encode_numbers` gives.

    Parameters
    ----------
    books : list of CodeBook
        What they count as seen is counted here.
    places : sequence of int
        The column of ``codes`` for each.

    Attributes
    ----------
    stale : bool
        Whether a book may have grown otherwise; to be set by whoever makes it grow.
    """

    def __init__(self, books, places):
        self._books = books
        self._places = np.asarray(places, np.int64)
        self._tables = np.empty((len(books), _EDGES + MISSING))
        self._tallies = np.array([book.tally for book in books], np.int64).reshape(-1, 2)
        for book, tally in zip(books, self._tallies, strict=True):
            book.tally = tally
        self._known = [None] * len(books)  # the edges that the tables are of
        self.stale = True

    def encode(self, values, codes, *, read_only=False):
        """Write the codes of values; see `encode_numbers`.

        Parameters
        ----------
        values : float64 array (n, books), C-contiguous
        codes : uint8 array (n, attributes), C-contiguous

        Raises
        ------
        InfiniteValue
            If there is one; the instances before it are encoded.
        """
        if self.stale:
            self._refresh()
        done = _encode(values, self._tables, self._tallies, self._places, codes, not read_only)
        while done < len(values):
            row = slice(done, done + 1)
            encode_numbers(self._books, values[row], codes[row], self._places, read_only=read_only)
            self._refresh()
            done += 1 + _encode(
                values[done + 1 :], self._tables, self._tallies, self._places, codes[done + 1 :], not read_only
            )

    def _refresh(self):
        self.stale = False
        for i, book in enumerate(self._books):
            if self._known[i] is book.edges:
                continue
            table, edges = self._tables[i], book.edges
            self._known[i] = edges
            if book.first is None:
                table[[_FLOOR, _CEILING, _FIRST, _COUNT]] = np.inf, -np.inf, -1, 0
                continue
            # A side without codes left is open-ended.
            table[:_EDGES] = (
                book.low if book.first > 0 else -HUGE,
                book.high if book.last < MISSING - 1 else HUGE,
                book.low,
                book.high,
                book.first,
                len(edges),
            )
            table[_EDGES : _EDGES + len(edges)] = edges


@njit(error_model="numpy")
def _encode(values, tables, tallies, places, codes, learning):
    """Instances encoded before the first with a value that claims codes, or is infinite."""
    for row in range(len(values)):
        for column in range(len(places)):
            value = values[row, column]
            low = tables[column, _FLOOR] if learning else -HUGE
            high = tables[column, _CEILING] if learning else HUGE
            if value < low or value > high:
                return row
        for column in range(len(places)):
            value, table = values[row, column], tables[column]
            code = np.int64(MISSING)
            if value == value and table[_FIRST] >= 0:
                low, high = 0, np.int64(table[_COUNT])
                while low < high:
                    middle = (low + high) >> 1
                    if table[_EDGES + middle] <= value:
                        low = middle + 1
                    else:
                        high = middle
                code = np.int64(table[_FIRST]) + low
                if learning:
                    tallies[column, 0] += 1
                    tallies[column, 1] += value < table[_LOW] or value > table[_HIGH]
            codes[row, places[column]] = code
    return len(values)
