"""A parameter of a learner: what it means, what it may be, which learner has it with which default."""

import math
from dataclasses import dataclass
from numbers import Integral, Real
from textwrap import fill
from typing import Any

from ..words import joined, shown


@dataclass(frozen=True)
class Option:
    """One parameter.

    Parameters
    ----------
    name : str
    kind : type
        int, float, bool, str (one of ``choices``), dict (label to weight), or object: checked where it is used.
    meaning : str
        For docstring and help, without a full stop.
    defaults : dict
        By learner, of those that have the parameter.
    low, high : number, optional
        Least and greatest value, both allowed.
    above, below : number, optional
        The same, not allowed themselves.
    unit : str
        What a number counts, for messages.
    choices : tuple of str
    none : str
        What None means; empty: it is not allowed.
    group : str
        Of the command line's help; empty: it is no option there.
    needs : tuple of str, optional
        Another parameter and the value without which this one has no effect.
    """

    name: str
    kind: type
    meaning: str
    defaults: dict
    low: Any = None
    high: Any = None
    above: Any = None
    below: Any = None
    unit: str = ""
    choices: tuple = ()
    none: str = ""
    group: str = ""
    needs: tuple = ()

    @property
    def allowed(self):
        """The values allowed, in words."""
        if self.choices:
            return joined([*map(repr, self.choices), *["None"] * bool(self.none)])
        if self.kind is bool:
            return "True or False"
        unit = f" {self.unit}" if self.unit else ""
        if self.above is not None and self.below is not None:
            words = f"between {self.above:g} and {self.below:g}, both excluded"
        elif self.above is not None:
            words = f"above {self.above:g}"
        elif self.high is None:
            words = f"{self.low} or more"
        else:
            words = f"{self.low} to {self.high}"
        return words + unit + (f", or None for {self.none}" if self.none else "")

    def check(self, value):
        """Refuse a value.

        Raises
        ------
        TypeError, ValueError
            With what is allowed.
        """
        if self.kind in (object, dict) or (value is None and self.none):
            return
        if self.choices:
            if not isinstance(value, str) or value not in self.choices:
                raise ValueError(f"{self.name} must be {self.allowed}, not {shown(value)}")
            return
        noun, number = {bool: ("True or False", bool), int: ("an integer", Integral), float: ("a number", Real)}[
            self.kind
        ]
        # NumPy's truth values are no bool, and no number either.
        truth = isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")
        # Its times are integers to Python.
        time = type(value).__name__ == "timedelta64"
        if time or truth != (self.kind is bool) or not (truth or isinstance(value, number)):
            raise TypeError(f"{self.name} must be {noun}{' or None' if self.none else ''}, not {shown(value)}")
        if self.kind is not bool and not self._in_range(value):
            raise ValueError(f"{self.name} must be {self.allowed}, not {shown(value)}")

    def _in_range(self, value):
        """Whether a number is allowed; NaN never is."""
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
            and self._is_finite(value)
        )

    def _is_finite(self, value):
        try:
            return math.isfinite(value)
        except OverflowError:  # an integer that no float holds
            return self.kind is int

    @property
    def type_name(self):
        """For docstrings."""
        return self.kind.__name__

    @property
    def parse(self):
        """What makes a value of a word of the command line."""
        return self.kind

    @property
    def flag(self):
        """The command line's option."""
        return f"--{self.name.replace('_', '-')}"

    def entry(self, tree):
        """Its place in a docstring's list of parameters: two lines or more."""
        kind = "" if self.kind is object else self.type_name + (" or None" if self.none else "")
        if self.choices:
            kind = self.allowed
        head = f"{self.name} : " + ", ".join(filter(None, (kind, f"default {self.defaults[tree]!r}")))
        text = self.meaning[0].upper() + self.meaning[1:] + "."
        if self.kind in (int, float):
            text += f" {self.allowed[0].upper() + self.allowed[1:]}."
        elif self.none:
            text += f" None: {self.none}."
        return head + "\n" + fill(text, 96, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def number(text):
    """An integer, or a float, also as in ``1/32``; ValueError if it is neither."""
    try:
        return int(text)
    except ValueError:
        part, _, whole = text.partition("/")
        return float(part) / (float(whole or 1) or math.nan)


@dataclass(frozen=True)
class Length(Option):
    """A parameter that is an integer, of instances up to ``high``, or a share: a float above 0, and 1 at most."""

    @property
    def allowed(self):
        words = f"an integer from 1 to {self.high} instances, or a float above 0 and up to 1.0"
        return words + (f", or None for {self.none}" if self.none else "")

    @property
    def type_name(self):
        return "int or float"

    def _in_range(self, value):
        return 1 <= value <= self.high if isinstance(value, Integral) else 0 < value <= 1

    @property
    def parse(self):
        return number
