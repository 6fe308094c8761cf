"""A parameter of a learner: what it means, what it may be, which learner has it with which default."""

import math
from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from textwrap import fill

from ..words import joined, shown


@dataclass(frozen=True)
class Kind:
    """What values a parameter may have; all, unless it says more: what uses them checks them."""

    noun: str = ""  # their type, for docstrings
    arguments: dict = field(default_factory=lambda: {"metavar": "LABEL"})  # of the command line's option, for argparse
    wanted: str = ""  # their type, for messages
    typed: Callable = lambda value: True  # whether a value is of the type
    allowed: str = ""  # which values of the type are allowed, for messages
    inside: Callable = lambda value: True  # whether one is
    choices: tuple = ()  # all words that are allowed, if they are words


def choice(*words):
    """One of some words."""
    return Kind(
        arguments={"choices": words}, inside=lambda value: isinstance(value, str) and value in words, choices=words
    )


def integer(low, high=None, unit=""):
    """An integer from ``low`` on, ``high`` at most; ``unit`` is what it counts."""
    words = f"{low} or more" if high is None else f"{low} to {high}"
    words, most = f"{words} {unit}".rstrip(), math.inf if high is None else high
    number = {"type": int, "metavar": "N"}
    return Kind("int", number, "an integer", _is(Integral), words, lambda value: low <= value <= most)


def real(allowed, inside):
    """A finite number that ``inside`` is true of, which ``allowed`` says in words."""

    def finite(value):
        try:
            return inside(value) and math.isfinite(value)
        except OverflowError:  # an integer that no float holds
            return False

    return Kind("float", {"type": float, "metavar": "X"}, "a number", _is(Real), allowed, finite)


def length(high):
    """An integer, of instances up to ``high``, or a share: a float above 0, and 1 at most."""

    def inside(value):
        return 1 <= value <= high if isinstance(value, Integral) else 0 < value <= 1

    words = f"an integer from 1 to {high} instances, or a float above 0 and up to 1.0"
    return Kind("int or float", {"type": _fraction, "metavar": "X"}, "a number", _is(Real), words, inside)


def _is(kind):
    # NumPy's times are integers to Python.
    return lambda value: (
        isinstance(value, kind) and not isinstance(value, bool) and type(value).__name__ != "timedelta64"
    )


def _fraction(text):
    """An integer, or a float, also as in ``1/32``; ValueError if it is neither."""
    try:
        return int(text)
    except ValueError:
        part, _, whole = text.partition("/")
        return float(part) / (float(whole or 1) or math.nan)


def _weight(text):
    """A label and its weight."""
    label, _, weight = text.rpartition("=")
    try:
        return label, float(weight)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not LABEL=X, a class and its weight") from None


ANY = Kind()
PROBABILITY = real("between 0 and 1, both excluded", lambda value: 0 < value < 1)
FLAG = Kind(
    "bool",
    {"action": "store_const", "const": True},
    "True or False",
    lambda value: type(value).__name__ in ("bool", "bool_"),  # NumPy's, too
)
WEIGHTS = Kind("dict", {"type": _weight, "action": "append", "metavar": "LABEL=X"})  # once for each label


@dataclass(frozen=True)
class Option:
    """One parameter."""

    name: str
    kind: Kind
    meaning: str = ""  # for docstring and help, without a full stop
    defaults: dict = field(default_factory=dict)  # by learner, of those that have the parameter
    none: str = ""  # what None means; empty: it is not allowed
    needs: tuple = ()  # another parameter and the value without which this one has no effect
    group: str = ""  # of the command line's help; empty: it is no option there

    @property
    def allowed(self):
        """The values allowed, in words."""
        if self.kind.choices:
            return joined([*map(repr, self.kind.choices), *["None"] * bool(self.none)])
        return self.kind.allowed + (f", or None for {self.none}" if self.none else "")

    def check(self, value):
        """Refuse a value with a TypeError or ValueError that says what is allowed."""
        if value is None and self.none:
            return
        if not self.kind.typed(value):
            wanted = self.kind.wanted + (" or None" if self.none else "")
            raise TypeError(f"{self.name} must be {wanted}, not {shown(value)}")
        if not self.kind.inside(value):
            raise ValueError(f"{self.name} must be {self.allowed}, not {shown(value)}")

    @property
    def flag(self):
        """The command line's option."""
        return f"--{self.name.replace('_', '-')}"

    def entry(self, tree):
        """Its place in a docstring's list of parameters: two lines or more."""
        noun = self.kind.noun and self.kind.noun + (" or None" if self.none else "")
        words = filter(None, (self.allowed if self.kind.choices else noun, f"default {self.defaults[tree]!r}"))
        text = f"{self.meaning[0].upper()}{self.meaning[1:]}."
        if self.kind.allowed:
            text += f" {self.allowed[0].upper()}{self.allowed[1:]}."
        elif self.none:
            text += f" None: {self.none}."
        indented = fill(text, 96, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        return f"{self.name} : {', '.join(words)}\n{indented}"


def in_help(group, *options):
    """Options of the command line, in a group of its help."""
    return (replace(option, group=group) for option in options)
