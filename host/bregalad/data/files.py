"""Open plain, gzip and zip files alike."""

import errno
import gzip
import io
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path

from .schema import DataError

__all__ = ["open_binary", "open_text", "suffix_of"]

# zipfile does without lzma where Python was built so.
_BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile,
           *([zipfile.lzma.LZMAError] if zipfile.lzma else []))


def suffix_of(path):
    """The suffix that tells the format, in lower case, without that of the compression."""
    path = Path(path)
    if path.suffix.lower() == ".zip" and path.is_file():
        inner = Path(_member(path)).suffix.lower()
        return inner or Path(path.stem).suffix.lower()
    if path.suffix.lower() in (".gz", ".zip"):
        path = Path(path.stem)
    return path.suffix.lower()


@contextmanager
def open_binary(path):
    """The file's bytes, decompressed; a broken archive raises `DataError`, there or while reading.

    Raises
    ------
    DataError
        If the archive is cut short or damaged, encrypted, or not of exactly one file.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    with _whole(path):
        if suffix == ".gz":
            with gzip.open(path) as file:
                yield file
        elif suffix == ".zip":
            name = _member(path)
            with zipfile.ZipFile(path) as archive, _unpacked(archive, name) as file:
                yield file
        else:
            with open(path, "rb") as file:
                yield file


@contextmanager
def _whole(path):
    """The errors of a damaged archive as `DataError`."""
    try:
        yield
    except NotImplementedError as error:
        raise DataError(f"{path}: packed by a method that is not read, or damaged ({error}); pack it with "
                        "deflate, or as .gz") from error
    except (*_BROKEN, OSError) as error:
        # bz2 and a seek to before the beginning have no class of their own.
        if not isinstance(error, _BROKEN) and error.errno not in (None, errno.EINVAL):
            raise
        raise DataError(f"{path}: the archive is damaged or cut short ({error})") from error


def _unpacked(archive, name):
    try:
        return archive.open(name)
    except (UnicodeDecodeError, KeyError) as error:  # a name in it is none
        raise zipfile.BadZipFile(str(error)) from error


@contextmanager
def open_text(path):
    """The file's text, UTF-8 with or without a byte order mark; errors as in `open_binary`."""
    with open_binary(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as text:
        try:
            yield text
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: not a text in UTF-8 ({error.reason}); allowed are ARFF, "
                            "CSV, TSV and Parquet, also as .gz and .zip") from error


def _member(path):
    with _whole(path):
        try:
            with zipfile.ZipFile(path) as archive:
                members = [info for info in archive.infolist()
                           if not info.is_dir() and not info.filename.startswith("__MACOSX/")]
        except (UnicodeDecodeError, IndexError) as error:  # a name that is none, or empty
            raise zipfile.BadZipFile(str(error)) from error
    if len(members) != 1:
        raise DataError(f"{path}: the archive must hold one file, not {len(members)}")
    if members[0].flag_bits & 1:
        raise DataError(f"{path}: the archive is encrypted")
    return members[0].filename
