"""The codes of one instance, from a dict of values, by tables that are kept between calls."""

import math
import struct
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from operator import getitem, itemgetter

import numpy as np
import pandas as pd

from ..geometry import MISSING
from ..words import listed, shown
from .nominal import plain
from .quantiser import real
from .times import TIMES

# Types whose values `real` and `plain` take as they are, and of which equal ones are the same value to both.
_REALS = frozenset(np.dtype(code).type for code in "?bBhHiIlLqQefd") | {float, int, bool}
_NUMBERS = _REALS | {Decimal, Fraction}
_PLAIN = _REALS | {str, np.str_}


class Row:
    """The codes of one instance at a time; to be used by one thread at a time.

    If it ``grows``, there may be attributes later that are unknown now. Of the last instance it has the ``codes``,
    uint8 array (attributes,), read-only, the ``numbers``, float64 array (1, numeric attributes), and whether a nominal
    value had no code (``lost``), which counts as missing.
    """

    def __init__(self, quantiser, grows=False):
        self._grows = grows
        # By name, where a value goes: the book of a nominal one and its place, or None and the column of ``numbers``.
        self._places = {}
        self.numbers = np.empty((1, 0))
        self.extend(quantiser)

    def extend(self, quantiser):
        """Go on with a quantiser, of more attributes than the last one."""
        self._schema, self._tables = quantiser.schema, quantiser.tables
        known, column = len(self._places), self.numbers.size
        for place, attribute in enumerate(quantiser.schema.attributes[known:], known):
            if attribute.kind == "nominal":
                self._places[attribute.name] = quantiser.books[place], place
            else:
                self._places[attribute.name] = None, column
                column += 1
        self.numbers = np.empty((1, column))
        self._codes = np.empty((1, len(self._places)), np.uint8)
        self._line = self._codes[0]
        self.codes = self._line.view()
        self.codes.flags.writeable = False
        self._whole = None  # how many attributes `_encode_whole` is for
        self._last = None  # values that ``codes`` is of: one mostly predicts, then learns the same

    def _prepare(self):
        """Be ready for `_encode_whole`."""
        numeric = [name for name, (book, _) in self._places.items() if book is None]
        nominal = [name for name, (book, _) in self._places.items() if book is not None]
        self._values = _getter(numeric + nominal)
        self._books = [self._places[name][0] for name in nominal]
        self._known = [book.codes for book in self._books]
        self._pack = struct.Struct(f"{len(numeric)}d").pack_into
        # Its pad bytes are where numbers' codes come.
        kinds = ("x" if book is None else "B" for book, _ in self._places.values())
        self._pack_codes = struct.Struct("".join(kinds)).pack_into
        self._whole = len(self._places)

    def encode(self, x, *, read_only=False):
        """Put the codes of an instance, values by name, into ``codes``, as `Quantiser.encode` would; what is absent is
        missing.

        Returns False, with nothing done, if it has attributes that are to be learnt first. TypeError or ValueError,
        with nothing changed, if a name is unknown or given twice, or a value none of its attribute's.
        """
        self.lost = False
        return self._encode_whole(x, read_only) or self._encode_any(x, read_only)

    def _encode_whole(self, x, read_only):
        """Encode plain values of all attributes, nominal ones that have codes; False: there are others."""
        if type(x) is not dict or len(x) != self._whole:
            return False
        tables = self._tables
        try:
            values = self._values(x)
            if not _PLAIN.issuperset(map(type, values)):
                return False
            last, self._last = self._last, None
            if read_only or last is None or values != last or tables.changes != self._changes:
                numeric = self.numbers.size
                if self._known:
                    self._pack_codes(self._line, 0, *map(getitem, self._known, values[numeric:]))
                self._pack(self.numbers, 0, *values[:numeric])
                if tables.encode(self.numbers, self._codes):
                    return False  # a number is infinite
                if read_only:
                    self._last, self._changes = values, tables.changes
        except (KeyError, OverflowError, struct.error):
            return False
        if self._known and not read_only:
            for book in self._books:
                book.seen += 1
        return True

    def _encode_any(self, x, read_only):
        """Encode whatever values of whatever attributes."""
        places = self._places
        values = x if type(x) is dict and x.keys() <= places.keys() else named(x)
        self._last = None
        self.numbers.fill(np.nan)
        self._line.fill(MISSING)
        numbers, nominal = self.numbers[0], []
        for name, value in values.items():
            if name in places:
                book, at = places[name]
                if book is None:
                    numbers[at] = _number(name, value)
                else:
                    nominal.append((book, at, _nominal(name, value)))
            elif not self._grows:
                raise ValueError(f"unknown attribute {name!r}; there are {listed(self._schema.names)}")
            elif not read_only:
                return False
        self._tables.encode(self.numbers, self._codes)
        for book, place, value in nominal:
            if value is not None:
                self._line[place] = code = book.take(value, read_only=read_only)
                self.lost |= code == MISSING
        if len(x) == len(places) != self._whole:
            self._prepare()
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
    return itemgetter(*names) if len(names) > 1 else lambda x: (x[names[0]],)


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
    try:
        number = float(value) if type(value) in _NUMBERS else math.nan if is_missing(value) else real(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"attribute {name!r}: values must be numbers that a float can hold, not {shown(value)}"
        ) from error
    if math.isinf(number):
        raise ValueError(f"attribute {name!r}: {number} is infinite; a value is finite or missing (None, NaN)")
    return number


def _nominal(name, value):
    """A nominal value as a plain one; None if it is missing."""
    if (type(value) not in _PLAIN or value != value) and is_missing(value):
        return None
    try:
        value = plain(value)
    except TypeError as error:
        raise TypeError(f"attribute {name!r}: {error}") from error
    if isinstance(value, str):
        check_text(value, f"attribute {name!r}")
    return None if value == "?" else value
