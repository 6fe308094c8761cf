"""Open plain, gzip and zip files alike, and what can be read once only."""

import errno
import gzip
import os
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path

from ...words import listed
from ..schema import DataError
from .lines import Lines

_BROKEN = (EOFError, NotImplementedError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile)


class File:
    """A file of data: plain, .gz or .zip, or, plain or gzip, what can be read ``once`` only: ``-``, FIFOs and devices.

    ``member`` is the file of a zip archive that is meant; ValueError if it is none, IsADirectoryError of a folder. Its
    string names it in messages.
    """

    def __init__(self, path, member=None):
        self._path, self._member, self._lines = path, member, None
        packing = Path(path).suffix.lower()
        self.packing = packing if packing in (".gz", ".zip") else ""
        if member is not None and packing != ".zip":
            raise ValueError(f"{path}: member is for zip archives; this is none")
        if os.path.isdir(path):
            raise IsADirectoryError(f"{path} is a folder, not a file")
        self.once = path == "-" or os.path.exists(path) and not os.path.isfile(path)

    def __str__(self):
        return "standard input" if self._path == "-" else self._path

    @property
    def suffix(self):
        """The suffix that tells the format, in lower case, without that of the compression."""
        name = Path(self._path)
        if self.packing == ".zip" and name.is_file():
            with self.open() as file:
                return Path(file.name).suffix.lower() or Path(name.stem).suffix.lower()
        return Path(name.stem if self.packing else name).suffix.lower()

    @contextmanager
    def open(self):
        """Its bytes, decompressed; OSError if it cannot be read.

        DataError, there or while reading, if an archive is damaged or encrypted, or not of one file of data.
        """
        with _whole(self):
            if self.packing == ".zip":
                try:
                    archive = zipfile.ZipFile(self._path)
                    file = archive.open(self._inside(archive))
                except (UnicodeDecodeError, KeyError, IndexError) as error:  # a name in it is none, or empty
                    raise zipfile.BadZipFile(str(error)) from error
                with archive, file:
                    yield file
            else:
                with (gzip.open if self.packing else open)(self._path, "rb") as file:
                    yield file

    @contextmanager
    def lines(self):
        """Its `Lines` from the beginning, or from where they were left if it is read once; errors as above."""
        if not self.once:
            with self.open() as file:
                yield Lines(file, self)
            return
        with _whole(self):
            if self._lines is None:
                # Standard input may be a file of Python's own; its number is that of the process.
                file = open(0, "rb", closefd=False) if self._path == "-" else open(self._path, "rb")
                kind = file.peek(4)[:4]
                for magic, name in ((b"PAR1", "Parquet"), (b"PK\x03\x04", "a zip archive")):
                    if kind == magic:
                        raise self.refusal(name)
                self._lines = Lines(gzip.GzipFile(fileobj=file) if kind[:2] == b"\x1f\x8b" else file, self)
            yield self._lines

    def refusal(self, name):
        """The error of a format that is not read from its beginning to its end."""
        return DataError(
            f"{self}: {name} cannot come through a pipe, since it is read from its end; write it to a file first"
        )

    def is_arff(self):
        """Whether the first line is a comment of ARFF or its ``@relation``."""
        with self.lines() as lines:
            return b"".join(lines.peek(1)).lstrip().lower().startswith((b"%", b"@relation"))

    def _inside(self, archive):
        """The name of the file in a zip archive that holds the data."""
        members = [
            file for file in archive.infolist() if not file.is_dir() and not file.filename.startswith("__MACOSX/")
        ]
        names = listed(file.filename for file in members)
        if self._member is not None:
            members = [file for file in members if file.filename == self._member]
            if not members:
                raise DataError(f"{self}: the archive has no file {self._member!r}; it has {names or 'none'}")
        if len(members) != 1:
            many = f"has {names}: choose the data with member=NAME (--member NAME)" if members else "is empty"
            raise DataError(f"{self}: the archive {many}")
        if members[0].flag_bits & 1:
            raise DataError(f"{self}: the archive is encrypted")
        if members[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError(f"{self}: the archive is packed by another method than deflate; pack it anew")
        return members[0].filename


@contextmanager
def _whole(path):
    """The errors of a damaged archive as `DataError`."""
    try:
        yield
    except (*_BROKEN, OSError) as error:
        # A seek to before the beginning has no class of its own.
        if not isinstance(error, _BROKEN) and error.errno != errno.EINVAL:
            raise
        raise DataError(f"{path}: the archive is damaged or cut short ({error})") from error
