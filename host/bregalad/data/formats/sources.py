"""Files of lines: what columns a file has, and its rows as checked tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ...words import counted
from ..schema import Attribute, DataError
from .lines import Block

if TYPE_CHECKING:
    import pandas as pd

    from .files import File
    from .kafka import Topic

HEAD = 10_000  # rows from which the kinds of undeclared columns are inferred


class Source:
    """What the formats have in common."""

    path: File | Topic | str  # a generator's is its name
    attributes: tuple[Attribute, ...]  # one for every column of the file, the class among them
    index: tuple[str, ...] = ()  # columns that are left out as the index of a data frame
    times: tuple[int, ...] = ()  # columns of dates and times, which are read as seconds where they are numeric
    # Columns that cannot be learnt from: where that shows, why, and whether their words can.
    refusals: dict[int, tuple[str, str, bool]] = {}  # noqa: RUF012
    rows: int | None = None  # how many there are, if that is known beforehand
    once = False  # whether nothing is looked up in it beforehand, as in a pipe
    begun = False  # whether rows were read before those it has
    check: Callable[[pd.DataFrame, Callable[[int], str]], None]  # refuses rows; the `Stream` puts it here

    def position(self, rows: int) -> dict | None:
        """Where to go on after so many rows, if their number does not say that."""
        return None

    def tables(
        self, chunk: int, kept: Collection[str], numeric: Collection[str]
    ) -> Iterator[tuple[pd.DataFrame, Callable[[int], str]]]:
        """The columns ``kept``, chunk by chunk, each with a function that names the place of one of its rows.

        Those in ``numeric`` are float64, the others categories of strings.
        """
        raise NotImplementedError

    @property
    def columns(self):
        """The columns' names, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    def rename(self, names):
        """Give the columns other names."""
        names = tuple(names)
        if len(names) != len(self.attributes):
            columns = counted(len(self.attributes), "column")
            raise DataError(f"{self.path}: {counted(len(names), 'name')}, but {columns}")
        self._unique(names, self.path)
        self.attributes = tuple(replace(a, name=name) for name, a in zip(names, self.attributes, strict=True))

    def refusal(self, index, as_words):
        """Why a column of an index cannot be learnt, or None; of some may be learnt ``as_words`` what they hold."""
        place, why, words = self.refusals.get(index, ("", "", True))
        if words and (as_words or not why):
            return None
        name = self.columns[index]
        return (
            f"{place}, column {name!r}: {why}; leave it out with ignore=[{name!r}] (--ignore)"
            + words * f" or take words with nominal=[{name!r}] (--nominal)"
        )

    @staticmethod
    def _unique(names, place):
        for name, count in Counter(names).items():
            if count > 1 or not name:
                what = f"column {name!r} is named twice" if name else f"column {list(names).index('')} has no name"
                raise DataError(f"{place}: {what}; give the columns other names with names=[...] (--names)")


class LineSource(Source):
    """A format with one instance per line: ``layout`` divides it, ``skipped`` lines precede.

    Of ``width`` fields those at ``places`` are the columns.
    """

    def tables(self, chunk, kept, numeric):
        """Yield the data, ``chunk`` lines at a time; DataError if a pipe's are gone."""
        with self.path.lines() as lines:
            if lines.number > self.skipped:
                raise DataError(f"{self.path}: a pipe can be read once only; write what comes to a file first")
            places = {name: place for name, place in zip(self.columns, self.places, strict=True) if name in kept}
            while lines.number < self.skipped:
                lines.take(self.skipped - lines.number)
            start = lines.number + 1
            while taken := lines.take(chunk):
                block = Block(taken, start, self.layout)
                start = lines.number + 1
                if not block.is_empty:
                    yield self._table(block, places, numeric), block.place

    def _table(self, block, places, numeric):
        """Columns of a block by their names and places; see `tables`."""
        raise NotImplementedError
