"""Delimited text, a block of lines at a time, checked before any of it is handed on."""

import csv
import io
import re
import warnings

import numpy as np
import pandas as pd

from ...words import counted
from ..schema import DataError
from .numerals import MISSING_NUMBERS, MISSING_WORDS, number_of, reason_of

_DELIMITERS = ",\t;|"
_END = 10  # a line feed
_BLANKS = " \t\r\n\f\v"  # of a line that says nothing; a no-break space may be a word


class Layout:
    """How a text is divided into fields.

    Parameters
    ----------
    path : str
        Names the file in messages.
    delimiter, quote : str
        One character of ASCII each.
    comment : str or None
        A line that begins with it says nothing; it may be a whole line.
    decimal : str
        The decimal mark of numbers, "." or ",".
    """

    def __init__(self, path, delimiter, quote='"', comment=None, decimal="."):
        self.path = path
        self.delimiter = delimiter
        self.quote = quote
        self.comment = comment
        self.decimal = decimal

    def skips(self, line):
        """Whether a line is blank or a comment."""
        if line.isspace() and not line.strip(_BLANKS):
            return self.delimiter not in line  # else all fields are missing
        return self.comment is not None and line.lstrip().startswith(self.comment)


def fields_of(line, layout):
    """The fields of one line, without the blanks around them; DataError if a quote stays open."""
    line = line.rstrip("\r\n")
    if layout.quote not in line:
        fields = line.split(layout.delimiter)
        # Most lines have no blank, which is told in a tenth of the time.
        return fields if line.split(None, 1) == [line] else [field.strip() for field in fields]
    # The limit is there against files whose quotes do not close; a line is what there is here.
    if len(line) > csv.field_size_limit():
        csv.field_size_limit(len(line))
    reader = csv.reader([line, ""], delimiter=layout.delimiter, quotechar=layout.quote, skipinitialspace=True)
    fields = next(reader)
    if reader.line_num > 1:
        raise DataError(f"a quote {layout.quote} is not closed on its line")
    return [field.strip() for field in fields]


def sniff(lines, decimal="."):
    """The delimiter that divides the lines most evenly, a comma if none does.

    Commas that all stand between digits are decimal ones if another character divides as many
    lines evenly, or if ``decimal`` says so.
    """
    best, score = ",", (0, 0)
    even = {}
    for delimiter in _DELIMITERS:
        counts = [line.count(delimiter) for line in lines]
        if not counts or not max(counts):
            continue
        usual = max(set(counts), key=counts.count)
        even[delimiter] = counts.count(usual) if usual else 0
        if usual and (counts.count(usual), usual) > score:
            best, score = delimiter, (counts.count(usual), usual)
    others = {d: n for d, n in even.items() if d != "," and n}
    if best == "," and others:
        other = max(others, key=others.get)
        commas = sum(line.count(",") for line in lines)
        between = sum(len(re.findall("[0-9],(?=[0-9])", line)) for line in lines)
        if decimal == "," or between == commas and others[other] >= even.get(",", 0):
            return other
    return best


def parse(block, layout, names, kept, numeric):
    """The columns ``kept`` of a block: float64 for those in ``numeric``, else words' categories.

    Raises
    ------
    DataError
        If a line has another number of fields than ``names``, or a field of a numeric column is
        no finite number; it names file, line and column.
    """
    block.check()
    table = None
    if layout.comment is None or layout.comment.encode() not in block.data:
        table = _parse_fast(block.data, layout, names, kept, numeric)
    if table is None and len(block.lines) < block.data.count(b"\n"):
        table = _parse_fast("".join(block.lines).encode(), layout, names, kept, numeric)
    return _parse_slowly(block, layout, names, kept, numeric) if table is None else table


def _parse_fast(data, layout, names, kept, numeric):
    """What `_parse_slowly` returns, by pandas' compiled reader; None if there may be a difference.

    Lines must have as many fields as columns, since it fills up short ones and cuts long ones, and
    quotes stand where they open and close a field. It takes no other numbers than `number_of`.
    """
    text = np.frombuffer(data, np.uint8)
    rows, width = np.count_nonzero(text == _END), len(names)
    # Where all lines together have the delimiters that they should, one is too long only if
    # another is too short, and that one is seen by its last column. It is the quicker way.
    quick = layout.quote.encode() not in data and len(kept) == width
    delimiters = np.count_nonzero(text == ord(layout.delimiter)) if quick else 0
    if not rows or (delimiters != rows * (width - 1) if quick else not _is_regular(data, layout, width)):
        return None
    places = {names.index(name): name for name in kept}
    numbers = {i for i, name in places.items() if name in numeric}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what pandas is in doubt about is read slowly
            table = pd.read_csv(
                io.BytesIO(data),
                sep=layout.delimiter,
                quotechar=layout.quote,
                header=None,
                decimal=layout.decimal,
                names=range(width),
                usecols=None if quick else list(places),
                # Of numbers it finds the type itself sooner than it makes float64 as it is told.
                dtype={i: object for i in places if i not in numbers},
                na_values={i: list(MISSING_NUMBERS if i in numbers else MISSING_WORDS) for i in places},
                keep_default_na=False,
                skipinitialspace=b" " in data,
                skip_blank_lines=False,
                index_col=False,
            )
    except (ValueError, OverflowError, Warning):
        return None
    if len(table) != rows or quick and table[width - 1].isna().any() and not _is_regular(data, layout, width):
        return None
    columns = {}
    for i, name in places.items():
        column = table[i].to_numpy()
        if i in numbers:
            if column.dtype.kind not in "iuf":
                return None
            column = column.astype(np.float64, copy=False)
            if np.isinf(column).any():
                return None
        else:
            column = _words(column)
        columns[name] = column
    return pd.DataFrame(columns, columns=kept, copy=False)


