"""Delimited text, a block of lines at a time, checked before any of it is handed on."""

import csv
import io
from itertools import islice

import numpy as np
import pandas as pd

from .schema import DataError

__all__ = ["Block", "Layout", "blocks", "fields_of", "is_number", "parse", "sniff"]

MISSING_WORDS = ("", "?")
MISSING_NUMBERS = ("", "?", "NA", "NaN", "nan")
_DELIMITERS = ",\t;|"


class Layout:
    """How a text is divided into fields.

    Parameters
    ----------
    path : str
        Names the file in messages.
    delimiter, quote : str
        One character each.
    comment : str or None
        A line that begins with it says nothing.
    """

    def __init__(self, path, delimiter, quote='"', comment=None):
        self.path = path
        self.delimiter = delimiter
        self.quote = quote
        self.comment = comment

    def skips(self, line):
        """Whether a line is blank or a comment."""
        if line.isspace():
            return self.delimiter not in line  # else all fields are missing
        return self.comment is not None and line.lstrip().startswith(self.comment)


class Block:
    """Lines of a text and where the first ones stood.

    Parameters
    ----------
    lines : list of str
        Without blank lines and comments.
    numbers : sequence of int
        The number of each line in its file, counted from 1.
    """

    def __init__(self, lines, numbers):
        self.lines = lines
        self.numbers = numbers


def blocks(text, layout, size, start=1):
    """Divide an open text into blocks of up to ``size`` lines; ``start`` numbers its first line."""
    while lines := list(islice(text, size)):
        numbers = range(start, start + len(lines))
        start += len(lines)
        if any(map(layout.skips, lines)):
            kept = [(n, line) for n, line in zip(numbers, lines, strict=True)
                    if not layout.skips(line)]
            numbers, lines = [n for n, _ in kept], [line for _, line in kept]
        if lines:
            yield Block(lines, numbers)


def fields_of(line, layout):
    """The fields of one line, without the blanks around them."""
    reader = csv.reader([line.rstrip("\r\n")], delimiter=layout.delimiter, quotechar=layout.quote,
                        skipinitialspace=True)
    return [field.strip() for field in next(reader, [])]


def sniff(lines):
    """The delimiter that divides the lines most evenly, a comma if none does."""
    best, score = ",", (0, 0)
    for delimiter in _DELIMITERS:
        counts = [line.count(delimiter) for line in lines]
        if not counts or not max(counts):
            continue
        usual = max(set(counts), key=counts.count)
        if usual and (counts.count(usual), usual) > score:
            best, score = delimiter, (counts.count(usual), usual)
    return best


def is_number(field):
    """Whether a field reads as a number, infinities included."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field  # Python's own grouping


def parse(block, layout, names, kept, numeric):
    """The columns ``kept`` of a block: float64 for those in ``numeric``, else words' categories.

    Raises
    ------
    DataError
        If a line has another number of fields than ``names``, or a field of a numeric column is
        no finite number; it names file, line and column.
    """
    _check_widths(block, layout, len(names))
    words = {name: list(MISSING_NUMBERS if name in numeric else MISSING_WORDS) for name in kept}
    options = {
        "sep": layout.delimiter, "quotechar": layout.quote, "header": None, "names": names,
        "usecols": kept, "index_col": False, "keep_default_na": False, "skipinitialspace": True,
        "skip_blank_lines": False, "na_values": words,
    }
    # As strings first: of words that look like numbers a "category" would make numbers.
    kinds = {name: "float64" if name in numeric else "str" for name in kept}
    source = "".join(block.lines)
    try:
        table = pd.read_csv(io.StringIO(source), dtype=kinds, **options)
        if len(table) != len(block.lines):
            raise DataError(f"{layout.path}, line {block.numbers[0]} or later: "
                            f"a quote {layout.quote} is not closed on its line")
    except (ValueError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        _explain(block, layout, names, numeric)
        raise DataError(f"{layout.path}, lines {block.numbers[0]} to {block.numbers[-1]}: "
                        f"{error}") from error
    for name in kept:
        if name in numeric:
            column = table[name].to_numpy()
            if np.isinf(column).any():
                row = int(np.isinf(column).argmax())
                raise _no_number(block, layout, names, row, name)
        else:
            table[name] = _stripped(table[name].astype("category"))
    return table


def _check_widths(block, layout, expected):
    for i, line in enumerate(block.lines):
        found = line.count(layout.delimiter) + 1
        if found != expected or layout.quote in line:
            try:
                found = len(fields_of(line, layout))
            except csv.Error as error:
                raise DataError(f"{layout.path}, line {block.numbers[i]}: {error}") from error
            if found != expected:
                raise DataError(f"{layout.path}, line {block.numbers[i]}: {found} fields, "
                                f"but {expected} columns")


def _explain(block, layout, names, numeric):
    for row, line in enumerate(block.lines):
        for name, field in zip(names, fields_of(line, layout), strict=True):
            if name in numeric and field not in MISSING_NUMBERS and not is_number(field):
                raise _no_number(block, layout, names, row, name)


def _no_number(block, layout, names, row, name):
    field = fields_of(block.lines[row], layout)[names.index(name)]
    return DataError(
        f"{layout.path}, line {block.numbers[row]}, column {name!r}: {field!r} is not a finite "
        "number; allowed are finite numbers and, for a missing value, ? or an empty field "
        f"(a column of words is declared with nominal=[{name!r}])")


def _stripped(column):
    values = column.cat.categories
    clean = [str(value).strip() for value in values]
    if clean == list(values):
        return column
    fitting = [None if value in MISSING_WORDS else value for value in clean]
    return column.map(dict(zip(values, fitting, strict=True))).astype("category")
