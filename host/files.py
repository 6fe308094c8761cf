"""Files that take the place of older ones only as a whole, and folders with one writer."""

import os
from contextlib import contextmanager

__all__ = ["alone_in", "replacing"]


@contextmanager
def replacing(path, mode):
    """An open file that takes the place of what is at ``path`` once it is written as a whole.

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
    partial = f"{path}.part"
    try:
        with open(partial, mode, encoding=encoding) as file:
            yield file
        os.replace(partial, path)
    except BaseException:
        if os.path.exists(partial):
            os.remove(partial)
        raise


@contextmanager
def alone_in(folder, work):
    """Keep others that do the same work out of a folder, which is made if need be.

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
    import fcntl  # not everywhere, and few come here

    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ValueError(f"another {work} works in {folder}: wait for it, or choose another "
                             "--output") from error
        yield
    finally:
        os.close(lock)
