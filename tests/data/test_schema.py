"""Declarations of streams."""

import json

import pytest
from bregalad.data import Attribute, DataError, Schema

X = Attribute("x", "numeric")


def test_round_trip():
    schema = Schema([X, Attribute("n", "nominal", ["a", "b"])], "y", [0, 1])
    assert schema.names == ("x", "n")
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    assert issubclass(DataError, ValueError)


@pytest.mark.parametrize(
    "make, error, match",
    [
        (lambda: Attribute("x", "real"), ValueError, "'x': kind must be numeric or nominal"),
        (lambda: Attribute("x", "numeric", (1,)), ValueError, "only a nominal attribute"),
        (lambda: Attribute("x", "nominal", ("a", "a")), ValueError, "value 'a' is given twice"),
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
    ],
)
def test_bad(make, error, match):
    with pytest.raises(error, match=match):
        make()
