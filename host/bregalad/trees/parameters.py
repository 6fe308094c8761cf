"""The parameters of a tree: what they describe, and which are refused."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import cache

import numpy as np
from pandas.api.types import is_hashable, is_scalar

from ..boards import check_name
from ..boards.base import Board
from ..data.schema import Attribute
from ..geometry import HARDWARE_CLASSES, MOST_CLASSES, Geometry
from ..words import shown
from . import options
from .policy.policy import SplitPolicy
from .requirements import check_abilities, check_alternates, check_block, check_classes, check_window, naming_build
from .shared import Shared
from .structure.cells import CellMap, check_cells

__all__ = ["Parameters", "declared"]

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


class Parameters(Shared):
    """Mixin of ``StreamTree``: its constructor's arguments."""

    _options: tuple[str, ...] = ()  # parameters in the table of options; a subclass's constructor may take others
    _fixed: dict = {}  # of ``SplitPolicy``: what a class does not leave open, and not as by default

    @classmethod
    @cache
    def _get_param_names(cls):
        return super()._get_param_names()

    def _keep_parameters(self, given):
        """Store the constructor's arguments, as scikit-learn wants them: under their names."""
        for name in self._options:
            setattr(self, name, given[name])

    def _chosen(self):
        """The options with their values."""
        return {name: getattr(self, name) for name in self._options}

    def _keep_fixed(self, **policy):
        """Have more of ``SplitPolicy`` that is not left open, of this tree alone."""
        self._fixed_here = policy
        self._fixed = {**type(self)._fixed, **policy}

    def _decisive(self):
        """Those parameters, with their values, that a tree keeps from its first instance on."""
        names = {field.name for field in fields(SplitPolicy)} | {"leaf_prediction", "nominal_split"}
        return {name: value for name, value in self._chosen().items() if name in names}

    def _check_unchanged(self):
        """Refuse with a ValueError what was changed (``set_params``) since the first instance."""
        for name, value in getattr(self, "_made_with", {}).items():
            if not _same(now := getattr(self, name), value):
                raise ValueError(
                    f"{name} was {shown(value)} when this tree began to learn, and is "
                    f"{shown(now)} now: that takes effect with fit or reset; set it back "
                    "to go on with this tree"
                )

    def _policy(self):
        """The split policy that the parameters describe; refuses wrong ones."""
        names = {field.name for field in fields(SplitPolicy)}
        return SplitPolicy(**{name: value for name, value in self._chosen().items() if name in names}, **self._fixed)

    def check_parameters(self) -> None:
        """Refuse wrong parameters with a ValueError or TypeError, before any data are read."""
        policy = self._policy()
        geometry = self._given_geometry()
        for name, value in self._chosen().items():
            options.check(name, value)
        if geometry is not None:
            with self._naming_build(self.board):
                check_abilities(geometry, policy, self._prediction_on(geometry))
                check_window(geometry, policy)
            check_alternates(geometry, policy)
            check_block(geometry, policy)
        self._check_class_weight()
        self._check_nominal()
        if not isinstance(self.board, Board):
            check_name(self.board)

    def _check_nominal(self):
        given = self.nominal
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

    def _check_size(self, capacities, classes):
        """Refuse a stream that the board, or any board, is too small for."""
        geometry = self._widest_geometry()
        cells = len(CellMap.build(capacities, geometry.bins, self.nominal_split))
        with self._naming_build(self.board, classes, cells):
            check_classes(geometry, classes)
            check_cells(geometry, cells)

    def _naming_build(self, board, classes=0, cells=0):
        prediction = getattr(self, "_prediction", None) or getattr(self, "leaf_prediction", None)
        return naming_build(board, self._policy(), prediction, classes, cells)

    def _widest_geometry(self):
        """That of the board in use, or of any board that can be opened."""
        return self._given_geometry() or Geometry(classes=self._most_classes(), lanes=1024, passes=31)

    def _most_classes(self):
        """Classes that a board opened by name can have counters for."""
        return MOST_CLASSES if self.board == "emulated" else HARDWARE_CLASSES

    def _given_geometry(self):
        """The open board's geometry, or the one that is given; None if neither is."""
        if isinstance(self.board, Board):
            return self.board.geometry
        return None if self.geometry is None else Geometry.of(self.geometry)


def _same(one, other):
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
