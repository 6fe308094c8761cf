"""Instances to codes: one byte per attribute, as the board takes them."""

from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from numbers import Real

import numpy as np
import pandas as pd

from ..words import listed, one_line, shown
from .codebook import CodeBook, vector
from .frames import as_pandas
from .nominal import ValueBook, encode_small, factors, small_columns
from .parts import rows_of
from .saved import check_code_book, check_value_book
from .schema import Schema
from .search import InfiniteValue, check_finite, encode_numbers
from .tables import FEW, NumberTables

__all__ = ["Quantiser", "real"]

HEAD = 1000  # instances that the code books are learnt from


class Quantiser:
    """Encode the attributes of a stream; one book per attribute, `CodeBook` or `ValueBook`.

    Parameters
    ----------
    schema : Schema
        The attributes.
    head : int
        Instances from which numeric attributes learn their first edges, at least 1.
    head_codes : int
        Most codes of a numeric attribute that the head gets; the others are kept in reserve.
    capacity : int or sequence of int
        Most values of a nominal attribute, 1 to 255: for all or one for every attribute.

    Attributes
    ----------
    books : list of CodeBook or ValueBook
        In the order of the schema.

    Raises
    ------
    TypeError
        If ``schema`` is not a Schema or a number not an integer.
    ValueError
        If a number is out of its range, or ``capacity`` has another length than the schema.
    """

    def __init__(self, schema, head=HEAD, head_codes=128, capacity=255):
        if not isinstance(schema, Schema):
            raise TypeError(f"schema must be a Schema, not {schema!r}")
        if not isinstance(head, int) or isinstance(head, bool):
            raise TypeError(f"head must be an integer, not {head!r}")
        if head < 1:
            raise ValueError(f"head must be at least 1, not {head}")
        self.schema = schema
        self.head = head
        width = len(schema.attributes)
        capacities = [capacity] * width if isinstance(capacity, int) else list(capacity)
        if len(capacities) != width:
            raise ValueError(f"capacity has {len(capacities)} entries for {width} attributes")
        self.books = []
        for attribute, most in zip(schema.attributes, capacities, strict=True):
            try:
                self.books.append(
                    CodeBook(head_codes) if attribute.kind == "numeric" else ValueBook(attribute.values, most)
                )
            except (TypeError, ValueError) as error:
                raise type(error)(f"attribute {attribute.name!r}: {error}") from error
        self.fitted = False
        self._named = set()  # what `crowded` has named
        self._tables = None

    @property
    def tables(self):
        """The `NumberTables` of the numeric attributes."""
        if self._tables is None:
            places = self._places("numeric")
            self._tables = NumberTables([self.books[place] for place in places], places)
        return self._tables

    def __getstate__(self):
        return {**self.__dict__, "_tables": None}  # a copy's books count for themselves

    def fit(self, X):
        """Learn the numeric edges from the first ``head`` instances of ``X``; encodes nothing.

        Raises
        ------
        RuntimeError
            If the quantiser is fitted already: a code keeps its meaning.
        TypeError, ValueError
            As `encode`.
        """
        if self.fitted:
            raise RuntimeError("the quantiser is fitted already, and a code keeps its meaning")
        X = as_pandas(X)
        if isinstance(X, np.ndarray | pd.DataFrame):
            X = rows_of(X, slice(self.head))
        for place, column in zip(self._places("numeric"), self._finite(X).T, strict=True):
            self.books[place].fit(column[: self.head])
        self.fitted = True
        return self

    def check(self, X):
        """Raise what ``encode`` would raise for ``X``; changes nothing."""
        self._finite(X)

    def encode(self, X, *, read_only=False, threads=1):
        """The codes of instances, C-contiguous uint8 of shape [instances, attributes].

        Parameters
        ----------
        X : data frame of any library, dict of one-dimensional arrays or two-dimensional array
            Columns by name, in the order of the schema, or by position.
        read_only : bool
            For predicting: no new codes, nothing counted. Unknown nominal values get the code
            that the next new one would get, numeric ones out of range the outermost code.
        threads : int
            That encode numbers at the same time; the codes are the same.

        Raises
        ------
        RuntimeError
            If the quantiser is not fitted.
        TypeError
            If a value cannot be one of its attribute's kind; nothing is changed.
        ValueError
            If columns are missing, unknown, in another order or of another number, or a numeric
            value is infinite; nothing is changed.
        """
        if not self.fitted:
            raise RuntimeError("the quantiser must be fitted to the head of the stream first")
        numbers, small, places, nominal = self._columns(X)
        codes = np.empty((len(numbers), len(self.books)), np.uint8)
        numeric = self._places("numeric")
        if numeric:
            with self._naming():
                self._encode_numbers(numbers, codes, numeric, read_only, threads)
        if places:
            encode_small(
                [self.books[place] for place in places], small, codes, places, read_only=read_only, threads=threads
            )
        for place, column in nominal.items():
            codes[:, place] = self.books[place].translate(*column, read_only=read_only)
        return codes

    def _encode_numbers(self, numbers, codes, places, read_only, threads):
        if len(numbers) <= FEW:
            check_finite(numbers)
            self.tables.encode(np.ascontiguousarray(numbers), codes, read_only=read_only)
            return
        encode_numbers(
            [self.books[place] for place in places], numbers, codes, places, read_only=read_only, threads=threads
        )
        self.tables.stale = True

    def summary(self):
        """What the books hold: a dictionary per attribute and the share of values clamped.

        Returns
        -------
        dict
            ``clamped``: share of numeric values with no code of their own, ``overflowed``: the
            same of nominal ones, ``attributes``: per name kind, codes used and the two counts.
        """
        attributes = {}
        lost = {"clamped": [0, 0], "overflowed": [0, 0]}
        for attribute, book in zip(self.schema.attributes, self.books, strict=True):
            if isinstance(book, CodeBook):
                what, used = "clamped", 0 if book.first is None else book.last - book.first + 1
            else:
                what, used = "overflowed", len(book.values)
            count = getattr(book, what)
            attributes[attribute.name] = {"kind": attribute.kind, "codes": used, "seen": book.seen, what: count}
            lost[what][0] += count
            lost[what][1] += book.seen
        shares = {what: count / seen if seen else 0.0 for what, (count, seen) in lost.items()}
        return {**shares, "attributes": attributes}

    def crowded(self):
        """Nominal attributes that have lost more than a hundredth of at least 1,000 values.

        Returns
        -------
        list of (Attribute, ValueBook, float)
            With the share lost; each is named by one call only.
        """
        found = []
        for place in self._places("nominal"):
            book = self.books[place]
            if book.overflowed and place not in self._named and book.seen >= 1000 and book.overflowed > book.seen / 100:
                self._named.add(place)
                found.append((self.schema.attributes[place], book, book.overflowed / book.seen))
        return found

    def to_dict(self):
        """The state in JSON's types; `from_dict` restores it exactly."""
        return {
            "schema": self.schema.to_dict(),
            "head": self.head,
            "fitted": self.fitted,
            "books": [book.to_dict() for book in self.books],
        }

    @classmethod
    def from_dict(cls, state):
        """The quantiser that `to_dict` described."""
        for name in ("schema", "head", "fitted", "books"):
            if name not in state:
                raise ValueError(f"no quantiser: {name!r} is missing")
        quantiser = cls(Schema.from_dict(state["schema"]), state["head"])
        if len(state["books"]) != len(quantiser.books):
            raise ValueError(f"no quantiser: {len(state['books'])} books for {len(quantiser.books)} attributes")
        if not isinstance(state["fitted"], bool):
            raise ValueError(f"no quantiser: fitted is {state['fitted']!r}")
        books = []
        for attribute, saved in zip(quantiser.schema.attributes, state["books"], strict=True):
            kind = CodeBook if attribute.kind == "numeric" else ValueBook
            books.append(kind.from_dict(saved))  # which sees that nothing is missing
            if kind is CodeBook:
                check_code_book(saved)
            else:
                check_value_book(saved, attribute.values)
        quantiser.books = books
        quantiser.fitted = state["fitted"]
        return quantiser

    def _places(self, kind):
        return [i for i, attribute in enumerate(self.schema.attributes) if attribute.kind == kind]

    def _finite(self, X):
        """The numeric columns of what could be encoded."""
        numbers, *_ = self._columns(X)
        with self._naming():
            check_finite(numbers)
        return numbers

    @contextmanager
    def _naming(self):
        """Say whose the infinite value is."""
        try:
            yield
        except InfiniteValue as error:
            name = self.schema.names[self._places("numeric")[error.column]]
            raise ValueError(f"attribute {name!r}: {error}") from error

    def _columns(self, X):
        """What is to be encoded, checked but for infinite values, before anything is changed.

        Returns
        -------
        float64 array (n, numeric attributes)
        uint8 array (n, some), list
            Nominal attributes of small whole numbers, and their positions.
        dict
            Position of any other nominal attribute: what `factors` says of it.
        """
        X = as_pandas(X)
        if isinstance(X, pd.DataFrame | dict):
            self._check_names(list(X))
        else:
            X = np.asarray(X)
            if X.ndim != 2:
                raise ValueError(f"X must have rows and columns, not shape {X.shape}")
            if X.shape[1] != len(self.books):
                raise ValueError(f"X must have {len(self.books)} columns, not {X.shape[1]}")
        numeric, nominal = self._places("numeric"), self._places("nominal")
        numbers = _at_once(X, numeric, "biuf", np.float64)
        table = _at_once(X, nominal, "iuf")
        if numbers is None:
            numbers = np.empty((_rows(X), len(numeric)), order="F")
            for at, column in enumerate(self._each(X, numeric, _numbers)):
                numbers[:, at] = column
        if table is None:
            found = self._each(X, nominal, factors)
            return numbers, None, [], dict(zip(nominal, found, strict=True))
        fits, small = small_columns(table)
        if fits.all():
            return numbers, small, nominal, {}
        return (
            numbers,
            np.ascontiguousarray(small[:, fits]),
            [place for place, fit in zip(nominal, fits, strict=True) if fit],
            {nominal[i]: factors(np.ascontiguousarray(table[:, i])) for i in np.flatnonzero(~fits)},
        )

    def _each(self, X, places, look):
        """What ``look`` makes of columns, one by one; its errors name the attribute."""
        if isinstance(X, np.ndarray):
            X = np.ascontiguousarray(X.T)  # at once: column by column takes five times as long
        for i in places:
            name = self.schema.attributes[i].name
            try:
                yield look(X[name] if isinstance(X, dict) else X.iloc[:, i] if isinstance(X, pd.DataFrame) else X[i])
            except (TypeError, ValueError) as error:
                raise type(error)(f"attribute {name!r}: {error}") from error

    def _check_names(self, found):
        expected = list(self.schema.names)
        if found == expected:
            return
        for name in expected:
            if name not in found:
                raise ValueError(f"X lacks column {name!r}; expected {listed(expected)}")
        for name in found:
            if name not in expected:
                raise ValueError(f"X has an unknown column {name!r}; expected {listed(expected)}")
        raise ValueError(f"X has its columns in another order: expected {listed(expected)}, found {listed(found)}")


