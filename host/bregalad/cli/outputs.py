"""Files that a command is to write: checked before it begins."""

import json
import math
import os

__all__ = ["check_distinct", "check_plot", "check_writable", "print_json"]


def check_distinct(*paths):
    """Raise ValueError if two of the files to be written are one; None is no file."""
    seen = set()
    for path in filter(None, paths):
        real = os.path.realpath(path)
        if real in seen and (os.path.isfile(real) or not os.path.exists(real)):
            raise ValueError(f"{path} is named twice; name a file of its own for each result")
        seen.add(real)


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


def check_plot(path):
    """Raise ValueError if no plot can be written with such a suffix."""
    from ..extras import needing

    with needing("a plot"):
        from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    suffix = os.path.splitext(path)[1].removeprefix(".")
    if suffix not in formats:
        raise ValueError(f"{path}: plots can be {', '.join(sorted(formats))}")


def print_json(value):
    """Print a dict as one JSON object; NumPy's numbers as numbers, what is not finite as null."""
    print(json.dumps(_plain(value), allow_nan=False))


def _plain(value):
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    value = getattr(value, "item", lambda: value)()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
