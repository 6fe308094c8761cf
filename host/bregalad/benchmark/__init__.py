"""Measurements beside each other: what a user would compare.

A module per part of ``bregalad bench``, with

``SUMMARY``
    What it measures, in a line.
``run(settings)``
    Does it; returns a `Page`. What was measured is kept beside the page as JSON.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

__all__ = ["PARTS", "Settings", "part"]

PARTS = ("comparison", "area")


@dataclass
class Settings:
    """How parts are run.

    Parameters
    ----------
    output : Path
        Folder of pages, pictures and JSON.
    quick : bool
        A minute's worth: nobody should quote it.
    streams, peers : tuple of str, optional
        Only these.
    instances : int, optional
        Of every stream, at most.
    repeats : int
    core : int, optional
    fresh : bool
        Whether what is kept of these streams and peers is measured again.
    note : callable
        Told what goes on.
    """

    output: Path
    quick: bool = False
    streams: tuple | None = None
    peers: tuple | None = None
    instances: int | None = None
    repeats: int = 3
    core: int | None = None
    fresh: bool = False
    note: object = print


def part(name):
    """The module of a part; it is imported only now, with all that it needs.

    Raises
    ------
    ValueError
        If there is no such part.
    """
    if name not in PARTS:
        raise ValueError(f"no part {name!r} of the benchmark; there are {', '.join(PARTS)}")
    return import_module(f".{name}", __name__)