def _rows(X):
    return len(next(iter(X.values()))) if isinstance(X, dict) else len(X)


def _at_once(X, places, kinds, dtype=None):
    """Columns as one array; None if they are of other kinds and to be looked at one by one.

    Of one type all of them where no ``dtype`` is wanted, for no value may lose a digit.
    """
    if isinstance(X, dict):
        return None
    if isinstance(X, np.ndarray):
        if X.dtype.kind not in kinds:
            return None
        if len(places) < X.shape[1]:
            X = X.take(np.array(places, np.intp), axis=1)  # in half the time of X[:, places]
        return X.astype(dtype or X.dtype, copy=False)
    X = X if len(places) == X.shape[1] else X.iloc[:, places]
    types = list(X.dtypes)
    if not all(isinstance(each, np.dtype) and each.kind in kinds for each in types):
        return None
    return None if dtype is None and len(set(types)) > 1 else X.to_numpy(dtype)


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
        except InvalidOperation as error:
            raise TypeError("values must be numbers that a float can hold, not a signalling NaN") from error
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"values must be numbers that a float can hold: {one_line(error)}") from error
    elif column.dtype.kind not in "biufO":
        raise TypeError(f"values must be numbers, not {column.dtype}")
    elif column.dtype == object:
        try:
            column = np.array([np.nan if v is None or v is pd.NA else real(v) for v in column])
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"values must be numbers that a float can hold: {one_line(error)}") from error
    return vector(column)


def real(value):
    """A number as a float; TypeError or ValueError if it is none, OverflowError if it is too large."""
    if not isinstance(value, Real | Decimal | np.bool_):
        raise TypeError(f"not {shown(value)}")
    return float(value)
