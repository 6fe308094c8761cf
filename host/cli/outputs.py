"""Files that a command is to write: checked before it begins."""

import os
from contextlib import contextmanager

__all__ = ["check_plot", "check_writable", "replacing"]


def check_writable(path, source=None):
    """Raise now what writing would raise after hours of learning.

    Parameters
    ----------
    path : str
    source : str, optional
        What the command reads, and so must not write.

    Raises
    ------
    OSError
        If there is no such folder, or it or the file cannot be written.
    ValueError
        If ``path`` is ``source``.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder, not a file")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK) or os.path.exists(path) and not os.access(path, os.W_OK):
        raise PermissionError(f"{path} cannot be written")
    if source and os.path.exists(path) and os.path.exists(source) \
            and os.path.samefile(path, source):
        raise ValueError(f"{path} is what is read; name another file to write")


def check_plot(path):
    """Raise ValueError if no plot can be written with such a suffix."""
    from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    suffix = os.path.splitext(path)[1].removeprefix(".")
    if suffix not in formats:
        raise ValueError(f"{path}: plots can be {', '.join(sorted(formats))}")


@contextmanager
def replacing(path):
    """A text file that takes the place of what is at ``path`` once it is written as a whole."""
    partial = f"{path}.part"
    try:
        with open(partial, "w", encoding="utf-8") as file:
            yield file
        os.replace(partial, path)
    except BaseException:
        if os.path.exists(partial):
            os.remove(partial)
        raise
