"""Published experiments done again: each study makes a page of tables beside the published figures.

A module per study, with

``SUMMARY``
    What it reproduces, in a line.
``INSTANCES``, ``RUNS``
    The published scale, which the options ``--instances`` and ``--runs`` replace.
``run(settings)``
    Does it; returns a `Page`.
"""

from dataclasses import dataclass, field
from importlib import import_module

__all__ = ["STUDIES", "Settings", "study"]

STUDIES = {"efdt-figures": "efdt", "ties": "ties"}


@dataclass
class Settings:
    """How a study is run.

    Parameters
    ----------
    instances : int
        Of each stream.
    runs : int
        Streams of each kind, by seeds 1, 2 ...
    note : callable
        Called with a line of text when a run is done.
    """

    instances: int
    runs: int
    note: object = field(default=lambda text: None)


def study(name):
    """The module of a study; it is imported only now, with all that it needs.

    Raises
    ------
    ValueError
        If there is no such study.
    """
    if name not in STUDIES:
        raise ValueError(f"no study {name!r}; there are {', '.join(STUDIES)}")
    return import_module(f".{STUDIES[name]}", __name__)
