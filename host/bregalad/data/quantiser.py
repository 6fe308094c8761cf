"""Instances to codes: one byte per attribute, as the board takes them."""

from copy import copy
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from numbers import Real

import numpy as np
import pandas as pd

from ..words import listed, one_line, shown
from .codebook import CodeBook
from .edges import renew
from .frames import as_pandas
from .nominal import ValueBook, looked_up
from .sample import Sample
from .schema import Schema
from .search import EDGES
from .tables import NumberTables
from .times import TIMES, seconds

__all__ = ["Quantiser", "real"]


@dataclass(frozen=True, eq=False)
class Changes:
    """Books of ``attributes``, int64 array (m,), rising, that are to change.

    ``old`` and ``new`` are their edges before and after, float64 array (m, edges), and how many each has, int64 array
    (m,); ``values`` the same of what the stream's sample holds of them, rising.
    """

    attributes: np.ndarray
    old: tuple
    new: tuple
    values: tuple

    def __len__(self):
        return len(self.attributes)

    def __iter__(self):
        """Per attribute: it, its old edges, its new ones, its values."""
        for i, attribute in enumerate(self.attributes.tolist()):
            yield attribute, *(table[i, : counts[i]] for table, counts in (self.old, self.new, self.values))


_NUMBERS = {np.dtype(np.float32), np.dtype(np.float64)}  # what is encoded as it is


