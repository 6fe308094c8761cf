"""The parameters of a learner: its constructor and its docstring by the table of options; which are refused."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import dataclass_transform

import numpy as np
from pandas.api.types import is_hashable, is_scalar

from ..boards.base import Board
from ..data.schema import Attribute
from ..geometry import Geometry
from ..hints import Label, Nominal
from ..words import shown

_SECTIONS = ("Examples\n", "Source:")  # of a docstring, that the parameters go before


@dataclass(eq=False, repr=False, kw_only=True)
class BoardParameters:
    """Those of all trees on boards; a class that has others, or other defaults, says so."""

    board: Board | str = field(default="emulated", kw_only=False)
    geometry: Geometry | str | None = None
    slots: int = 1024
    delta: float = 1e-7
    tau: float = 0.05
    grace: int = 200
    max_depth: int | None = None
    block: float | None = None
    child_counts: str = "inherit"
    bin_window: str = "path"
    nominal: Nominal = ()
    nominal_split: str = "multiway"
    nominal_values: int = 64
    review_period: int = 20_000
    threads: int = 1


@dataclass(eq=False, repr=False, kw_only=True)
class TreeParameters(BoardParameters):
    """Those of all trees on boards that know all labels."""

    leaf_prediction: str | None = None
    class_weight: Mapping[Label, float] | str | None = None


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def declared(cls):
    """Class decorator of a learner: a dataclass. Its fields are its parameters, held to options and described by them.

    These are of ``_table``, for its ``_name``. TypeError if it has other parameters than they say, or other defaults.
    """
    doc, name = cls.__doc__, cls._name or cls.__name__.lower()
    table = [option for option in cls._table if name in option.defaults]
    cls = dataclass(eq=False, repr=False, kw_only=True)(cls)
    actual = {name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()}
    expected = {option.name: option.defaults[name] for option in table}
    for parameter in sorted({*actual, *expected}):
        if parameter not in actual or parameter not in expected or actual[parameter] != expected[parameter]:
            raise TypeError(
                f"{cls.__name__}({parameter}={actual.get(parameter, '?')!r}): the table of options declares "
                f"{expected.get(parameter, 'no such parameter')!r}"
            )
    cls._options = tuple(expected)
    cls.__doc__ = doc
    if doc is None:  # python -OO
        return cls
    entries = "\n".join(option.entry(name) for option in table)
    text = inspect.cleandoc(doc)
    at = min(text.index(section) for section in _SECTIONS if section in text)
    cls.__doc__ = f"{text[:at]}Parameters\n----------\n{entries}\n\n{text[at:]}"
    return cls


def check_nominal(nominal):
    """Refuse a wrong ``nominal`` with a TypeError or ValueError."""
    if not _is_list(nominal):
        raise TypeError(
            f"nominal must name attributes, as a list, or as a dict of them to their values, not {shown(nominal)}"
        )
    for key in nominal:
        if not is_hashable(key) or not is_scalar(key) and not isinstance(key, tuple):
            raise TypeError(f"nominal must hold names or positions of attributes, not {shown(key)}")
    for key, values in nominal.items() if isinstance(nominal, dict) else ():
        if not _is_list(values):
            raise TypeError(f"nominal must hold a list of the values of {shown(key)}, not {shown(values)}")
        Attribute(str(key), "nominal", tuple(values))


def same(one, other):
    """Whether two values of a parameter are equal."""
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # of many elements, or of none
        return False


def _is_list(value):
    """Whether there is something to go through, more than once; no text, nor an array without dimensions."""
    return (
        isinstance(value, Iterable)
        and not isinstance(value, str | bytes | Iterator)
        and not (hasattr(value, "dtype") and not np.ndim(value))
    )
