"""Codes for the values of one nominal attribute, in the order of their first appearance."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd

from ..geometry import MISSING
from ..options.option import Option, integer
from ..words import shown

__all__ = ["ValueBook", "plain"]

_CAPACITY = Option("capacity", integer(1, MISSING))


class ValueBook:
    """Map values to codes 0, 1, ...; None, NaN and ``"?"`` are missing, code 255.

    Declared values come first, others claim codes as they appear while the capacity lasts, 1 to 255; after that they
    are encoded as missing and counted.

    A number or truth value and the text that it is printed as are one value, for a file's column may be read as numbers
    in one chunk and as strings in another: 1, 1.0 and ``"1"``, True and ``"True"``; ``"01"`` is another. Texts that
    differ stay apart as long as no number has come.

    ``values`` is a list of the value of every code, ``codes`` a dict of the code of every value, but for numbers' texts
    and texts' numbers. ``seen`` values were encoded, the missing ones left out; for ``overflowed``, counted each time,
    no code was left. Reading only does not count. TypeError if the capacity is no integer or a value no string, number
    or truth value; ValueError if the capacity is out of range, or more values are declared, or one twice.
    """

    def __init__(self, values=(), capacity=MISSING):
        _CAPACITY.check(capacity)
        values = [plain(value) for value in values]
        if len(values) > capacity:
            raise ValueError(f"{len(values)} values are declared, but capacity is {capacity}")
        self.capacity = capacity
        self.values = values
        self.overflowed = 0
        self.seen = 0
        self.codes = {}
        self._aliases = {}  # numbers whose texts have codes, and texts of numbers that have
        for code, value in enumerate(values):
            self._assign(value, code)
        if len(self.codes) < len(values):
            raise ValueError("a value is declared twice")

    def encode(self, values, *, read_only=False):
        """The codes of ``values``, a uint8 array; new values claim codes in the order of values.

        These are a one-dimensional array, Series or Categorical, or what `looked_up` says of one. With ``read_only``
        unknown values get the code that the next new one would get, and nothing changes. TypeError, with nothing
        changed, if a value is no string, number or truth value.
        """
        found = values if isinstance(values, tuple) else looked_up(values)
        if isinstance(found, np.ndarray):
            codes = self._small_codes()[found]
            if (codes != MISSING).all():
                self.seen += 0 if read_only else len(codes)
                return codes
            found = factors(found)
        positions, uniques = found
        amounts = np.bincount(positions + 1, minlength=len(uniques) + 1)[1:]
        codes = [
            self.take(value, amount, read_only=read_only)
            for value, amount in zip(uniques, amounts.tolist(), strict=True)
        ]
        return np.array([*codes, MISSING], np.uint8)[positions]  # the last is for position -1

    def take(self, value, amount=1, *, read_only=False):
        """The code of a plain value that comes so many times; see `encode`."""
        code = self.codes.get(value)
        code = self._aliases.get(value) if code is None else code
        if code is None and len(self.values) < self.capacity:
            # Reading only, too: a tree that asks "is it b?" must get the same "no" either way.
            code = len(self.values)
            if not read_only:
                self._assign(value, code)
                self.values.append(value)
        if not read_only:
            self.seen += amount
            self.overflowed += amount * (code is None)
        return MISSING if code is None else code

    def _assign(self, value, code):
        self.codes[value] = code
        for alias in [_number(value)] if isinstance(value, str) else _texts(value):
            if alias is not None:
                self._aliases.setdefault(alias, code)  # what it has meant it goes on to mean

    def _small_codes(self):
        """The codes of the numbers 0 to 255, 255 for those that have none; uint8 array (256,)."""
        codes = np.full(256, MISSING, np.uint8)
        for value, code in self.codes.items():
            if not isinstance(value, str) and value in range(256):
                codes[int(value)] = code
        return codes

    def value(self, code):
        """The value of a code, None for 255.

        Raises
        ------
        KeyError
            If the code has not been given.
        """
        if code == MISSING:
            return None
        if not 0 <= code < len(self.values):
            raise KeyError(f"code {code} is not given; {len(self.values)} are")
        return self.values[code]

    def to_dict(self):
        """The state in JSON's types."""
        return {
            "capacity": self.capacity,
            "values": list(self.values),
            "overflowed": self.overflowed,
            "seen": self.seen,
        }

    @classmethod
    def from_dict(cls, state, declared=()):
        """The value book that `to_dict` described, of an attribute that declares these values, which have the first
        codes; KeyError or ValueError if it is none.
        """
        values = state["values"]
        if not isinstance(values, list) or not all(isinstance(value, str | int | float) for value in values):
            raise ValueError("no value book: its values are no strings or numbers")
        if any(value != value or value == "?" for value in values):
            raise ValueError("no value book: a missing value has a code")
        if len(declared) > len(values):
            raise ValueError("no value book: it lacks values that its attribute declares")
        book = cls(values, state["capacity"])
        for name in ("overflowed", "seen"):
            if type(state[name]) is not int or not 0 <= state[name] < 1 << 62:
                raise ValueError(f"no value book: {name} is {state[name]!r}")
            setattr(book, name, state[name])
        return book


