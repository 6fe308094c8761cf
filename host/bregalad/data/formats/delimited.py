"""Delimited text: what is not said about its columns is inferred from the head."""

from ...warn import warn
from ..schema import Attribute, DataError
from .files import Pipe, open_lines
from .header import is_header, is_numeric
from .lines import Block
from .sources import HEAD, LineSource
from .text import Layout, fields_of, not_a_number, sniff, strange_numerals

__all__ = ["TextSource"]


class TextSource(LineSource):
    """Delimited text.

    Parameters
    ----------
    path : str or Pipe
    suffix : str
        ``".tsv"`` or ``".tab"``: tabs divide it.
    header : "auto", True or False
    known : set of str
        Names that columns may have.
    named : bool
        Whether the columns get other names.
    decimal : str
        The decimal mark of numbers.
    chunk : int
        Of a pipe no more lines are waited for to infer kinds from, if there is more than one.
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
        comments = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
        if self.layout.delimiter != "\t":
            self.layout.delimiter = sniff(lines[comments:][:100], decimal)
        rows = [self._fields(line, number) for line, number in zip(lines, numbers, strict=True)]
        if comments and (title := self._title(rows, comments, header, known)) is not None:
            rows[:comments] = [title] if title else []
            numbers = numbers[comments - bool(title) :]
            self.skipped = numbers[0] - 1
            header = header if not title else True
        else:
            self.skipped = 0
        if not rows:
            raise DataError(f"{path}: the file is empty")
        width, first = len(rows[0]), f"{path}, line {numbers[0]}"
        if self._header(rows, header, known, first):
            self.skipped = numbers[0]
            columns, numbers = rows.pop(0), numbers[1:]
            if not named:
                self._unique(columns, first)
            if not rows:
                raise DataError(f"{path}: no instance, the file has a header only")
        else:
            columns = [f"x{i}" for i in range(width - 1)] + ["class"]
        whole = [(n, row) for n, row in zip(numbers, rows, strict=True) if len(row) == width]
        self.attributes, self._strange = (), {}
        fields_by_column = zip(*(row for _, row in whole), strict=True)
        for i, (name, fields) in enumerate(zip(columns, fields_by_column, strict=True)):
            numeric = is_numeric(fields, decimal)
            self.attributes += (Attribute(name or f"x{i}", "numeric" if numeric else "nominal"),)
            if not numeric and (row := strange_numerals(fields, decimal)) is not None:
                self._strange[i] = whole[row][0], fields[row]

    def refusal(self, index, declared, label):
        """Why a column is refused unless its kind is said: its numbers are in another notation."""
        if declared or label or index not in self._strange:
            return None
        number, field = self._strange[index]
        return str(not_a_number(f"{self.path}, line {number}", self.columns[index], field, self._decimal))

    def _fields(self, line, number):
        try:
            return fields_of(line, self.layout)
        except DataError as error:
            raise DataError(f"{self.path}, line {number}: {error}") from error

    def _title(self, rows, count, header, known):
        """What the first ``count`` lines, which begin with #, are.

        Names if the last of them is a header (as NumPy writes one); [] for comments; None for
        instances, since they have the others' number of fields.
        """
        body = rows[count:]
        named = is_header(body, known, self._decimal)[0]
        title = [rows[count - 1][0].lstrip("# "), *rows[count - 1][1:]]
        if (
            len(title) == len(body[0]) > 1
            and header is not False
            and not named
            and (header is True or is_header([title, *body], known, self._decimal)[0])
        ):
            return title
        if named or header is True or all(len(row) != len(body[0]) for row in rows[:count]):
            return []
        return None

    def _header(self, rows, header, known, place):
        if header != "auto":
            return header
        found, doubt = is_header(rows, known, self._decimal)
        if doubt:
            what, other = "the columns' names", "header=False (--header no) if it is an instance"
            if not found:
                what, other = "an instance", "header=True (--header yes) if it names the columns"
            warn(f"{place} is taken for {what}, {doubt}; say {other}")
        return found
