"""The codes of one instance, from a dict of values, by tables that are kept between calls."""

import struct
from collections.abc import Mapping
from operator import itemgetter

import numpy as np
import pandas as pd

from ..geometry import MISSING
from ..words import listed, shown
from .nominal import plain
from .quantiser import real
from .times import TIMES

__all__ = ["Row", "check_finite", "check_text", "check_value", "is_missing", "named"]

_PLAIN = frozenset((float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_))
_KEYS = frozenset((str, int, float))


class Row:
    """One instance at a time; to be used by one thread at a time.

    Parameters
    ----------
    quantiser : Quantiser
    grows : bool
        Whether there may be attributes later that are unknown now.

    Attributes
    ----------
    codes : uint8 array (attributes,), read-only
        Of the last instance.
    numbers : float64 array (1, numeric attributes)
        Of the last instance.
    lost : bool
        Whether it had a nominal value without a code, which counts as missing.
    """

    def __init__(self, quantiser, grows=False):
        self._grows = grows
        schema = quantiser.schema
        self._names = schema.names
        kinds = [attribute.kind for attribute in schema.attributes]
        places = [place for place, kind in enumerate(kinds) if kind == "numeric"]
        self._nominal = [place for place, kind in enumerate(kinds) if kind == "nominal"]
        self._books = quantiser.books
        self._tables = quantiser.tables
        self.numbers = np.empty((1, len(places)))
        self._numeric = [self._names[place] for place in places]
        self._pack = struct.Struct(f"{len(places)}d").pack_into
        self._codes = np.empty((1, len(kinds)), np.uint8)
        self.codes = self._codes[0].view()
        self.codes.flags.writeable = False
        # Codes of the strings and numbers met; a truth value equals what may be another value.
        self._known = [(self._books[place], {}) for place in self._nominal]
        self._width = len(kinds)
        self._numbers = _getter(self._numeric)
        self._others = _getter([self._names[place] for place in self._nominal])

    def encode(self, x, *, read_only=False):
        """Put an instance's codes into ``codes``, as `Quantiser.encode` would encode it.

        Parameters
        ----------
        x : dict
            Values by name; one that is absent is missing.
        read_only : bool

        Returns
        -------
        bool
            False, and nothing is done: it has attributes that are to be learnt first.

        Raises
        ------
        TypeError, ValueError
            If a name is unknown or given twice, or a value none of its attribute's; nothing is
            changed then.
        """
        self.lost = False
        return self._encode_known(x, read_only) or self._encode_any(x, read_only)

    def _encode_known(self, x, read_only):
        """Encode plain numbers and strings that are known already; False: there are others."""
        if type(x) is not dict or len(x) != self._width:
            return False
        try:
            values = self._numbers(x)
            if not _PLAIN.issuperset(map(type, values)):
                return False
            self._pack(self.numbers, 0, *values)
            found = ()
            if self._known:
                others = self._others(x)
                if not _KEYS.issuperset(map(type, others)):
                    return False
                found = [codes[value] for (_, codes), value in zip(self._known, others, strict=True)]
        except (KeyError, TypeError, OverflowError, struct.error):
            return False
        if self._tables.encode(self.numbers, self._codes):
            return False  # a number is infinite
        if found:
            self._codes[0, self._nominal] = found
            if not read_only:
                for book, _ in self._known:
                    book.seen += 1
        return True

    def _encode_any(self, x, read_only):
        values = named(x)
        for name in values:
            if name not in self._names:
                if not self._grows:
                    raise ValueError(f"unknown attribute {name!r}; there are {listed(self._names)}")
                if not read_only:
                    return False
        numbers = [_number(name, values.get(name)) for name in self._numeric]
        nominal = [_nominal(self._names[place], values.get(self._names[place])) for place in self._nominal]
        self.numbers[0] = numbers
        self._tables.encode(self.numbers, self._codes)
        for place, (book, codes), value in zip(self._nominal, self._known, nominal, strict=True):
            column = np.empty(1, object)
            column[0] = value
            self._codes[0, place] = code = book.encode(column, read_only=read_only)[0]
            self.lost |= value is not None and code == MISSING
            if type(value) in _KEYS and book.code(value) == code != MISSING:
                codes[value] = code
        return True


def named(x):
    """An instance's values by their names as strings, times in seconds; ValueError if two have the same."""
    if not isinstance(x, Mapping | pd.Series):
        raise TypeError(f"x must be a dict of an instance's values by attribute, not a {type(x).__name__}")
    values = {str(name): value for name, value in x.items()}
    if len(values) < len(x):
        names = [str(name) for name in x]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two attributes are named {twice!r}; names must be distinct")
    for name, value in values.items():
        check_text(name, "an attribute's name")
        if isinstance(value, TIMES):
            values[name] = _number(name, value)
    return values


def check_text(text, what):
    """Refuse with a ValueError a string that is no text: half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{what}: {text!r} is no Unicode text ({error.reason})") from error


def _getter(names):
    if len(names) > 1:
        return itemgetter(*names)
    return (lambda x: (x[names[0]],)) if names else (lambda x: ())


def is_missing(value):
    """Whether a value of an instance is a missing one; a complex number is none, and no value either."""
    try:
        return value is None or (
            pd.api.types.is_scalar(value)
            and not isinstance(value, complex | np.complexfloating)
            and bool(pd.isna(value))
        )
    except ArithmeticError:  # a decimal's signalling NaN
        return False


def check_value(attribute, value):
    """Refuse with a TypeError or ValueError what `Row.encode` refuses for an attribute."""
    (_number if attribute.kind == "numeric" else _nominal)(attribute.name, value)


def _number(name, value):
    if is_missing(value):
        return np.nan
    try:
        number = real(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"attribute {name!r}: values must be numbers that a float can hold, not {shown(value)}"
        ) from error
    check_finite(name, number)
    return number


def _nominal(name, value):
    if is_missing(value):
        return None
    try:
        value = plain(value)
    except TypeError as error:
        raise TypeError(f"attribute {name!r}: {error}") from error
    if isinstance(value, str):
        check_text(value, f"attribute {name!r}")
    return value


def check_finite(name, value):
    """Refuse an infinite value of the attribute ``name`` with a ValueError."""
    if np.isinf(value):
        raise ValueError(f"attribute {name!r}: {value} is infinite; a value is finite or missing (None, NaN)")
