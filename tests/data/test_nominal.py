"""Codes of nominal attributes."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from bregalad.data import ValueBook
from bregalad.data.nominal import factors


def test_declared_first_then_by_appearance():
    book = ValueBook(("b", "a"))
    assert book.encode(np.array(["z", "a", "y", "z", "b"], object)).tolist() == [2, 1, 3, 2, 0]
    assert book.values == ["b", "a", "z", "y"]
    assert [book.value(code) for code in (0, 3, 255)] == ["b", "y", None]
    assert book.codes["z"] == 2 and "none" not in book.codes
    with pytest.raises(KeyError, match="code 4 is not given"):
        book.value(4)


@pytest.mark.parametrize(
    "values",
    [
        np.array(["y", None, "x", np.nan, "?", "y"], object),
        pd.Series(["y", None, "x", None, "?", "y"], dtype="str"),
        pd.Series(pd.Categorical(["y", None, "x", None, "?", "y"], categories=["?", "w", "x", "y"])),
    ],
)
def test_missing_and_order(values):
    book = ValueBook()
    assert book.encode(values).tolist() == [0, 255, 1, 255, 255, 0]
    assert book.values == ["y", "x"] and book.seen == 3


def test_capacity():
    book = ValueBook(("a",), capacity=2)
    assert book.encode(np.array(list("abcbcd"), object)).tolist() == [0, 1, 255, 1, 255, 255]
    assert book.overflowed == 3


def test_read_only_and_round_trip():
    book = ValueBook(("a", 1, 2.5, False), capacity=4)
    assert book.encode(np.array(["q", "a"], object), read_only=True).tolist() == [255, 0]
    assert (book.seen, book.overflowed) == (0, 0)
    book.encode(np.array(["q"], object))
    other = ValueBook.from_dict(json.loads(json.dumps(book.to_dict())))
    assert other.to_dict() == book.to_dict() and other.overflowed == 1


@pytest.mark.parametrize(
    "chunks",
    [
        [["1", "2"], [1, 2]],
        [[1, 2], ["1", "2"]],
        [[1.0, 2.0], ["1", "2"]],
        [["1.0", "2.0"], [1, 2]],
        [["True", "False"], [True, False]],
        [[True, False], ["True", "False"]],
        [[1, 0], [True, False], ["True", "False"], ["1", "0"], [1.0, 0.0]],
        [["0.1", "2.5"], [0.1, 2.5], [Decimal("0.1"), Decimal("2.50")]],
        [[np.str_("1"), np.str_("x")], ["1", "x"], [1, "x"], pd.Categorical([1, "x"])],
        [[1e20, -3.0], ["1e+20", "-3"], [10**20, -3]],
        [["1e+20", "-3"], [1e20, -3]],
        [np.array([7, 200], np.uint8), ["7", "200"], [7.0, 200.0]],
        [["7", "200"], np.array([7, 200], np.uint8)],
        [pd.Categorical([1, 2]), np.array([1.0, 2]), np.array([1, 2])],
        [pd.array([1, 2], "Int64"), pd.array(["1", "2"], "str"), pd.array([1, 2], "int8[pyarrow]")],
    ],
)
def test_a_value_is_the_same_whatever_a_chunk_was_read_as(chunks):
    """pandas reads a file's numbers as numbers, and as strings where others are among them."""
    book = ValueBook(capacity=9)
    for chunk in chunks:
        values = chunk if hasattr(chunk, "dtype") else np.array(chunk, object)
        assert book.encode(values).tolist() == [0, 1]
        assert book.encode(values, read_only=True).tolist() == [0, 1]
    assert len(book.values) == 2 and book.overflowed == 0


@pytest.mark.parametrize(
    "values",
    [
        [*("1", "01", "1.0", "1.00", "+1", " 1", "1_0", "1e0", "\u0661", "True", "true", "", "-"), "9" * 5000]
        + ["nan", "inf", "-inf"],
        [1, "01"],
        [0.1, "0.10", "1e-1"],
        [1, 2, "True "],
    ],
)
def test_texts_stay_apart(values):
    book = ValueBook()
    assert book.encode(np.array(values, object)).tolist() == list(range(len(values)))
    other = ValueBook.from_dict(json.loads(json.dumps(book.to_dict())))
    assert other.encode(np.array(values, object)).tolist() == list(range(len(values)))


def test_books_of_before_keep_their_codes():
    """They told a number from its text."""
    book = ValueBook.from_dict({"capacity": 9, "values": ["1", 1, "True", False], "overflowed": 0, "seen": 9})
    assert book.encode(np.array(["1", 1, "True", True, "False", 0], object)).tolist() == [0, 1, 2, 1, 3, 3]
    assert book.encode(np.arange(2)).tolist() == [3, 1]


@pytest.mark.parametrize("seed", range(4))
def test_chunks_of_several_types_make_no_difference(seed):
    """Value by value, and whole chunks: as objects, of numbers by the table for small ones, as categories."""
    rng = np.random.default_rng(seed)
    whole, parts = ValueBook(capacity=6), ValueBook(capacity=6)
    kinds = (str, float, int, lambda n: n % 2 == 0, lambda n: str(float(n)), lambda n: "?" if n < 3 else n)
    for _ in range(20):
        numbers, kind = rng.integers(0, 9, 7), rng.integers(len(kinds) + 2)
        values = np.array([kinds[min(kind, 2) if kind > 5 else kind](n) for n in numbers.tolist()], object)
        codes = np.concatenate([whole.encode(values[i : i + 1]) for i in range(len(values))])
        chunk = numbers.astype(np.uint8) if kind == 6 else pd.Series(values).astype("category") if kind == 7 else values
        assert parts.encode(chunk).tolist() == codes.tolist()
    assert parts.to_dict() == whole.to_dict() and whole.overflowed


def test_bad_values_change_nothing():
    book = ValueBook()
    with pytest.raises(TypeError, match="string, a number or a truth value, not \\(1, 2\\)"):
        book.encode(pd.Series(["x", (1, 2)], dtype=object))
    assert book.values == []
    with pytest.raises(ValueError, match="one-dimensional"):
        factors(np.zeros((2, 2)))


@pytest.mark.parametrize("seed", range(4))
def test_small_numbers_are_encoded_as_any_value_is(seed):
    """Columns that bring new values beside columns that do not, some more than there are codes."""
    rng = np.random.default_rng(seed)
    capacities = rng.choice([2, 5, 255], 9)
    table, hashed = ([ValueBook((), int(capacity)) for capacity in capacities] for _ in range(2))
    for chunk in range(6):
        count, read_only = int(rng.integers(1, 9000)), bool(rng.integers(2))
        # By and by more values in some columns; in others never.
        values = rng.integers(0, 3 + chunk * rng.integers(0, 2, 9), (count, 9))
        for i, (book, other) in enumerate(zip(table, hashed, strict=True)):
            want = other.encode(values[:, i].astype(object), read_only=read_only)
            assert (book.encode(values[:, i], read_only=read_only) == want).all(), f"seed {seed}"
            assert book.to_dict() == other.to_dict(), f"seed {seed}"