class Quantiser:
    """Encode the attributes of a stream; one book per attribute, `CodeBook` or `ValueBook`.

    The books of numeric attributes follow the stream: a `Sample` of what was learnt says when one
    is to change, at counts of instances that depend on the instances alone.

    ``capacity`` is the most values of a nominal attribute, 1 to 255: for all, or a sequence of one for each. ``books``
    are a list in the order of the schema, ``numeric`` the positions of the numeric attributes, of which the ``sample``
    is. TypeError if ``schema`` is none or a number no integer; ValueError if a number is out of its range, or
    ``capacity`` has another length than the schema.
    """

    def __init__(self, schema, capacity=255):
        if not isinstance(schema, Schema):
            raise TypeError(f"schema must be a Schema, not {schema!r}")
        self._follow(schema)
        width = len(schema.attributes)
        capacities = [capacity] * width if isinstance(capacity, int) else list(capacity)
        if len(capacities) != width:
            raise ValueError(f"capacity has {len(capacities)} entries for {width} attributes")
        self.books = [_book(*each) for each in zip(schema.attributes, capacities, strict=True)]
        self.sample = Sample(len(self.numeric))
        self._named = set()  # what `crowded` has named
        self._tables = None

    @property
    def tables(self):
        """The `NumberTables` of the numeric attributes."""
        if self._tables is None:
            self._tables = NumberTables([self.books[place] for place in self.numeric], self.numeric)
        return self._tables

    def _follow(self, schema):
        self.schema = schema
        kinds = [attribute.kind for attribute in schema.attributes]
        self.numeric = [place for place, kind in enumerate(kinds) if kind == "numeric"]
        self._nominal = [place for place, kind in enumerate(kinds) if kind == "nominal"]

    def __getstate__(self):
        return {**self.__dict__, "_tables": None}  # a copy's are of its own books

    def extended(self, schema, capacity):
        """A quantiser of a schema with more attributes, the last ones, of this capacity; only one of the two is to be
        used then.
        """
        other, known = copy(self), len(self.books)
        other._follow(schema)
        attributes = schema.attributes[known:]
        other.books = self.books + [_book(*each) for each in zip(attributes, capacity, strict=True)]
        places = [place for place in other.numeric if place >= known]
        other.sample = self.sample.extended(len(places))
        other._tables = self.tables.extended([other.books[place] for place in places], places)
        return other

    def check(self, X):
        """Raise what ``encode`` would raise for ``X``; changes nothing."""
        self._check_finite(self._columns(X)[0])

    def encode(self, X, *, read_only=False, threads=1):
        """The codes of instances by the books as they are: C-contiguous uint8 [instances, attributes].

        ``X`` is a data frame of any library, a dict of one-dimensional arrays, both in the order of the schema, or a
        two-dimensional array. ``read_only`` is for predicting: no new codes, nothing counted; unknown nominal values
        get the code that the next new one would get. So many ``threads`` encode numbers at the same time.

        TypeError if a value cannot be one of its attribute's kind; ValueError if columns are missing, unknown, in
        another order or of another number, or a numeric value is infinite. Nothing is changed then.
        """
        numbers, nominal = self._columns(X)
        codes = np.empty((len(numbers), len(self.books)), np.uint8)
        if self.tables.encode(numbers, codes, threads):
            self._check_finite(numbers)
        self._encode_nominal(nominal, codes, read_only)
        return codes

    def values(self, X, *, read_only=False):
        """Instances as they are: no number is encoded, nothing is taken into the sample.

        Parameters and errors as in `encode`. Returns numbers, float64 array (n, numeric attributes), and codes of
        nominal values, uint8 array (n, nominal attributes).
        """
        numbers, nominal = self._columns(X)
        self._check_finite(numbers)
        codes = np.empty((len(numbers), len(self.books)), np.uint8)
        self._encode_nominal(nominal, codes, read_only)
        return numbers.astype(np.float64, copy=False), codes[:, self._nominal]

    def due(self):
        """Which books of numeric attributes are to change, at ``sample.next_look``: list of their columns."""
        return self.sample.due(self.tables)

    def changes(self, due, kept):
        """How books of numeric attributes are `due` to change: `Changes`; see `adopt`.

        ``kept``, bool array (attributes, CODES + 1), has the codes which the tree compares values with; they stay
        edges.
        """
        columns = np.array(due, np.int64)
        attributes = np.array(self.numeric, np.int64)[columns]
        books, values = self.tables.edges, self.sample.values(columns)
        new = np.full((len(columns), EDGES), np.inf), np.zeros(len(columns), np.int64)
        other = renew(books, columns, kept[attributes], values, new)
        old = tuple(table[columns] for table in books)
        return Changes(attributes[other], *(tuple(table[other] for table in each) for each in (old, new, values)))

    def adopt(self, changes):
        """Encode by other books from now on; ``changes`` are those of `changes`."""
        self.tables.change(np.searchsorted(self.numeric, changes.attributes), *changes.new)

    def _encode_nominal(self, found, codes, read_only):
        """Write the codes of nominal attributes, of which `_columns` has found this."""
        for place, column in found.items():
            codes[:, place] = self.books[place].encode(column, read_only=read_only)

    def summary(self):
        """What the books hold, and which shares of values are lost: a dict.

        ``crowded``: share of recent numeric values that share their code with many others; ``overflowed``: share of
        nominal values without a code; ``attributes``: per name kind, codes used and its own share.
        """
        attributes, lost = {}, [0, 0]
        shares = self.sample.crowded(self.tables).tolist()
        crowded = dict(zip(self.numeric, shares, strict=True))
        for place, (attribute, book) in enumerate(zip(self.schema.attributes, self.books, strict=True)):
            if place in crowded:
                found = {"codes": len(book.edges) + 1, "crowded": crowded[place]}
            else:
                found = {"codes": len(book.values), "seen": book.seen, "overflowed": book.overflowed}
                lost = [lost[0] + book.overflowed, lost[1] + book.seen]
            attributes[attribute.name] = {"kind": attribute.kind, **found}
        return {
            "crowded": sum(shares) / len(shares) if shares else 0.0,
            "overflowed": lost[0] / lost[1] if lost[1] else 0.0,
            "attributes": attributes,
        }

    def crowded(self):
        """Nominal attributes that have lost more than a hundredth of at least 1,000 values, each named by one call
        only.

        A list of attributes, their books, and the share lost.
        """
        found = []
        for place in self._nominal:
            book = self.books[place]
            if book.overflowed and place not in self._named and book.seen >= 1000 and book.overflowed > book.seen / 100:
                self._named.add(place)
                found.append((self.schema.attributes[place], book, book.overflowed / book.seen))
        return found

    def to_dict(self):
        """The books in JSON's types; with ``sample.state()`` `from_dict` restores all exactly."""
        return {"schema": self.schema.to_dict(), "books": [book.to_dict() for book in self.books]}

    @classmethod
    def from_dict(cls, state, sample):
        """The quantiser that `to_dict` and ``sample.state()`` described."""
        quantiser = cls(Schema.from_dict(state["schema"]))
        if len(state["books"]) != len(quantiser.books):
            raise ValueError(f"no quantiser: {len(state['books'])} books for {len(quantiser.books)} attributes")
        quantiser.books = [
            CodeBook.from_dict(saved) if attribute.kind == "numeric" else ValueBook.from_dict(saved, attribute.values)
            for attribute, saved in zip(quantiser.schema.attributes, state["books"], strict=True)
        ]
        quantiser.sample = Sample.from_state(sample, len(quantiser.numeric))
        return quantiser

    def _check_finite(self, numbers):
        """Refuse an infinite number, and say whose it is."""
        if (infinite := np.isinf(numbers)).any():
            row, column = np.argwhere(infinite)[0].tolist()
            raise ValueError(
                f"attribute {self.schema.names[self.numeric[column]]!r}: value {row} is {numbers[row, column]}; "
                "values must be finite or NaN"
            )

    def _columns(self, X):
        """What is to be encoded, checked but for infinite values, before anything is changed.

        Returns numbers, float32 or float64 array (n, numeric attributes), and by a nominal attribute's position what
        `looked_up` says of it.
        """
        if isinstance(X, pd.DataFrame) and not self._nominal and _NUMBERS.issuperset(X.dtypes.array):
            self._check_names(list(X))  # nothing of the following but this is for these
            return X.to_numpy(), {}
        X = as_pandas(X)
        if isinstance(X, pd.DataFrame | dict):
            self._check_names(list(X))
        else:
            X = np.asarray(X)
            if X.ndim != 2:
                raise ValueError(f"X must have rows and columns, not shape {X.shape}")
            if X.shape[1] != len(self.books):
                raise ValueError(f"X must have {len(self.books)} columns, not {X.shape[1]}")
        numbers = _at_once(X, self.numeric)
        if numbers is None:
            rows = len(next(iter(X.values())) if isinstance(X, dict) else X)
            numbers = np.empty((rows, len(self.numeric)), order="F")
            for at, column in enumerate(self._each(X, self.numeric, _numbers)):
                numbers[:, at] = column
        return numbers, dict(zip(self._nominal, self._each(X, self._nominal, looked_up), strict=True))

    def _each(self, X, places, look):
        """What ``look`` makes of columns, one by one; its errors name the attribute."""
        if isinstance(X, np.ndarray) and places:
            X = np.ascontiguousarray(X.T)  # at once: column by column takes five times as long
        for i in places:
            name = self.schema.attributes[i].name
            column = X[name] if isinstance(X, dict) else X.iloc[:, i] if isinstance(X, pd.DataFrame) else X[i]
            try:
                yield look(column)
            except (TypeError, ValueError) as error:
                words = look is _numbers and any(isinstance(value, str) for value in column)
                hint = f" (an attribute of words is declared with nominal=[{name!r}])" * words
                raise type(error)(f"attribute {name!r}: {error}{hint}") from error

    def _check_names(self, found):
        if tuple(found) == self.schema.names:
            return
        expected = list(self.schema.names)
        for name in expected:
            if name not in found:
                raise ValueError(f"X lacks column {name!r}; expected {listed(expected)}")
        for name in found:
            if name not in expected:
                raise ValueError(f"X has an unknown column {name!r}; expected {listed(expected)}")
        raise ValueError(f"X has its columns in another order: expected {listed(expected)}, found {listed(found)}")