def _is_regular(data, layout, width):
    """Whether all lines have ``width`` fields, and quotes stand around whole fields."""
    delimiter, quote = layout.delimiter.encode(), layout.quote.encode()
    others = bytes(set(range(256)) - {_END, *delimiter, *quote})
    marks = data.translate(None, others)
    if quote in marks:
        text = np.frombuffer(data, np.uint8)
        quotes = np.flatnonzero(text == ord(quote))
        opening, closing = quotes[0::2], quotes[1::2]
        if len(opening) > len(closing):
            return False
        # A quote beside a quote is one that is doubled.
        around = np.concatenate((text[opening[opening > 0] - 1], text[closing + 1]))
        if not np.isin(around, [_END, ord(delimiter), ord(quote)]).all():
            return False
        ends = np.flatnonzero((text == ord(delimiter)) | (text == _END))
        marks = text[ends[np.searchsorted(quotes, ends) % 2 == 0]].tobytes()
    line = delimiter * (width - 1) + b"\n"
    return marks == line * (len(marks) // width)


def _parse_slowly(block, layout, names, kept, numeric):
    """As `parse` says, field by field: the definition of what is read."""
    rows = []
    for line, number in zip(block.lines, block.numbers, strict=True):
        place = f"{layout.path}, line {number}"
        try:
            fields = fields_of(line, layout)
        except (DataError, csv.Error) as error:
            raise DataError(f"{place}: {error}") from error
        if len(fields) != len(names):
            comment = "; lines that begin with # are comments at the top of a file only"
            found = f"{counted(len(fields), 'field')}, but {counted(len(names), 'column')}"
            raise DataError(f"{place}: {found}" + comment * line.startswith("#"))
        rows.append(fields)
    columns, wrong = {}, []
    for place, (name, column) in enumerate(zip(names, zip(*rows, strict=True), strict=True)):
        if name not in kept:
            continue
        if name in numeric:
            numbers = [number_of(field, layout.decimal) for field in column]
            columns[name] = np.array([np.inf if n is None else n for n in numbers], np.float64)
            if (infinite := np.isinf(columns[name])).any():
                row = int(infinite.argmax())
                wrong.append((row, place, name, column[row]))
        else:
            columns[name] = _words(np.array(column, object))
    if wrong:
        row, _, name, field = min(wrong)
        raise not_a_number(f"{layout.path}, line {block.numbers[row]}", name, field, layout.decimal)
    return pd.DataFrame(columns, columns=kept, copy=False)


def not_a_number(place, name, field, decimal="."):
    """The error of a field in a numeric column."""
    reason = reason_of(field, decimal)
    return DataError(
        f"{place}, column {name!r}: {field!r} is not a finite number"
        f"{reason and f', for {reason}'}; allowed are finite numbers and, for a missing value, ? "
        f"or an empty field (a column of words is declared with nominal=[{name!r}])"
    )


def strange_numerals(column, decimal):
    """The row of a field that is a number in another notation, if such are most of the words.

    A column of them is numbers to whoever wrote it, so it should not become nominal in silence;
    None if it is one of numbers or words.
    """
    words = [field for field in set(column) if field not in MISSING_NUMBERS and number_of(field, decimal) is None]
    strange = [field for field in words if reason_of(field, decimal)]
    return min(map(column.index, strange)) if strange and 2 * len(strange) >= len(words) else None


def word_among_numbers(column, decimal):
    """The row of the first word of a column of numbers, and whether words are in a hundredth of its rows at most.

    None if it is one of words: codes like 1, 2 and A, of which fewer than ten are numbers for a word.
    """
    values = {field for field in set(column) if field not in MISSING_NUMBERS}
    words = {field for field in values if number_of(field, decimal) is None}
    if not words or len(values) < 11 * len(words):
        return None
    rows = [row for row, field in enumerate(column) if field in words]
    return rows[0], len(rows) <= max(1, sum(field in values for field in column) // 100)


def _words(column):
    """Categories of a column of objects, without blanks around them and missing ones."""
    codes, values = pd.factorize(column)
    clean = [value.strip() for value in values]
    if clean != list(values) or any(value in MISSING_WORDS for value in clean):
        same, clean = pd.factorize(np.array(clean, object))
        missing = np.isin(clean, MISSING_WORDS)
        places = np.where(missing, -1, np.cumsum(~missing) - 1)
        codes = np.append(places[same], -1)[codes]
        clean = clean[~missing]
    return pd.Categorical.from_codes(codes, pd.Index(clean, dtype=object))
