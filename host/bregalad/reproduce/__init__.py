"""Published experiments done again: each study makes a page of tables beside the published figures.

A module per study, with

``SUMMARY``
    What it reproduces, in a line.
``INSTANCES``, ``RUNS``
    The published scale, which the options ``--instances`` and ``--runs`` replace.
``run(settings)``
    Does it; returns a `Page`.
"""

from importlib import import_module

__all__ = ["STUDIES", "study"]

STUDIES = {"efdt-figures": "efdt", "ties": "ties", "ctree": "ctree"}


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
