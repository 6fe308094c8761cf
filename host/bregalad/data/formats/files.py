"""Open plain, gzip and zip files alike, and what can be read once only."""

import errno
import gzip
import os
import re
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path

from ...words import listed
from ..schema import DataError
from .lines import Lines

try:
    import lzma
except ImportError:  # Python can be built without it, and zipfile does without
    lzma = None  # type: ignore[assignment]

_BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, *([lzma.LZMAError] if lzma else []))
# What stands beside the data in an archive, as those of UCI's have it.
_BESIDE = re.compile(
    r"(.*/)?(\..*|(readme|index|licen[cs]e|copying|changelog|thumbs|desktop)(\.[a-z]+)?|.*\.(names|md|rst|pdf|html?|docx?))",
    re.IGNORECASE | re.DOTALL,
)


class Member(str):
    """The path of a zip archive, of which the file ``name`` is meant."""

    def __new__(cls, path, name):
        member = super().__new__(cls, path)
        member.name = name
        return member


def suffix_of(path):
    """The suffix that tells the format, in lower case, without that of the compression."""
    name = Path(str(path))
    if name.suffix.lower() == ".zip" and name.is_file():
        with _whole(path), _unpacked(path) as file:
            return Path(file.name).suffix.lower() or Path(name.stem).suffix.lower()
    return Path(name.stem if name.suffix.lower() in (".gz", ".zip") else name).suffix.lower()


@contextmanager
def open_binary(path):
    """The file's bytes, decompressed; a broken archive raises `DataError`, there or while reading.

    So does one that is encrypted, or not of one file of data; OSError if the file cannot be read.
    """
    suffix = Path(path).suffix.lower()
    with _whole(path):
        if suffix == ".zip":
            with _unpacked(path) as file:
                yield file
        else:
            with (gzip.open if suffix == ".gz" else open)(path, "rb") as file:
                yield file


@contextmanager
def _whole(path):
    """The errors of a damaged archive as `DataError`."""
    try:
        yield
    except NotImplementedError as error:
        raise DataError(
            f"{path}: packed by a method that is not read, or damaged ({error}); pack it with deflate, or as .gz"
        ) from error
    except (*_BROKEN, OSError) as error:
        # bz2 and a seek to before the beginning have no class of their own.
        if not isinstance(error, _BROKEN) and error.errno not in (None, errno.EINVAL):
            raise
        raise DataError(f"{path}: the archive is damaged or cut short ({error})") from error


@contextmanager
def _unpacked(path):
    """The file in a zip archive that holds the data; it has its name."""
    try:
        archive = zipfile.ZipFile(path)
        file = archive.open(_member(path, archive))
    except (UnicodeDecodeError, KeyError, IndexError) as error:  # a name in it is none, or empty
        raise zipfile.BadZipFile(str(error)) from error
    with archive, file:
        yield file


@contextmanager
def open_lines(path):
    """The `Lines` of a file from its beginning, of a `Pipe` from where it is; errors as above."""
    if isinstance(path, Pipe):
        with path.open() as lines:
            yield lines
    else:
        with open_binary(path) as file:
            yield Lines(file, path)


class Pipe:
    """What is read once: standard input, a FIFO or a device, plain or compressed by gzip.

    It stands in the place of a path, and its string names it in messages.
    """

    def __init__(self, path):
        self._path = path
        self._lines = None

    def __str__(self):
        return "standard input" if self._path == "-" else self._path

    @contextmanager
    def open(self):
        """Its `Lines`, from where they were left; DataError if it holds Parquet or a zip archive, or is damaged."""
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
        with self.open() as lines:
            return lines.peek(1).lstrip().lower().startswith((b"%", b"@relation"))


def place_of(path, member=None):
    """A path, or a `Pipe` if that can be read once only: ``-`` or what is no regular file.

    ``member`` is the file of a zip archive that is meant; ValueError if it is none, IsADirectoryError of a folder.
    """
    if member is not None:
        if not path.lower().endswith(".zip"):
            raise ValueError(f"{path}: member is for zip archives; this is none")
        return Member(path, member)
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder, not a file")
    return Pipe(path) if path == "-" or os.path.exists(path) and not os.path.isfile(path) else path


def _member(path, archive):
    """The name of the file in a zip archive that holds the data."""
    members = [info for info in archive.infolist() if not info.is_dir() and not info.filename.startswith("__MACOSX/")]
    names = listed(info.filename for info in members)
    if isinstance(path, Member):
        chosen = [info for info in members if info.filename == path.name]
        if not chosen:
            raise DataError(f"{path}: the archive has no file {path.name!r}; it has {names or 'none'}")
    else:
        chosen = [info for info in members if not _BESIDE.fullmatch(info.filename)] or members
        if len(chosen) != 1:
            many = f"has {names}: choose the data with member=NAME (--member NAME)" if members else "is empty"
            raise DataError(f"{path}: the archive {many}")
    if chosen[0].flag_bits & 1:
        raise DataError(f"{path}: the archive is encrypted")
    return chosen[0].filename