def looked_up(values):
    """Whole numbers from 0 to 255 as a uint8 array, which takes no hashing; of other values what `factors` says."""
    numbers = values.to_numpy() if isinstance(values, pd.Series) and isinstance(values.dtype, np.dtype) else values
    if isinstance(numbers, np.ndarray) and numbers.ndim == 1 and numbers.dtype.kind in "iuf":
        if numbers.dtype == np.uint8:
            return numbers
        with np.errstate(invalid="ignore"):  # NaN becomes a number, and is found unequal to it
            small = numbers.astype(np.uint8)
        if (small == numbers).all():
            return small
    return factors(values)


def factors(values):
    """Positions in a list of distinct plain values, by first appearance; -1 is missing."""
    if isinstance(values, pd.Series):
        values = values.array
    if isinstance(values, pd.Categorical):
        # Categories are sorted or as declared; what counts is which of them appears first.
        positions, used = pd.factorize(values.codes)
        uniques = [values.categories[code] for code in used[used >= 0]]
        if (used < 0).any():
            positions = _without(positions, int(np.flatnonzero(used < 0)[0]))
    else:
        if np.ndim(values) != 1:
            raise ValueError(f"values must be one-dimensional, not of shape {np.shape(values)}")
        if not isinstance(values, pd.api.extensions.ExtensionArray) or isinstance(
            values, pd.arrays.NumpyExtensionArray
        ):
            values = np.asarray(values)
            values = values.astype(values.dtype.newbyteorder("="), copy=False)
        try:
            positions, uniques = pd.factorize(values)
        except (TypeError, NotImplementedError):  # not hashed, or not by Arrow
            values = np.asarray(values, object)
            for value in values:
                if not pd.api.types.is_hashable(value):
                    plain(value)
            positions, uniques = pd.factorize(values)
    uniques = [plain(value) for value in uniques]
    if "?" in uniques:
        at = uniques.index("?")
        positions = _without(positions, at)
        del uniques[at]
    return np.asarray(positions), uniques


def plain(value):
    """A value as one of JSON's types, so that 1, 1.0 and numpy's 1 are the same."""
    if isinstance(value, np.generic):
        value = float(value) if isinstance(value, np.longdouble) else value.item()  # whose item is itself
    if isinstance(value, Decimal) and value.is_finite():
        # As its text where a float would be another number.
        whole = value == value.to_integral_value()
        value = int(value) if whole else float(value) if Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, (str, int, float)):
        raise TypeError(f"a nominal value must be a string, a number or a truth value, not {shown(value)}")
    return value


def _number(text):
    """The number or truth value that is printed as ``text``, None if there is none."""
    if text in ("True", "False"):
        return text == "True"
    if text[:1] in set("-0123456789"):
        for kind in (int, float):
            try:
                number = kind(text)
                if math.isfinite(number) and str(number) == text:
                    return plain(number)
            except (ValueError, OverflowError):
                pass
    return None


def _texts(number):
    """What a number or truth value may be printed as."""
    texts = [str(bool(number))] if number in (0, 1) else []
    try:
        return [*texts, str(number + 0), str(float(number))]  # a truth value is a number, too
    except (ValueError, OverflowError):  # thousands of digits
        return texts


def _without(positions, at):
    return np.where(positions == at, -1, positions - (positions > at))
