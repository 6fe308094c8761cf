"""Delimited text: what is not said about its columns is inferred from the head."""

from collections import Counter

import numpy as np

from ...warn import warn
from ...words import counted
from ..schema import Attribute, DataError
from ..times import are_times, seconds_of_words
from .files import Pipe, open_lines
from .lines import Block
from .sources import HEAD, LineSource
from .text import (
    MISSING_NUMBERS,
    Layout,
    fields_of,
    is_number,
    not_a_number,
    number_of,
    parse,
    reason_of,
    sniff,
)

_ENOUGH = 20  # rows among which a label that is met again would have been met
_PAGES = ("<!doctype", "<html", "<?xml")


class TextSource(LineSource):
    """Delimited text: of a suffix .tsv or .tab tabs divide it; header and decimal are as of `open_stream`.

    ``known`` are names that columns may have; ``named`` says whether the columns get others. Of a pipe no more lines
    than a chunk are waited for to infer kinds from, if there is more than one.
    """

    def __init__(self, path, suffix, header, known, named, decimal, chunk):
        self.path = path
        self._decimal = decimal
        count = max(2, min(HEAD + 1, chunk)) if isinstance(path, Pipe) else HEAD + 1
        self.layout = Layout(path, "\t" if suffix in (".tsv", ".tab") else ",", decimal=decimal)
        with open_lines(path) as lines:
            head = Block(lines.peek(count), 1, self.layout)
        head.check()
        if not head.lines:
            raise DataError(f"{path}: the file is empty")
        lines, numbers = head.lines, head.numbers
        if lines[0].lstrip().lower().startswith(_PAGES):
            raise DataError(f"{path}, line {numbers[0]}: a web page or XML, no table of instances")
        comments = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
        if self.layout.delimiter != "\t":
            self.layout.delimiter = sniff(lines[comments:][:100], decimal)
        rows = self._rows(lines, numbers, comments)
        if comments and (title := self._title(rows, comments, header, known)) is not None:
            rows[:comments] = [title] if title else []
            numbers = numbers[comments - bool(title) :]
            header = header if not title else True
        if not rows:
            raise DataError(f"{path}: the file is empty")
        first = f"{path}, line {numbers[0]}"
        self.skipped = numbers[0] - 1
        rows[0] = _aligned(rows, header, first)
        columns = [f"x{i}" for i in range(len(rows[0]) - 1)] + ["class"]
        if self._header(rows, header, known, first):
            columns, self.skipped = rows[0], numbers[0]
            self.layout.comment = lines[head.numbers.index(numbers[0])].lstrip()  # stands where files were joined
            kept = [i for i, row in enumerate(rows) if i and row != columns] or range(1, len(rows))
            rows, numbers = [rows[i] for i in kept], [numbers[i] for i in kept]
            if not rows:
                raise DataError(f"{path}: no instance, the file has a header only")
        self._infer(columns, rows, numbers, named, first)

    def _rows(self, lines, numbers, comments):
        """The fields of the lines; single quotes are quotes if only then all lines have as many."""
        rows = self._divided(lines, numbers)
        if len(set(map(len, rows[comments:]))) > 1 and any("'" in line for line in lines):
            self.layout.quote = "'"
            try:
                again = self._divided(lines, numbers)
                if len(set(map(len, again[comments:]))) == 1:
                    return again
            except DataError:
                pass
            self.layout.quote = '"'
        return rows

    def _divided(self, lines, numbers):
        rows = []
        for line, number in zip(lines, numbers, strict=True):
            try:
                rows.append(fields_of(line, self.layout))
            except DataError as error:
                raise DataError(f"{self.path}, line {number}: {error}") from error
        return rows

    def _infer(self, columns, rows, numbers, named, first):
        """Set the attributes, from what the rows of the head hold."""
        whole = [(n, row) for n, row in zip(numbers, rows, strict=True) if len(row) == len(columns)]
        fields_by_column = list(zip(*(row for _, row in whole), strict=True))
        # Names of rows, and what a delimiter at the ends of lines leaves, are no columns.
        if not columns[-1] and not any(fields_by_column[-1]):
            columns = [*columns[:-1], None]
        if not columns[0] and not named:
            columns = [None, *columns[1:]]
            warn(f"{first}: the first column has no name, so it is left out; --names (names=[...]) gives it one")
        self._places = [i for i, name in enumerate(columns) if name is not None]
        if not named:
            self._unique([columns[i] for i in self._places], first)
        self.attributes, self._refusals, times, self.mixed = (), {}, [], {}
        for at, i in enumerate(self._places):
            kind, row, refused = _kind(fields_by_column[i], self._decimal)
            if kind == "times":
                times.append(at)
            self.attributes += (Attribute(columns[i] or f"x{i}", "nominal" if kind == "nominal" else "numeric"),)
            if row is None:
                continue
            place, field = f"{self.path}, line {whole[row][0]}", fields_by_column[i][row]
            if refused:
                self._refusals[at] = place, field
            else:
                self.mixed[at] = f"{place}, column {columns[i]!r}: {field!r} is no number"
        self.times = tuple(times)
        if not any(a.kind == "numeric" and not is_number(a.name) for a in self.attributes):
            self.layout.comment = None  # names may be an instance
        self._width, self._told = len(columns), False

    def refusal(self, index, declared, label):
        """Why a column is refused unless its kind is said: numbers in another notation, a rare word among them."""
        if declared or label or index not in self._refusals:
            return None
        place, field = self._refusals[index]
        return str(not_a_number(place, self.columns[index], field, self._decimal))

    def _skipped(self, block):
        """Tell once of the columns' names that stand amid the data."""
        comment = self.layout.comment
        if comment is not None and not self._told and comment.encode() in block.data:
            for number, line in enumerate(block.text.split("\n"), block.start):
                if self.layout.skips(line + "\n") and line.strip():
                    self._told = True
                    warn(f"{self.path}, line {number}: the columns' names again; such lines are passed over")
                    return

    def _table(self, block, kept, numeric):
        times = [name for name in (self.columns[at] for at in self.times) if name in kept and name in numeric]
        names = ["" for _ in range(self._width)]
        for place, name in zip(self._places, self.columns, strict=True):
            names[place] = name
        table = parse(block, self.layout, names, kept, numeric - {*times})
        for name in times:
            table[name] = self._seconds(table[name], block)
        return table

    def _seconds(self, column, block):
        """A column of words that are dates or times as numbers."""
        words = column.cat.categories
        numbers = seconds_of_words(words)
        wrong = np.isnan(numbers) & ~words.isin(MISSING_NUMBERS)
        codes = column.cat.codes.to_numpy()
        if (found := np.append(wrong, False)[codes]).any():
            row = int(found.argmax())
            place = f"{self.path}, line {block.numbers[row]}, column {column.name!r}"
            raise DataError(
                f"{place}: {column.iloc[row]!r} is no date or time as 2020-12-31, 2020-12-31T23:59:59+01:00 or 23:59, "
                f"as others are (a column of words is declared with nominal=[{column.name!r}])"
            )
        return np.append(numbers, np.nan)[codes]

    def _title(self, rows, count, header, known):
        """What the first ``count`` lines, which begin with #, are.

        Names if the last of them is a header (as NumPy writes one); [] for comments; None for
        instances, since they have the others' number of fields.
        """
        body = rows[count:]
        named = _is_header(body, known, self._decimal)[0]
        title = [rows[count - 1][0].lstrip("# "), *rows[count - 1][1:]]
        if (
            len(title) == len(body[0]) > 1
            and header is not False
            and not named
            and (header is True or _is_header([title, *body], known, self._decimal)[0])
        ):
            return title
        if named or header is True or all(len(row) != len(body[0]) for row in rows[:count]):
            return []
        return None

    def _header(self, rows, header, known, place):
        if header != "auto":
            return header
        found, doubt = _is_header(rows, known, self._decimal)
        if doubt:
            what, other = "the columns' names", "header=False (--header no) if it is an instance"
            if not found:
                what, other = "an instance", "header=True (--header yes) if it names the columns"
            warn(f"{place} is taken for {what}, {doubt}; say {other}")
        return found


