"""Files that take the place of older ones only as a whole."""

import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from .words import shown


@contextmanager
def replacing(path, mode):
    """An open file that takes the place of what is at ``path`` once it is written as a whole.

    Whoever reads ``path`` finds the older file or the new one, whole, whatever happens: each writer
    has a temporary file of its own beside it, and the last one to end wins. The new file is on the
    disk before it takes the place, and has the permissions of the older one.

    A link is followed; what is no regular file (a pipe, a terminal) is written as it is. The mode is ``w`` (UTF-8) or
    ``wb``.
    """
    encoding = None if "b" in mode else "utf-8"
    if os.path.exists(path) and not os.path.isfile(path):  # /dev/stdout leads to no path at all
        with open(path, mode, encoding=encoding) as file:
            yield file
        return
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    # Of a long name a part, for names have at most 255 bytes.
    partial = os.path.join(folder, f"{name[:50]}.{token_hex(6)}.part")
    try:
        with open(partial, mode.replace("w", "x"), encoding=encoding) as file:
            with suppress(FileNotFoundError):
                os.chmod(partial, stat.S_IMODE(os.stat(path).st_mode))
            kept = os.dup(file.fileno())  # some writers close what they have written to
            try:
                yield file
                file.close()
                os.fsync(kept)
            finally:
                os.close(kept)
        os.replace(partial, path)
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.remove(partial)
        if isinstance(error, OSError) and error.filename == partial:
            error.filename = path  # the one that the caller knows
        raise
    with suppress(OSError):  # not every system opens folders, nor every file system syncs their entries
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def check_writable(path, source=None):
    """Raise now what writing would raise after hours of learning.

    OSError if there is no such folder, or it or the file cannot be written; ValueError if that is the ``source`` read.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder, not a file")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{path}: there is no folder {folder}")
    # A regular file is written beside the older one first; a pipe or a terminal is not.
    needed = [path] if os.path.exists(path) else []
    if not needed or os.path.isfile(path):
        needed.append(folder)
    if not all(os.access(place, os.W_OK) for place in needed):
        raise PermissionError(f"{path} cannot be written")
    if source and os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source):
        raise ValueError(f"{path} is what is read; name another file to write")


def save_file(wave):
    """The file in which GTKWave finds how to show a waveform: beside it."""
    return Path(wave).with_suffix(".gtkw")


def check_wave(path):
    """Raise now what writing a waveform would raise once a model is compiled.

    TypeError or ValueError if it is no .fst, OSError if it, or its save file, cannot be written.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"wave must be the name of a file, not {shown(path)}")
    if Path(path).suffix != ".fst":
        raise ValueError(f"wave must be a file that ends in .fst, the waveform's format, not {shown(str(path))}")
    check_writable(path)
    check_writable(save_file(path))
