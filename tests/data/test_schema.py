"""Declarations of streams."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from bregalad.data import Attribute, DataError, Quantiser, Schema, ValueBook
from bregalad.data.codebook import CodeBook

X = Attribute("x", "numeric")


def test_round_trip():
    schema = Schema([X, Attribute("n", "nominal", ["a", "b"])], "y", [0, 1])
    assert schema.names == ("x", "n")
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    assert issubclass(DataError, ValueError)


def test_values_are_plain():
    values = Attribute("n", "nominal", np.array([1.0, 0.5, 2**53])).values
    assert [(value, type(value)) for value in values] == [(1, int), (0.5, float), (2**53, int)]
    assert Attribute("n", "nominal", [Decimal(3), np.True_, np.str_("a")]).values == (3, True, "a")


@pytest.mark.parametrize(
    "value",
    [np.zeros((2, 0)), [], {}, {1}, (1, 2), None, pd.NA, pd.NaT]
    + [b"a", 1j, pd.Timestamp(0), np.datetime64("now"), object],
)
def test_a_value_that_is_no_plain_one(value):
    with pytest.raises(TypeError, match="^attribute 'n': a nominal value must be a string, a number or a truth value"):
        Attribute("n", "nominal", [1, value])


@pytest.mark.parametrize("value", ["?", float("nan"), np.float32("nan")])
def test_a_value_that_is_missing(value):
    with pytest.raises(ValueError, match="^attribute 'n': (\\?|nan) stands for a missing value, and cannot be"):
        Attribute("n", "nominal", ["a", value])


@pytest.mark.parametrize(
    "make, error, match",
    [
        (lambda: Attribute("x", "real"), ValueError, "'x': kind must be numeric or nominal"),
        (lambda: Attribute("x", "numeric", (1,)), ValueError, "only a nominal attribute"),
        (lambda: Attribute("x", "nominal", ("a", "a")), ValueError, "value 'a' is given twice"),
        (lambda: Attribute("x", "nominal", (10**5000,) * 2), ValueError, "value an integer of many digits is given"),
        (lambda: Attribute("x", "nominal", "ab"), TypeError, "must be a sequence, not 'ab'"),
        (lambda: Attribute(3, "numeric"), TypeError, "name must be a string, not 3"),
        (lambda: Attribute("", "numeric"), ValueError, "must not be empty"),
        (lambda: Schema(()), ValueError, "at least one attribute"),
        (lambda: Schema(("x",)), TypeError, "must be Attribute, not 'x'"),
        (lambda: Schema((X, X)), ValueError, "attribute 'x' is given twice"),
        (lambda: Schema((X,), "x"), ValueError, "both an attribute and the class"),
        (lambda: Schema((X,), None), TypeError, "class_name must be a string"),
        (lambda: Schema((X,), "y", ("a", "a")), ValueError, "label 'a' is given twice"),
        (lambda: Schema.from_dict({"attributes": []}), ValueError, "no schema: expected"),
        (lambda: Attribute.from_dict(None), ValueError, "no attribute: expected name"),
        (lambda: CodeBook.from_dict({}), ValueError, "its edges are no list"),
        (lambda: ValueBook((), 0), ValueError, "capacity must be 1 to 255, not 0"),
        (lambda: ValueBook((), 256), ValueError, "not 256"),
        (lambda: ValueBook((), 2.0), TypeError, "integer"),
        (lambda: ValueBook("ab", 1), ValueError, "2 values are declared, but capacity is 1"),
        (lambda: ValueBook("aa"), ValueError, "declared twice"),
        (lambda: Quantiser(3), TypeError, "schema must be a Schema, not 3"),
        (lambda: Quantiser(Schema((X,)), capacity=[3, 3]), ValueError, "2 entries for 1 attributes"),
    ],
)
def test_bad(make, error, match):
    with pytest.raises(error, match=match):
        make()
