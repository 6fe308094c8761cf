"""Files that a command is to write: checked before it begins."""

import math
import os

from ..files import check_writable


def check_result(path, source=None):
    """Raise now what writing a result besides the report would raise after hours; see `check_writable`."""
    if path == "-":
        raise ValueError("- is standard output, which has the report: name a file")
    check_writable(path, source)


def check_distinct(*paths):
    """Raise ValueError if two of the files to be written are one; None is no file."""
    seen = set()
    for path in filter(None, paths):
        real = os.path.realpath(path)
        if real in seen and (os.path.isfile(real) or not os.path.exists(real)):
            raise ValueError(f"{path} is named twice; name a file of its own for each result")
        seen.add(real)


def check_plot(path):
    """Raise ValueError if no plot can be written with such a suffix."""
    from ..extras import needing

    with needing("a plot"):
        from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    suffix = os.path.splitext(path)[1].removeprefix(".")
    if suffix not in formats:
        raise ValueError(f"{path}: plots can be {', '.join(sorted(formats))}")


def plain(value):
    """A value in JSON's types: NumPy's numbers as numbers, what is not finite as None."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    value = getattr(value, "item", lambda: value)()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
