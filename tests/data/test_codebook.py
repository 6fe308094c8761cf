"""Codes of one numeric attribute, where edges lie, and the sample that they follow."""

import json
import math

import numpy as np
import pytest
from bregalad.data.codebook import CODES, CodeBook
from bregalad.data.edges import place_edges
from bregalad.data.sample import FORCED, KEPT, RECENT, Sample
from bregalad.data.tables import NumberTables
from hypothesis import example, given, settings
from hypothesis import strategies as st

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def book_of(edges):
    book = CodeBook()
    book.edges = np.array(edges, float)
    return book


@settings(deadline=None)
@given(values=st.lists(NUMBERS, min_size=1, max_size=400), codes=st.integers(1, 255))
@example(values=[1.5e293, -1.7976931348623157e308], codes=255)
@example(values=[0.0, 5e-324], codes=255)
def test_edges_rise_between_the_values(values, codes):
    values = np.sort(np.array(values))
    edges = place_edges(values, codes)
    assert len(edges) < codes
    assert (np.diff(edges) > 0).all() and np.isfinite(edges).all()
    assert ((edges > values[0]) & (edges <= values[-1])).all()
    distinct = np.unique(values)
    if len(distinct) <= codes:  # each has a code of its own
        assert len(np.unique(np.searchsorted(edges, distinct, side="right"))) == len(distinct)


def test_edges_share_the_values_evenly():
    values = np.sort(np.random.default_rng(1).standard_cauchy(1536))
    counts = np.bincount(np.searchsorted(place_edges(values, 255), values, side="right"))
    assert len(counts) == 255 and counts.max() <= 8


@settings(deadline=None)
@given(st.lists(NUMBERS, max_size=60, unique=True), st.lists(NUMBERS | st.just(math.nan), max_size=60))
def test_codes_are_in_the_order_of_values(edges, values):
    book, values = book_of(sorted(edges)), np.array(values, float)
    codes = NumberTables([book], [0]).alone(values[:, np.newaxis])[:, 0]
    assert (codes[np.isnan(values)] == 255).all()
    there = ~np.isnan(values)
    for code in range(len(edges) + 2):
        assert ((codes[there] < code) == (values[there] < book.threshold(code))).all()


@pytest.mark.parametrize("copies", [1, 9])  # with buckets only the latter
@pytest.mark.parametrize("scale", [1e-310, 1e-44, 1e-3, 1.0, 1e38, 1e300])
def test_single_precision_has_the_codes_of_double(scale, copies):
    """Beside edges that lie between two numbers of single precision, or beyond all."""
    edges = np.sort(np.random.default_rng(2).normal(size=20)) * scale
    with np.errstate(over="ignore", under="ignore"):
        near = edges.astype(np.float32)
        values = np.concatenate([np.nextafter(near, np.float32(side)) for side in (-np.inf, 0, np.inf)] + [near])
    values = np.repeat(values[np.isfinite(values)], copies)
    codes = np.empty((len(values), 1), np.uint8)
    assert not NumberTables([book_of(edges)], [0]).encode(values[:, np.newaxis], codes)
    assert (codes[:, 0] == np.searchsorted(edges, values.astype(float), side="right")).all()


def test_thresholds_at_the_ends():
    book = book_of([1.0, 2.0])
    assert [book.threshold(code) for code in (0, 1, 2, 3, 300)] == [-math.inf, 1, 2, math.inf, math.inf]
    assert CodeBook().threshold(0) == -math.inf and CodeBook().threshold(1) == math.inf
    assert NumberTables([CodeBook()], [0]).alone(np.array([[-1e308], [3.0], [np.nan]])).tolist() == [[0], [0], [255]]


def test_round_trip():
    book = book_of(np.unique(np.random.default_rng(2).normal(size=CODES - 1)))
    other = CodeBook.from_dict(json.loads(json.dumps(book.to_dict(), allow_nan=False)))
    assert (other.edges == book.edges).all()


# The sample


def tables_of(books):
    return NumberTables(books, range(len(books)))


def fill(sample, numbers, rng):
    """Hand numbers over in parts that end at looks, or before."""
    at, looks = 0, []
    while at < len(numbers):
        stop = min(len(numbers), at + int(rng.integers(1, 3000)), at + sample.next_look - sample.count)
        look = sample.next_look
        sample.add(numbers[at:stop])
        if sample.count == look:
            looks.append(look)
        at = stop
    return looks


@pytest.mark.parametrize("count", [1, 7, 1024, 1025, 2048, 2049, 5000, 70_000])
def test_a_sample_is_of_the_places_alone(count):
    numbers = np.column_stack([np.arange(count), np.arange(count) % 24]).astype(float)
    print("seeds 1, 2")
    one, other, single = Sample(2), Sample(2), Sample(2)
    looks = fill(one, numbers, np.random.default_rng(1))
    assert fill(other, numbers, np.random.default_rng(2)) == looks
    assert [i + 1 for i in range(count) if single.add_row(numbers[i : i + 1])] == looks
    for name, array in one.state().items():
        np.testing.assert_array_equal(other.state()[name], array)
        np.testing.assert_array_equal(single.state()[name], array)


def test_what_a_sample_holds():
    count = 70_000
    numbers = np.column_stack([np.arange(count), np.arange(count) % 24]).astype(float)
    sample = Sample(2)
    looks = fill(sample, numbers, np.random.default_rng(1))
    assert looks[:9] == [8, 16, 32, 64, 128, 256, 512, 1024, 1536]
    assert (np.diff([look for look in looks if look >= 16_384]) == 8192).all()
    kept = np.unique(sample.values([0])[0])
    assert KEPT // 2 <= len(kept) <= KEPT + RECENT
    assert np.diff(kept).max() < 300  # spread over all of the stream
    assert (sample.recent[:, 0] > count - 17 * RECENT).all()
    # A stream's period, which a step of 64 instances is a multiple of, is not seen as a few values.
    assert len(np.unique(sample.values([1])[0])) == 24


def test_when_books_are_due():
    rng = np.random.default_rng(3)
    sample, books = Sample(3), [CodeBook() for _ in range(3)]
    numbers = np.column_stack([rng.normal(size=100_000), np.zeros(100_000), rng.integers(0, 5, 100_000)])
    due, at = {}, 0
    while at < len(numbers):
        stop = min(len(numbers), sample.next_look)
        sample.add(numbers[at:stop])
        at = stop
        if sample.count < len(numbers):
            due[at] = found = sample.due(tables_of(books))
            for column in found:
                (values,), (count,) = sample.values([column])
                books[column].edges = place_edges(values[:count], CODES)
    assert all(due[1 << step] == [0, 1, 2] for step in range(3, 12))
    assert not any(found for count, found in due.items() if count > FORCED)
    assert sample.crowded(tables_of(books)).tolist() == [0, 0, 0]
    for _ in range(2):
        shifted = numbers[: sample.next_look - sample.count] + 100
        sample.add(shifted)
    assert (
        sample.crowded(tables_of(books))[0] > 0.5 and not sample.crowded(tables_of(books))[1:].any()
    )  # few values, though new ones


def test_a_change_that_does_not_help_is_tried_more_seldom():
    sample, books = Sample(1), [CodeBook()]  # whose edges stay as they are
    rng, due = np.random.default_rng(4), []
    for look in range(200):
        numbers = rng.normal(size=(sample.next_look - sample.count, 1))
        sample.add(numbers)
        if len(sample.due(tables_of(books))):
            due.append(look)
    waits = np.diff(due)
    assert waits.max() == 64 and (np.diff(waits[9:]) >= 0).all()