def _aligned(rows, header, place):
    """The first row as the others are: R leaves out the name above the rows' names, others end lines in delimiters."""
    first, others = rows[0], [row for row in rows[1:] if row != rows[0]]
    lengths = Counter(map(len, others))
    usual = max(lengths, key=lengths.get, default=len(first))
    if usual == len(first) or 2 * lengths[len(first)] >= len(others):
        return first
    body = [row for row in others if len(row) == usual]
    if header is not False and usual == len(first) + 1:
        if not any(row[-1] for row in body):
            return [*first, ""]
        if len(first) > 1 and len({row[0] for row in body}) == len(body):
            return ["", *first]
    if usual == len(first) - 1 and not first[-1]:
        return first[:-1]
    raise DataError(
        f"{place}: {counted(len(first), 'field')}, but {usual} on most lines below; it must be the columns' names or "
        "an instance, and what stands above them begins with #"
    )


def _is_numeric(fields, decimal):
    """Whether all fields are numbers or missing."""
    try:
        # Most columns are plain numbers, which float() tells in a hundredth of the time.
        if decimal == ".":
            list(map(float, fields))
            joined = "".join(fields)
            return joined.isascii() and "_" not in joined
    except ValueError:
        pass
    return all(field in MISSING_NUMBERS or is_number(field, decimal) for field in fields)


