"""Delimited text: what is not said about its columns is inferred from the head."""

from collections import Counter
from contextlib import suppress

import numpy as np

from ...warn import warn
from ..schema import Attribute, DataError
from ..times import are_times, seconds_of_words
from . import text
from .lines import Block
from .sources import HEAD, LineSource

_MANY = 20  # rows of which one with a word may be wrong


class TextSource(LineSource):
    """Delimited text: of a suffix .tsv or .tab tabs divide it; header and decimal are as of `open_stream`.

    ``known`` are names that columns may have; ``named`` says whether the columns get others. Of a pipe no more lines
    than a chunk are waited for to infer kinds from, if there is more than one.
    """

    def __init__(self, path, suffix, header, known, named, decimal, chunk):
        self.path, self.once, self.width = path, path.once, None
        count = max(2, min(HEAD + 1, chunk)) if path.once else HEAD + 1
        self.layout = text.Layout(path, "\t" if suffix in (".tsv", ".tab") else ",", decimal=decimal)
        with path.lines() as lines:
            head = Block(lines.peek(count), 1, self.layout)
        if not head.rows:
            raise DataError(f"{path}: the file is empty")
        begin = next((number for number, line in head.rows.items() if not line.startswith("#")), 0)
        lines = {number: line for number, line in head.rows.items() if number >= begin}
        if self.layout.delimiter != "\t":
            self.layout.delimiter = text.sniff(list(lines.values())[:100], decimal)
        rows = text.divided(lines, path, self._fields)
        numbers = list(lines)
        first = f"{path}, line {numbers[0]}"
        guessed = header == "auto"
        if guessed:
            header = _is_header(rows, known, decimal)
        columns, self.skipped = [f"x{i}" for i in range(self.width - 1)] + ["class"], numbers[0] - 1
        if header:
            columns, rows, numbers, self.skipped = rows[0], rows[1:], numbers[1:], numbers[0]
        if not rows:
            raise DataError(f"{path}: no instance, the file has a header only")
        self._infer(columns, rows, numbers, named, first, guessed and not header)
        labels = {row[-1] for row in rows[1:]}
        new = len(rows) > _MANY > len(labels) and rows[0][-1] not in labels
        if guessed and not header and new and not self.refusals:
            warn(f"{first} is taken for an instance; header=True (--header yes) says that it names the columns")

    def _fields(self, line):
        """The fields of a line of the head, as many as the first has."""
        fields = text.fields_of(line, self.layout, self.width)
        self.width = len(fields)
        return fields

    def _infer(self, columns, rows, numbers, named, first, doubtful):
        """Set the attributes, from what the rows of the head hold; the first may be ``doubtful``: names, after all."""
        fields_by_column = list(zip(*rows, strict=True))
        # Names of rows, and what a delimiter at the ends of lines leaves, are no columns.
        if not columns[-1] and not any(fields_by_column[-1]):
            columns = [*columns[:-1], None]
        if not columns[0] and not named:
            columns = [None, *columns[1:]]
            warn(f"{first}: the first column has no name, so it is left out; --names (names=[...]) gives it one")
        self.places = [i for i, name in enumerate(columns) if name is not None]
        if not named:
            self._unique([columns[i] for i in self.places], first)
        self.attributes, self.refusals, self.times = (), {}, ()
        for at, i in enumerate(self.places):
            kind, row = _kind(fields_by_column[i], self.layout.decimal)
            if kind == "times":
                self.times += (at,)
            self.attributes += (Attribute(columns[i] or f"x{i}", "nominal" if kind == "nominal" else "numeric"),)
            if row is not None:
                names = "; header=True (--header yes) says that the line names the columns" * (doubtful and row == 0)
                why = text.not_a_number(fields_by_column[i][row], self.layout.decimal) + names
                self.refusals[at] = f"{self.path}, line {numbers[row]}", why, True

    def _table(self, block, places, numeric):
        times = [name for name in (self.columns[at] for at in self.times) if name in places and name in numeric]
        table = text.parse(block, self.layout, self.width, places, numeric - {*times})
        for name in times:
            table[name] = self._seconds(table[name], block)
        return table

    def _seconds(self, column, block):
        """A column of words that are dates or times as numbers."""
        words = column.cat.categories
        numbers = seconds_of_words(words)
        wrong = np.isnan(numbers) & ~words.isin(text.MISSING_NUMBERS)
        codes = column.cat.codes.to_numpy()
        if (found := np.append(wrong, False)[codes]).any():
            row = int(found.argmax())
            raise DataError(
                f"{block.place(row)}, column {column.name!r}: {column.iloc[row]!r} is no date or time as 2020-12-31, "
                "2020-12-31T23:59:59+01:00 or 23:59, as others are (a column of words is declared with "
                f"nominal=[{column.name!r}])"
            )
        return np.append(numbers, np.nan)[codes]


def _kind(fields, decimal):
    """What a column's fields are: "numeric", "times" or "nominal"; and the row of one that is no number, or None.

    Words in one of many rows, or in a hundredth of them at most, are errors, numbers in another notation are no words.
    """
    # Most columns are plain numbers, which float() tells in a hundredth of the time.
    joined = "".join(fields)
    if decimal == "." and joined.isascii() and "_" not in joined:
        with suppress(ValueError):
            list(map(float, fields))
            return "numeric", None
    there = Counter(field for field in fields if field not in text.MISSING_NUMBERS)
    odd = [field for field in there if np.isinf(text.number_of(field, decimal))]
    if not odd:
        return "numeric", None
    if are_times(there):
        return "times", None
    words = sum(there[field] for field in odd if not text.NUMBER.fullmatch(field))
    rows = there.total()
    return ("nominal", None) if words > max(rows > _MANY, rows // 100) else ("numeric", fields.index(odd[0]))


def _is_header(rows, known, decimal):
    """Whether the first row names the columns.

    It does if it holds a name that is known, or no number, date or ? but words of which one stands above numbers, or
    none occurs below itself. So it does if it counts columns, as pandas does, and its last field is not below itself.
    """
    names = rows[0]
    counted_ones = names[not names[0] : -1]  # pandas writes no name above its index
    counts = len(counted_ones) > 1 and counted_ones == [str(i) for i in range(len(counted_ones))]
    if known & set(names) or counts and all(row[-1] != names[-1] for row in rows[1:]):
        return True
    words = [i for i, name in enumerate(names) if name not in text.MISSING_NUMBERS]
    if not words or "?" in names or any(_kind([names[i]], decimal) != ("nominal", None) for i in words):
        return False
    body = [row for row in rows[1:] if row != names]  # files may have been joined
    columns = list(zip(*body, strict=True)) or [()] * len(names)
    return not any(names[i] in columns[i] for i in words) or any(
        _kind(columns[i], decimal)[0] != "nominal" and set(columns[i]) - text.MISSING_NUMBERS for i in words
    )
