"""How long reports are, to tell whole ones from the beginning of one."""

import numpy as np

from ..protocol.reports import layout_of

_MOST = 1 << 12  # reports that are looked at together


def run_of(words, geometry, cells):
    """Of the reports of one kind that words begin with: words of each, and how many whole ones, of many the first.

    ``words`` is a uint32 array from a report's beginning on, ``cells`` those in use. ValueError for an unknown kind.
    """
    kind = int(words[0]) & 0xFF
    size = layout_of(kind, geometry, cells).size // 4
    alike = words[: min(len(words) // size, _MOST) * size : size] & 0xFF == kind
    return size, len(alike) if alike.all() else int(alike.argmin())


def whole(data, geometry, cells):
    """How many bytes at the beginning of reports are whole ones; others as of `run_of`."""
    words, at = np.frombuffer(data, "<u4"), 0
    while at < len(words):
        size, count = run_of(words[at:], geometry, cells)
        if not count:
            break
        at += count * size
    return 4 * at
