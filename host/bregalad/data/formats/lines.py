"""Lines of a text, read as bytes: so many at a time, and where they stood."""

from functools import cached_property

from ..schema import DataError

_PIECE = 1 << 20  # bytes that are read at once
_LONGEST = 1 << 26  # bytes of a line
_MOST = 1 << 28  # bytes that are read for the lines that are taken at once
_MARK = b"\xef\xbb\xbf"  # may begin a file


class Lines:
    """The lines of an open binary file, without their ends, and without a byte order mark.

    The file has ``read1``, so that of a pipe no more is waited for than is needed. The path names it in messages;
    ``number`` lines are taken.
    """

    def __init__(self, file, path):
        self.path = path
        self.number = 0
        self._file = file
        self._lines = []  # those that have been read and not taken yet
        self._rest = b""  # what has been read of the line after them

    def take(self, count):
        """The next ``count`` lines, a list of bytes: fewer where they are long, none after the last."""
        lines = self.peek(count)
        del self._lines[: len(lines)]
        self.number += len(lines)
        return lines

    def peek(self, count):
        """The next ``count`` lines, which can be taken again."""
        size = 0
        while len(self._lines) < count and size <= _MOST and (new := self._read()):
            size += new
        lines = self._lines[:count]
        return lines if self.number or not lines else [lines[0].removeprefix(_MARK), *lines[1:]]

    def _read(self):
        """Read on; how many bytes, 0 at the end."""
        new = self._file.read1(_PIECE)
        *lines, self._rest = (self._rest + new).split(b"\n")
        if self._rest and not new:
            lines, self._rest = [self._rest], b""
        self._lines += lines
        number = self.number + len(self._lines) + 1
        if not self._lines and b"\0" in new:  # a device may have no line's end at all
            raise _not_a_text(b"", 0, number, self.path, "a NUL character")
        if len(self._rest) > _LONGEST:
            raise DataError(f"{self.path}, line {number}: longer than {_LONGEST:,} bytes; a line holds one instance")
        return len(new)


class Block:
    """Lines of a text, a list of bytes, of which the first was number ``start``, from 1 on, in its file.

    ``data`` are all, each with a line feed. The layout tells which say nothing. DataError if it is not a text.
    """

    def __init__(self, lines, start, layout):
        data = b"\n".join([*lines, b""])
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        self.data = data
        self.start = start
        self.layout = layout
        for byte, name in ((b"\0", "a NUL character"), (b"\r", "a carriage return without a line feed")):
            if (at := data.find(byte)) >= 0:
                raise _not_a_text(data, at, start, layout.path, name)
        try:
            self.text = data.decode()
        except UnicodeDecodeError as error:
            raise _not_a_text(data, error.start, start, layout.path, error.reason) from error

    @property
    def is_empty(self):
        """Whether no line says anything."""
        # Most blocks are told without dividing them into lines. Blanks may be missing fields.
        comment = self.layout.comment
        return (self.data.isspace() or comment is not None and comment.encode() in self.data) and not self.rows

    @cached_property
    def rows(self):
        """The lines that say something, by their numbers in the file."""
        lines = enumerate(self.text.split("\n")[:-1], self.start)
        return {number: line for number, line in lines if not self.layout.skips(line)}

    def place(self, row):
        """Where a row is, for messages."""
        return f"{self.layout.path}, line {list(self.rows)[row]}"


def _not_a_text(data, at, start, path, why):
    line = start + data.count(b"\n", 0, at)
    return DataError(
        f"{path}, line {line}: not a text in UTF-8 ({why}); allowed are ARFF, CSV, TSV, Parquet and JSON by the line, "
        "also as .gz and .zip; what pandas reads its to_parquet writes"
    )
