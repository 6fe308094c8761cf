"""The parameters of a learner: its constructor and its docstring by the table of options; which are refused."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import fields

import numpy as np
from pandas.api.types import is_hashable, is_scalar

from ..data.schema import Attribute
from ..words import shown
from . import options
from .policy.policy import SplitPolicy

__all__ = ["check_nominal", "decisive", "declared", "same"]

_SECTIONS = ("Examples\n", "Source:")  # of a docstring, that the parameters go before


def declared(cls):
    """Class decorator of a tree: hold its constructor to the table of options, and describe it by that.

    Raises
    ------
    TypeError
        If the constructor has other parameters than the table says, or other defaults.
    """
    tree = cls.__name__.lower()
    given = {name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()}
    expected = {option.name: option.defaults[tree] for option in options.options_of(tree)}
    for name in sorted({*given, *expected}):
        if name not in given or name not in expected or given[name] != expected[name]:
            raise TypeError(
                f"{cls.__name__}({name}={given.get(name, '?')!r}): trees/options.py declares "
                f"{expected.get(name, 'no such parameter')!r}"
            )
    cls._options = tuple(expected)
    if cls.__doc__ is None:  # python -OO
        return cls
    entries = "\n".join(option.entry(tree) for option in options.options_of(tree))
    text = inspect.cleandoc(cls.__doc__)
    at = min(text.index(section) for section in _SECTIONS if section in text)
    cls.__doc__ = f"{text[:at]}Parameters\n----------\n{entries}\n\n{text[at:]}"
    return cls


def decisive(chosen):
    """Those of the options, with their values, that a learner keeps from its first instance on."""
    names = {field.name for field in fields(SplitPolicy)} | {"leaf_prediction", "nominal_split"}
    return {name: value for name, value in chosen.items() if name in names}


def check_nominal(given):
    """Refuse a wrong ``nominal`` with a TypeError or ValueError."""
    if not _is_list(given):
        raise TypeError(
            f"nominal must name attributes, as a list, or as a dict of them to their values, not {shown(given)}"
        )
    for key in given:
        if not is_hashable(key) or not is_scalar(key) and not isinstance(key, tuple):
            raise TypeError(f"nominal must hold names or positions of attributes, not {shown(key)}")
    for key, values in given.items() if isinstance(given, dict) else ():
        if not _is_list(values):
            raise TypeError(f"nominal must hold a list of the values of {shown(key)}, not {shown(values)}")
        Attribute(str(key), "nominal", tuple(values))


def same(one, other):
    """Whether two values of a parameter are equal."""
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # of many elements, or of none
        return False


def _is_list(given):
    """Whether there is something to go through, more than once; no text, nor an array without dimensions."""
    return (
        isinstance(given, Iterable)
        and not isinstance(given, str | bytes | Iterator)
        and not (hasattr(given, "dtype") and not np.ndim(given))
    )
