"""Lines of a text, read as bytes: so many at a time, and where they stood."""

from functools import cached_property

import numpy as np

from ..schema import DataError

_PIECE = 1 << 20  # bytes that are read at once
_LONGEST = 1 << 26  # bytes of a line
_MOST = 1 << 28  # bytes of the lines that are taken at once, if there is more than one
_MARK = b"\xef\xbb\xbf"  # begins a file, and what another was appended to


class Lines:
    """The lines of an open binary file, each ending in a line feed whatever it ended in, without byte order marks.

    Parameters
    ----------
    file : binary file
        Has ``read1``, so that of a pipe no more is waited for than is needed.
    path : str
        Names it in messages.

    Members
    -------
    number : int
        Lines taken.
    """

    def __init__(self, file, path):
        self.path = path
        self.number = 0
        self._file = file
        self._piece = b""  # what has been read, from ``_at`` on not taken yet
        self._at = 0
        self._ends = np.empty(0, np.int64)  # after each line of the piece
        self._next = 0  # the first of them that is not taken
        self._held = b""  # a carriage return, if it was the last that was read

    def take(self, count):
        """The next ``count`` lines as bytes, fewer at the end and where they are long; b"" after the last."""
        parts, size = [], 0
        while True:
            there = min(count, len(self._ends) - self._next)
            if there:
                self._next += there
                end = int(self._ends[self._next - 1])
                parts.append(self._piece[self._at : end])
                size += len(parts[-1])
                self._at = end
                self.number += there
                count -= there
            if not count or size > _MOST or not self._read():
                return parts[0] if len(parts) == 1 else b"".join(parts)

    def peek(self, count):
        """The next ``count`` lines as bytes, which can be taken again."""
        before = self.number
        data = self.take(count)
        self.number = before
        self._fill(data + self._piece[self._at :])
        return data

    def skip_to(self, number):
        """Take lines until ``number`` are taken."""
        while number > self.number and self.take(number - self.number):
            pass

    def texts(self):
        """Yield the lines as strings, one by one."""
        while data := self.take(1):
            yield _decoded(data, self.number, self.path)

    def _fill(self, data):
        self._piece, self._at, self._next = data, 0, 0
        self._ends = np.flatnonzero(np.frombuffer(data, np.uint8) == 10) + 1

    def _read(self):
        """Read on; False if there is no more."""
        rest = self._piece[self._at :]  # the beginning of a line
        parts, size = [rest] if rest else [], len(rest)
        while True:
            data = self._held + (new := self._file.read1(_PIECE))
            self._held = b""
            if b"\r" in data:
                if new and data.endswith(b"\r"):
                    data, self._held = data[:-1], b"\r"
                data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            parts.append(data)
            size += len(data)
            if b"\n" in data or not new:
                data = _without_marks(b"".join(parts))
                self._fill(data if data[-1:] in (b"", b"\n") or new else data + b"\n")
                return bool(data)
            if b"\0" in data:  # a device may have no line's end at all
                raise _not_a_text(b"", 0, self.number + 1, self.path, "a NUL character")
            if size > _LONGEST:
                raise DataError(
                    f"{self.path}, line {self.number + 1}: longer than {_LONGEST:,} bytes; a line holds one instance"
                )


class Block:
    """Lines of a text and where the first one stood.

    Parameters
    ----------
    data : bytes
        Whole lines, each ending in a line feed.
    start : int
        The number of the first in its file, counted from 1.
    layout : Layout
        Tells which lines say nothing.
    """

    def __init__(self, data, start, layout):
        self.data = data
        self.start = start
        self.layout = layout

    @cached_property
    def text(self):
        """All of it as a string; DataError if it is none."""
        return _decoded(self.data, self.start, self.layout.path)

    @property
    def lines(self):
        """The lines as strings, without those that say nothing."""
        return self._kept[0]

    @property
    def numbers(self):
        """The number of each line of `lines` in the file."""
        return self._kept[1]

    @property
    def is_empty(self):
        """Whether no line says anything."""
        # Most blocks are told without dividing them into lines. Blanks may be missing fields.
        comment = self.layout.comment
        return (self.data.isspace() or comment is not None and comment.encode() in self.data) and not self.lines

    def check(self):
        """Raise DataError if it is not a text."""
        if (at := self.data.find(b"\0")) >= 0:
            raise _not_a_text(self.data, at, self.start, self.layout.path, "a NUL character")
        if not self.data.isascii():
            _ = self.text

    @cached_property
    def _kept(self):
        lines = self.text.split("\n")
        lines = [line + "\n" for line in (lines[:-1] if not lines[-1] else lines)]
        numbers = range(self.start, self.start + len(lines))
        if any(map(self.layout.skips, lines)):
            pairs = [(n, line) for n, line in zip(numbers, lines, strict=True) if not self.layout.skips(line)]
            numbers, lines = [n for n, _ in pairs], [line for _, line in pairs]
        return lines, numbers


def _without_marks(data):
    if data.isascii():
        return data
    return data.removeprefix(_MARK).replace(b"\n" + _MARK, b"\n")


def _decoded(data, start, path):
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _not_a_text(data, error.start, start, path, error.reason) from error


def _not_a_text(data, at, start, path, why):
    line = start + data.count(b"\n", 0, at)
    return DataError(
        f"{path}, line {line}: not a text in UTF-8 "
        f"({why}); allowed are ARFF, CSV, TSV, Parquet and JSON by the line, also as .gz and .zip"
    )
