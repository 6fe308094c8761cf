"""Lines of a text, read as bytes: so many at a time, and where they stood."""

from functools import cached_property

import numpy as np

from ..schema import DataError

_PIECE = 1 << 20  # bytes that are read at once
_LONGEST = 1 << 26  # bytes of a line
_MOST = 1 << 28  # bytes of the lines that are taken at once, if there is more than one
_END = 10  # a line feed
_MARK = b"\xef\xbb\xbf"  # may begin a file


class Lines:
    """The lines of an open binary file, each ending in a line feed whatever it ended in, without a byte order mark.

    The file has ``read1``, so that of a pipe no more is waited for than is needed. The path names it in messages;
    ``number`` lines are taken.
    """

    def __init__(self, file, path):
        self.path = path
        self.number = 0
        self._file = file
        self._data = bytearray()  # what has been read and not taken yet
        self._there = self._whole = 0  # the whole lines in it, and where they end
        self._held = b""  # a carriage return, if it was the last that was read

    def take(self, count):
        """The next ``count`` lines as bytes, fewer at the end and where they are long; b"" after the last."""
        data, end, count = self._next(count)
        del self._data[:end]
        self._whole -= end
        self._there -= count
        self.number += count
        return data

    def peek(self, count):
        """The next ``count`` lines as bytes, which can be taken again."""
        return self._next(count)[0]

    def _next(self, count):
        """Lines, where they end in what has been read, and how many they are."""
        while self._there < count and self._whole <= _MOST and self._read():
            pass
        count, end = min(count, self._there), self._whole
        if count == 1:
            end = self._data.index(_END) + 1
        elif count < self._there:
            end = int(np.flatnonzero(np.frombuffer(self._data, np.uint8, end) == _END)[count - 1]) + 1
        data = bytes(memoryview(self._data)[:end])
        return data if self.number else data.removeprefix(_MARK), end, count

    def _read(self):
        """Read on; False if there is no more."""
        new = self._file.read1(_PIECE)
        data, self._held = self._held + new, b""
        if new and data.endswith(b"\r"):
            data, self._held = data[:-1], b"\r"
        self._data += data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data
        if not new and len(self._data) > self._whole and not self._data.endswith(b"\n"):
            self._data += b"\n"
        self._there += self._data.count(_END, self._whole)
        self._whole = self._data.rfind(_END, self._whole) + 1 or self._whole
        number = self.number + self._there + 1
        if not self._there and b"\0" in data:  # a device may have no line's end at all
            raise _not_a_text(b"", 0, number, self.path, "a NUL character")
        if len(self._data) - self._whole > _LONGEST:
            raise DataError(f"{self.path}, line {number}: longer than {_LONGEST:,} bytes; a line holds one instance")
        return bool(new)


class Block:
    """Whole lines of a text, bytes that end in a line feed, of which the first was number ``start``, from 1 on, in its
    file.

    The layout tells which lines say nothing; ``lines`` are the others, and ``numbers`` their numbers in the file.
    DataError if it is not a text.
    """

    def __init__(self, data, start, layout):
        self.data = data
        self.start = start
        self.layout = layout
        if (at := data.find(b"\0")) >= 0:
            raise _not_a_text(data, at, start, layout.path, "a NUL character")
        try:
            self.text = data.decode()
        except UnicodeDecodeError as error:
            raise _not_a_text(data, error.start, start, layout.path, error.reason) from error

    @property
    def is_empty(self):
        """Whether no line says anything."""
        # Most blocks are told without dividing them into lines. Blanks may be missing fields.
        comment = self.layout.comment
        return (self.data.isspace() or comment is not None and comment.encode() in self.data) and not self.lines

    @cached_property
    def lines(self):
        return [self._all[number - self.start] for number in self.numbers]

    @cached_property
    def numbers(self):
        return [number for number, line in enumerate(self._all, self.start) if not self.layout.skips(line)]

    @cached_property
    def _all(self):
        return [line + "\n" for line in self.text.removesuffix("\n").split("\n")]


def _not_a_text(data, at, start, path, why):
    line = start + data.count(b"\n", 0, at)
    return DataError(
        f"{path}, line {line}: not a text in UTF-8 "
        f"({why}); allowed are ARFF, CSV, TSV, Parquet and JSON by the line, also as .gz and .zip"
    )
