"""Files of lines: what columns a file has, and its rows as checked tables."""

from itertools import islice
from os.path import getsize

from .files import open_binary, open_text
from .schema import Attribute, DataError
from .text import MISSING_NUMBERS, Layout, blocks, fields_of, is_number, parse, sniff

__all__ = ["LineSource", "Source", "TextSource"]

HEAD = 10_000  # rows from which the kinds of undeclared columns are inferred
_COUNTED = 4 << 20  # bytes of a file whose rows are counted for a progress bar


class Source:
    """What the formats have in common.

    Members
    -------
    attributes : tuple of Attribute
        One for every column of the file, the class among them.
    index : tuple of str
        Columns that are left out as the index of a data frame, unless they are asked for.
    count() : int or None
        The number of rows if it is known cheaply.
    tables(chunk, kept, numeric) : iterator of (pandas.DataFrame, function)
        The columns ``kept``, those in the set ``numeric`` as float64, the others as categories of
        strings; the function names the place of a row of the table.
    """

    index = ()

    @property
    def columns(self):
        """The columns' names, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    def rename(self, names):
        """Give the columns other names."""
        names = tuple(names)
        if len(names) != len(self.attributes):
            raise DataError(f"{self.path}: {len(names)} names, but {len(self.attributes)} columns")
        self._unique(names, self.path)
        self.attributes = tuple(Attribute(name, a.kind, a.values)
                                for name, a in zip(names, self.attributes, strict=True))

    def refusal(self, index, declared):
        """Why a column cannot be learnt, or None.

        Parameters
        ----------
        index : int
        declared : str or None
            The kind that an option says it is of.
        """
        return None

    @staticmethod
    def _unique(names, place):
        seen = set()
        for name in names:
            if name in seen:
                raise DataError(f"{place}: column {name!r} is named twice")
            if not name:
                raise DataError(f"{place}: column {len(seen)} has no name")
            seen.add(name)


class LineSource(Source):
    """A format with one instance per line: ``layout`` divides it, ``skipped`` lines precede."""

    def count(self):
        """Lines of data; blank ones count, so it is a hint."""
        if getsize(self.path) > _COUNTED:
            return None
        total, last = 0, b"\n"
        with open_binary(self.path) as file:
            while piece := file.read(1 << 20):
                total += piece.count(b"\n")
                last = piece[-1:]
        return max(0, total + (last != b"\n") - self.skipped)

    def tables(self, chunk, kept, numeric):
        """Yield the data, ``chunk`` lines at a time."""
        with open_text(self.path) as text:
            for _ in islice(text, self.skipped):
                pass
            for block in blocks(text, self.layout, chunk, self.skipped + 1):
                table = self._table(block, kept, numeric)
                yield table, lambda row, block=block: f"{self.path}, line {block.numbers[row]}"

    def _table(self, block, kept, numeric):
        return parse(block, self.layout, self.columns, kept, numeric)


class TextSource(LineSource):
    """Delimited text; what is not said about its columns is inferred from the head."""

    def __init__(self, path, suffix, header, known):
        self.path = path
        self.layout = Layout(path, "\t" if suffix in (".tsv", ".tab") else ",")
        with open_text(path) as text:
            lines = list(islice(text, HEAD + 1))
        if any("\0" in line for line in lines[:100]):
            raise DataError(f"{path}: not a text; allowed are ARFF, CSV, TSV and Parquet, "
                            "also as .gz and .zip")
        head = next(blocks(iter(lines), self.layout, HEAD + 1), None)
        if head is None:
            raise DataError(f"{path}: the file is empty")
        if self.layout.delimiter != "\t":
            self.layout.delimiter = sniff(head.lines[:100])
        rows = [fields_of(line, self.layout) for line in head.lines]
        width, first = len(rows[0]), f"{path}, line {head.numbers[0]}"
        if header is True or header == "auto" and _is_header(rows, known):
            self.skipped = head.numbers[0]
            columns = rows.pop(0)
            self._unique(columns, first)
            if not rows:
                raise DataError(f"{path}: no instance, the file has a header only")
        else:
            self.skipped = 0
            columns = [f"x{i}" for i in range(width - 1)] + ["class"]
        rows = [row for row in rows if len(row) == width]
        self.attributes = tuple(
            Attribute(name, "numeric" if _numeric(row[i] for row in rows) else "nominal")
            for i, name in enumerate(columns))


def _numeric(fields):
    return all(field in MISSING_NUMBERS or is_number(field) for field in fields)


def _is_header(rows, known):
    """Names stand above the data if they are distinct words and some column is of numbers."""
    names, body = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if known & set(names):
        return True
    # An empty name is no number: pandas writes one above its index, and it is refused as such.
    if len(set(names)) < len(names) or any(name and _numeric((name,)) for name in names):
        return False
    if not body:
        return True
    columns = list(zip(*body, strict=True))
    return any(map(_numeric, columns)) \
        or not any(name in column for name, column in zip(names, columns, strict=True))