def _book(attribute, capacity):
    """An empty book of an attribute."""
    try:
        return CodeBook() if attribute.kind == "numeric" else ValueBook(attribute.values, capacity)
    except (TypeError, ValueError) as error:
        raise type(error)(f"attribute {attribute.name!r}: {error}") from error


def _at_once(X, places):
    """Numeric columns as one float array; None if they are of other kinds and to be looked at one by one."""
    if isinstance(X, dict):
        return None
    if isinstance(X, np.ndarray):
        if X.dtype.kind not in "biuf":
            return None
        if len(places) < X.shape[1]:
            X = X.take(np.array(places, np.intp), axis=1)  # in half the time of X[:, places]
        return X if X.dtype in _NUMBERS else X.astype(np.float64)
    X = X if len(places) == X.shape[1] else X.iloc[:, places]
    if not all(isinstance(each, np.dtype) and each.kind in "biuf" for each in set(X.dtypes.array)):
        return None
    return X.to_numpy(np.float64)


def _numbers(column):
    if isinstance(column, pd.Series):
        if column.dtype.kind == "c" or not (pd.api.types.is_numeric_dtype(column.dtype) or column.dtype == object):
            raise TypeError(f"values must be numbers, not {column.dtype}")
        if column.dtype == object and any(
            issubclass(kind, complex | np.complexfloating) for kind in set(map(type, column))
        ):
            raise TypeError("values must be numbers that a float can hold, not complex ones")  # NumPy drops a part
        try:
            column = column.to_numpy(np.float64, na_value=np.nan)
        except (InvalidOperation, TypeError, ValueError, OverflowError) as error:
            what = ", not a signalling NaN" if isinstance(error, InvalidOperation) else f": {one_line(error)}"
            raise TypeError(f"values must be numbers that a float can hold{what}") from error
    elif column.dtype.kind in "mM":
        column = seconds(pd.Series(column))
    elif column.dtype.kind not in "biufO":
        raise TypeError(f"values must be numbers, not {column.dtype}")
    elif column.dtype == object:
        try:
            column = np.array([np.nan if v is None or v is pd.NA else real(v) for v in column])
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"values must be numbers that a float can hold: {one_line(error)}") from error
    values = np.asarray(column)
    if values.ndim != 1:
        raise ValueError(f"values must be one-dimensional, not of shape {values.shape}")
    return np.ascontiguousarray(values, np.float64)


def real(value):
    """A number as a float, a time in seconds; TypeError or ValueError if it is none, OverflowError if too large."""
    if isinstance(value, TIMES):
        return float(seconds(pd.Series([value], dtype=object))[0])
    if not isinstance(value, Real | Decimal | np.bool_):
        raise TypeError(f"not {shown(value)}")
    return float(value)
