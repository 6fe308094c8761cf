"""Names of the release before, which this one takes too; the next one drops this file and its uses."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any

from .warn import warn

FORMAT = 7  # of saved trees: the last with these names
PARAMETERS = {"zoom": "bin_window"}
COUNTS = {"trials": "attempts", "stall_trial": "stall_attempt"}  # of reports, curves and boards
_ENTRIES = {"tally": "event_counts"}
_ARRAYS = {"node_verdict": "node_decision", "node_own": "node_observed", "node_base": "node_inherited"}


class Counts(dict[str, Any]):
    """Counts by name, which answer to former names too, with a warning."""

    def __missing__(self, name: str) -> Any:
        return self[renamed(name, COUNTS)]

    def __or__(self, other):
        return Counts({**self, **other})


def renamed(name: str, names: Mapping[str, str]) -> str:
    """What a former name is now, with a warning; KeyError if it is none."""
    now = names[name]
    warn(f"{name} is called {now} now; the next release does not know {name}")
    return now


def parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by what they are called now; TypeError if one is given by both names."""
    for name in PARAMETERS.keys() & given.keys():
        now = renamed(name, PARAMETERS)
        if now in given:
            raise TypeError(f"{name} is called {now} now: give it once")
        given = {now if each == name else each: value for each, value in given.items()}
    return dict(given)


def taking(init: Callable[..., None]) -> Callable[..., None]:
    """A constructor that takes its parameters by former names, too."""

    @wraps(init)
    def construct(learner, *args, **given):
        init(learner, *args, **(parameters(given) if known & given.keys() else given))

    known = {name for name, now in PARAMETERS.items() if now in signature(init).parameters}
    return construct if known else init


def flags(name: str) -> list[str]:
    """Former options of the command line for a parameter."""
    return [f"--{old.replace('_', '-')}" for old, now in PARAMETERS.items() if now == name]


def update(meta: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Rename the entries and arrays of a saved tree."""
    run = meta.get("run", {})
    for part in (*_trees(meta), meta.get("params"), run.get("options"), run.get("curve")):
        if isinstance(part, dict):
            _rename(part, PARAMETERS | COUNTS | _ENTRIES)
    for name in list(arrays):
        for old, now in _ARRAYS.items():
            if name.endswith(old):
                arrays[name.removesuffix(old) + now] = arrays.pop(name)
                break


def _trees(meta):
    """The description, those of trees in it, and what each has counted."""
    parts = [meta]
    for part in parts:
        parts += [each for name in ("members", "trees") for each in part.get(name, ())]
    return [*parts, *(part.get("tally") for part in parts)]


def _rename(part, names):
    for old, now in names.items():
        if old in part:
            part[now] = part.pop(old)