def _kind(fields, decimal):
    """What a column's fields are: "numeric", "times" or "nominal"; the row of a word that is odd, and if it is refused.

    Where numbers in another notation are most of the words, it is one of numbers to whoever wrote it, and so it is if
    there are words in a hundredth of its rows at most; these are refused. Where different numbers are ten times as
    many as words the first word may be an error. Else it is one of words: codes like 1, 2 and A.
    """
    if _is_numeric(fields, decimal):
        return "numeric", None, False
    there = [field for field in fields if field not in MISSING_NUMBERS]
    if are_times(there):
        return "times", None, False
    values = set(there)
    words = {field for field in values if number_of(field, decimal) is None}
    strange = [field for field in words if reason_of(field, decimal)]
    if strange and 2 * len(strange) >= len(words):
        return "nominal", min(map(fields.index, strange)), True
    if not words or len(values) < 11 * len(words):
        return "nominal", None, False
    rows = [row for row, field in enumerate(fields) if field in words]
    return "nominal", rows[0], len(rows) <= max(1, len(there) // 100)


def _is_header(rows, known, decimal):
    """Whether the first row names the columns, and what speaks against it; "" if nothing does.

    Names hold one that is known, or are words of which one stands above numbers, or of which none occurs below itself.
    Numbers can be names, too (years, or pandas' own 0, 1, 2): if a word among them stands above numbers, or if whole
    numbers and words stand above labels that are met again and again without the words.
    """
    names, body = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if known & set(names):
        return True, ""
    if "?" in names:
        return False, ""
    numbers = [i for i, name in enumerate(names) if is_number(name, decimal)]
    words = [i for i, name in enumerate(names) if name not in MISSING_NUMBERS and i not in numbers]
    if not body:
        return not numbers and len(words) == len(names) == len(set(names)), ""
    columns = list(zip(*body, strict=True))
    # Names stand amid the data where a file was appended to another; an instance has values of others.
    others = list(zip(*(row for row in body if row != names), strict=True)) or columns
    if any(name in others[i] for i, name in enumerate(names)):
        others = columns
    above = any(
        _are_numbers(others[i], decimal) and set(others[i]) - MISSING_NUMBERS
        for i in words
        if not reason_of(names[i], decimal)
    )
    if not numbers:
        if above:
            return True, ""
        new = not any(name in columns[i] for i, name in enumerate(names))
        twice = len(set(names)) < len(names)
        return bool(words) and new and (not twice or len(body) >= _ENOUGH), ""
    shown = ", ".join(names[i] for i in numbers[:3]) + ", ..." * (len(numbers) > 3)
    against = f"though {shown} {'is a number' if len(numbers) == 1 else 'are numbers'}"
    if above:
        return True, against
    # The label is what tells; where no name is a word, the class is the last column.
    labels = words or [len(names) - 1]
    if any(names[i] in columns[i] for i in labels):
        return False, ""
    first = 1 if not names[0] else 0  # pandas writes no name above its index
    if words and len(numbers) > 1 and all(names[i] == str(i - first) for i in numbers):
        return True, against
    if len(body) < _ENOUGH or any(2 * len(set(columns[i])) > len(body) for i in labels):
        return False, ""
    if all(names[i].isdecimal() for i in numbers) and (words or _consecutive(names[first:])):
        return True, against
    return False, f"though {names[labels[-1]]!r} stands nowhere below itself"


def _are_numbers(fields, decimal):
    """Whether all fields are numbers, be it in another notation (which is refused later), or times, or missing."""
    if _is_numeric(fields, decimal):
        return True
    there = [field for field in fields if field not in MISSING_NUMBERS]
    return are_times(there) or all(is_number(field, decimal) or reason_of(field, decimal) for field in there)


def _consecutive(names):
    return [int(name) - int(names[0]) for name in names] == list(range(len(names)))
