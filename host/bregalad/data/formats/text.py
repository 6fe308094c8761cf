"""Delimited text, a block of lines at a time, checked before any of it is handed on."""

import csv
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import compute
from pyarrow import csv as arrow_csv

from ...words import counted
from ..schema import DataError

MISSING_WORDS = ("", "?")
# As pandas has them, and Weka's.
MISSING_NUMBERS = frozenset(
    ("", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NULL", "null", "None", "NaN", "nan", "-NaN")
    + ("-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN")
)
# What a person reads as a number, with other digits, signs and decimal marks, and marks between thousands.
NUMBER = re.compile(
    r"[+\u2212-]?(\d{1,3}([,.'’_\s])\d{3}(\2\d{3})*([.,]\d+)?|\d+([,.\u066b]\d*)?|[,.\u066b]\d+|inf(inity)?)(e[+-]?\d+)?",
    re.IGNORECASE,
)
_CATEGORIES = pa.dictionary(pa.int32(), pa.string())
_BLANKS = " \t\r\n\f\v"  # of a line that says nothing; a no-break space may be a word


@dataclass
class Layout:
    """How a text is divided into fields: by a delimiter and quotes, one character of ASCII each.

    The path names the file in messages. A line that begins with the ``comment``, if there is one, says nothing;
    ``decimal`` is the decimal mark of numbers, "." or ",".
    """

    path: str
    delimiter: str
    quote: str = '"'
    comment: str | None = None
    decimal: str = "."

    def skips(self, line):
        """Whether a line is blank or a comment."""
        if not line.strip(_BLANKS):
            return self.delimiter not in line  # else all fields are missing
        return self.comment is not None and line.lstrip().startswith(self.comment)


def fields_of(line, layout, width=None):
    """The fields of one line, without the blanks around them; DataError if a quote stays open, or they are not
    ``width``.
    """
    fields = line.split(layout.delimiter)
    if layout.quote in line:
        # The limit is there against files whose quotes do not close; a line is what there is here.
        csv.field_size_limit(max(csv.field_size_limit(), len(line)))
        reader = csv.reader([line, ""], delimiter=layout.delimiter, quotechar=layout.quote, skipinitialspace=True)
        fields = next(reader)
        if reader.line_num > 1:
            raise DataError(f"a quote {layout.quote} is not closed on its line")
    if width not in (None, len(fields)):
        comment = "; lines that begin with # are comments at the top of a file only" * line.startswith("#")
        raise DataError(f"{counted(len(fields), 'field')}, but {counted(width, 'column')}{comment}")
    # Most lines have no blank, which is told in a tenth of the time.
    return fields if line.split(None, 1) == [line] else [field.strip() for field in fields]


def divided(lines, path, divide):
    """What ``divide`` makes of each line; its errors name the line. A dict of lines by their numbers becomes a list."""
    rows = []
    for number, line in lines.items():
        try:
            rows.append(divide(line))
        except (ValueError, csv.Error) as error:
            raise DataError(f"{path}, line {number}: {error}") from error
    return rows


def sniff(lines, decimal="."):
    """The delimiter that divides the lines most evenly, a comma if none does.

    Commas that all stand between digits are decimal ones if another character divides as many
    lines evenly, or if ``decimal`` says so.
    """

    def score(delimiter):
        """How many lines have as many as most have, and how many that is."""
        usual, count = Counter(line.count(delimiter) for line in lines).most_common(1)[0]
        return (count, usual) if usual else (0, 0)

    other = max("\t;|", key=score)
    outside = any(re.search("(?<![0-9]),|,(?![0-9])", line) for line in lines)
    if any(score(other)) and (decimal == "," or not outside and score(other)[0] >= score(",")[0]):
        return other
    return max(",", other, key=score)


def parse(block, layout, width, places, numeric):
    """Columns of a block, by their names and places among ``width``: float64 for those in ``numeric``, else categories.

    DataError, with file, line and column, if a line has another number of fields, or a field of a numeric column is no
    finite number.
    """

    def fields(line):
        return [None if field in MISSING_WORDS else field for field in fields_of(line, layout, width)]

    data, comment = block.data, layout.comment
    if comment is not None and comment.encode() in data or b"\n\n" in data or data.startswith(b"\n"):
        data = "\n".join([*block.rows.values(), ""]).encode()
    table = _parse_fast(data, layout, width, places, numeric)
    return table_of(block, fields, layout, places, numeric) if table is None else table


def _parse_fast(data, layout, width, places, numeric):
    """What `table_of` returns, by Arrow's compiled reader; None if there may be a difference.

    It divides lines and takes numbers as `fields_of` and `number_of` do, but for quotes behind blanks, numbers of
    ASCII's NaN with a payload, and quotes that are not closed on their line.
    """
    quote, delimiter = layout.quote.encode(), layout.delimiter.encode()
    rows = data.count(b"\n")
    if quote in data:
        behind_blanks = b"(?:^|[\n" + re.escape(delimiter) + b"]) +" + quote
        if width == 1 or b" " + quote in data and re.search(behind_blanks, data):
            return None
        data += delimiter * (width - 1) + b"\n"  # a quote that is still open takes this row along
    elif b" " in data:
        data = re.sub(re.escape(delimiter) + b" +", delimiter, data)
    types = {str(place): pa.float64() if name in numeric else _CATEGORIES for name, place in places.items()}
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(block_size=len(data) + 1, column_names=[str(place) for place in range(width)]),
            arrow_csv.ParseOptions(delimiter=layout.delimiter, quote_char=layout.quote),
            arrow_csv.ConvertOptions(
                include_columns=list(types),
                column_types=types,
                null_values=list(MISSING_NUMBERS),
                decimal_point=layout.decimal,
                check_utf8=False,
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowCancelled):  # the latter by a signal, which Python handles next
        return None
    if len(table) != rows + (quote in data):
        return None
    columns, table = {}, table.slice(0, rows)
    for name, column in zip(places, table.columns, strict=True):
        if name in numeric:
            if not compute.all(compute.is_finite(column)).as_py() and rows > column.null_count:
                return None
            columns[name] = column.to_numpy()
        else:
            column = column.combine_chunks()
            columns[name] = _words(column.indices.to_numpy(), column.dictionary.to_pylist())
    return pd.DataFrame(columns, columns=list(places), copy=False)


def table_of(block, fields, layout, places, numeric):
    """As `parse` says, by a function that makes a list of fields of a line, None for missing ones; its ValueErrors are
    told of.
    """
    table, columns = {}, list(zip(*divided(block.rows, layout.path, fields), strict=True))
    for name, place in places.items():
        words = np.array([*columns[place], None], object)[:-1]
        if name not in numeric:
            table[name] = pd.Categorical(words)
            continue
        table[name] = np.array([number_of(word or "", layout.decimal) for word in words], np.float64)
        if (infinite := np.isinf(table[name])).any():
            row = int(infinite.argmax())
            why = not_a_number(words[row], layout.decimal)
            raise DataError(
                f"{block.place(row)}, column {name!r}: {why} (a column of words is declared with nominal=[{name!r}])"
            )
    return pd.DataFrame(table, columns=list(places), copy=False)


def not_a_number(field, decimal="."):
    """What is wrong with a field in a numeric column."""
    other = "," if decimal == "." else "."
    mark = f" ({other} is the decimal mark with decimal={other!r}, --decimal {other})" if other in field else ""
    return f"{field!r} is not a finite number such as -1234{decimal}5{mark}, and a missing one is ? or an empty field"


def _words(codes, values):
    """Categories of words by their codes, -1 for missing ones, without blanks around them and missing ones."""
    clean = [None if word in MISSING_WORDS else word for word in map(str.strip, values)]
    same, words = pd.factorize(np.array([*clean, None], object))
    return pd.Categorical.from_codes(same[codes], pd.Index(words, dtype=object))


def number_of(field, decimal="."):
    """The number that a field without blanks around it says, NaN if missing, infinity if it is none.

    Numbers are written in ASCII's digits; ``decimal`` is their decimal mark. NaN is a missing one however it is
    written.
    """
    if field in MISSING_NUMBERS:
        return np.nan
    if decimal != ".":
        # The point is no mark then; what float() is given instead it refuses.
        field = field.replace(".", "_").replace(decimal, ".")
    try:
        # float() takes Python's grouping, and all digits.
        return float(field) if field.isascii() and "_" not in field else np.inf
    except ValueError:
        return np.inf
