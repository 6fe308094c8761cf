"""Files that take the place of older ones only as a whole, and folders with one writer."""

import os
import stat
from contextlib import contextmanager, suppress
from secrets import token_hex

__all__ = ["alone_in", "replacing"]


@contextmanager
def replacing(path, mode):
    """An open file that takes the place of what is at ``path`` once it is written as a whole.

    Whoever reads ``path`` finds the older file or the new one, whole, whatever happens: each writer
    has a temporary file of its own beside it, and the last one to end wins. The new file is on the
    disk before it takes the place, and has the permissions of the older one.

    A link is followed; what is no regular file (a pipe, a terminal) is written as it is.

    Parameters
    ----------
    path : str or Path
    mode : str
        ``w`` (UTF-8) or ``wb``.
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
    _sync_folder(folder)


def _sync_folder(folder):
    """Have the disk know the folder's entries; the file is in its place already."""
    with suppress(OSError):  # not every system opens folders, nor every file system syncs them
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def alone_in(folder, work):
    """Keep others that do the same work out of a folder, which is made if need be, and has a ``.lock`` then.

    Parameters
    ----------
    folder : Path
    work : str
        Such as "build".

    Raises
    ------
    ValueError
        If another does so now.
    """
    from filelock import FileLock, Timeout  # takes long to import, and few come here

    folder.mkdir(parents=True, exist_ok=True)
    try:
        held = FileLock(folder / ".lock").acquire(timeout=0)
    except Timeout as error:
        raise ValueError(f"another {work} works in {folder}: wait for it, or choose another --output") from error
    with held:
        yield
