"""Codes of numeric attributes: growth, order, and independence of the chunks."""

import json
import math
import sys

import numpy as np
import pytest
from bregalad.data import CodeBook
from hypothesis import example, given, settings
from hypothesis import strategies as st

HUGE = sys.float_info.max
SAMPLES = {
    "constant": lambda r: np.zeros(3000),
    "constant, then not": lambda r: np.r_[np.zeros(1500), r.exponential(1e4, 1500)],
    "rising": lambda r: np.linspace(0, 1, 3000),
    "falling": lambda r: np.linspace(5, -1e9, 3000),
    "integers": lambda r: r.integers(0, 60, 3000).astype(float),
    "heavy tail": lambda r: np.floor(r.pareto(0.3, 3000).clip(0, 1e300)),
    "both sides": lambda r: r.standard_cauchy(3000),
    "missing head": lambda r: np.r_[np.full(1200, np.nan), r.normal(size=1800)],
    "holes": lambda r: np.where(r.random(3000) < 0.3, np.nan, r.normal(size=3000)),
    "extremes": lambda r: np.r_[r.normal(size=1000), HUGE, -HUGE, 5e-324, r.normal(size=500)],
    "denormal": lambda r: np.r_[np.zeros(1000), 5e-324, 1e-323, 1e-320, 1.0, -5e-324],
    "neighbours": lambda r: np.r_[np.tile([1.0, np.nextafter(1, 2)], 500), np.nextafter(1, 0), 2],
}


def sample(name):
    return SAMPLES[name](np.random.default_rng(7))


def learnt(values, head=1000, **options):
    book = CodeBook(**options).fit(values[:head])
    return book, book.encode(values)


@pytest.mark.parametrize("name", SAMPLES)
def test_codes_follow_the_thresholds(name):
    values = sample(name)
    book, codes = learnt(values)
    there = ~np.isnan(values)
    assert codes.dtype == np.uint8
    assert (codes[~there] == 255).all()
    assert (codes[there] < 255).all()
    assert (np.diff(book.edges) > 0).all() and len(book.edges) < 255
    assert 0 <= book.first <= book.last <= 254
    for code in range(256):
        assert ((codes[there] < code) == (values[there] < book.threshold(code))).all(), code
    assert book.seen == there.sum()


@pytest.mark.parametrize("name", SAMPLES)
def test_chunks_make_no_difference(name):
    values = sample(name)
    book, codes = learnt(values)
    rng = np.random.default_rng(3)
    for _ in range(4):
        cuts = np.sort(rng.integers(0, len(values), rng.integers(1, 60)))
        other = CodeBook().fit(values[:1000])
        parts = [other.encode(part) for part in np.split(values, cuts)]
        assert (np.concatenate(parts) == codes).all()
        assert other.to_dict() == book.to_dict()


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.one_of(st.floats(allow_infinity=False), st.integers(-9, 9).map(float)), min_size=1, max_size=80),
    head=st.integers(0, 40),
    cut=st.integers(0, 80),
    codes=st.integers(1, 255),
)
@example(values=[1.5e293, -1.7976931348623157e308], head=0, cut=0, codes=1)
@example(values=[-1.5e293, 1.7976931348623157e308], head=0, cut=0, codes=1)
def test_any_values(values, head, cut, codes):
    values = np.array(values)
    book, whole = learnt(values, head, head_codes=codes)
    other = CodeBook(codes).fit(values[:head])
    first = other.encode(values[:cut])
    before = {code: other.threshold(code) for code in set(first.tolist())}
    edges = other.edges
    second = other.encode(values[cut:])
    assert (np.concatenate((first, second)) == whole).all()
    assert other.to_dict() == book.to_dict()
    assert np.isin(edges, other.edges).all()
    for code, threshold in before.items():
        assert other.threshold(code) == threshold or not math.isfinite(threshold)
    assert (other.encode(values[:cut], read_only=True) == first).all()
    order = np.argsort(values[~np.isnan(values)])
    assert (np.diff(whole[~np.isnan(values)][order].astype(int)) >= 0).all()


def test_edges_stay_and_codes_keep_their_interval():
    rng = np.random.default_rng(5)
    book = CodeBook().fit(rng.normal(size=1000))
    kept = {code: book.threshold(code) for code in range(book.first + 1, book.last + 1)}
    old = rng.uniform(book.low, book.high, 500)
    codes = book.encode(old)
    for scale in (2, 10, 1e3, 1e9):
        book.encode(rng.normal(size=300) * scale)
        assert all(book.threshold(code) == edge for code, edge in kept.items())
        assert (book.encode(old) == codes).all()
    assert book.last - book.first > len(kept)


def test_head_of_few_values_separates_them_and_fills_the_gaps():
    book = CodeBook(16).fit(np.array([0.0, 1.0, 2.0, 100.0]))
    assert len(book.edges) == 15
    assert len(set(book.encode(np.array([0.0, 1, 2, 100])))) == 4
    assert len(set(book.encode(np.linspace(2, 100, 500)))) >= 13


def test_head_of_many_values_gets_quantiles():
    values = np.random.default_rng(1).exponential(size=1000)
    book, codes = learnt(values, head_codes=100)
    assert np.bincount(codes - book.first, minlength=100).max() <= 11


def test_constant_head_leaves_the_reserve():
    book = CodeBook().fit(np.zeros(1000))
    assert (book.first, book.last) == (127, 127)
    codes = book.encode(np.array([0, 3, 1, 2, 6, 50, 1e6, -1, -40.0]))
    assert codes[0] == 127 and len(set(codes.tolist())) == 9
    assert book.clamped == 0


@pytest.mark.parametrize("head", [[], [np.nan] * 1000])
def test_head_without_values(head):
    book = CodeBook().fit(np.array(head, float))
    assert book.threshold(5) == math.inf
    assert (book.encode(np.array([np.nan, 4.0]), read_only=True) == 255).all()
    assert book.encode(np.array([np.nan, 4.0, 5.0])).tolist()[:2] == [255, 127]
    assert book.seen == 2


def test_growth_covers_the_value_and_more():
    book = CodeBook().fit(np.linspace(0, 1, 1000))
    assert (book.first, book.last) == (64, 191)
    book.encode(np.array([1.1]))
    assert book.high == pytest.approx(2) and book.last == 201
    book.encode(np.array([-9.0]))
    assert book.low == pytest.approx(-18) and book.first == 54


def test_exhausted_reserve_clamps_and_counts():
    book = CodeBook().fit(np.linspace(0, 1, 1000))
    values = 1.5 ** np.arange(300)
    codes = book.encode(values)
    assert book.last == 254 and codes[-1] == 254
    assert book.clamped == (values > book.high).sum() > 0
    assert book.encode(np.array([1e200, np.nan])).tolist() == [254, 255]
    assert book.clamped == (values > book.high).sum() + 1


def test_read_only_changes_nothing():
    book, _ = learnt(sample("holes"))
    before = book.to_dict()
    assert book.encode(np.array([1e9, -1e9, np.nan]), read_only=True).tolist() == [book.last, book.first, 255]
    assert book.to_dict() == before


@pytest.mark.parametrize("name", SAMPLES)
def test_round_trip(name):
    values = sample(name)
    book, _ = learnt(values[:1500])
    other = CodeBook.from_dict(json.loads(json.dumps(book.to_dict(), allow_nan=False)))
    assert other.to_dict() == book.to_dict()
    assert (other.encode(values) == book.encode(values)).all()


def test_quantiles_of_the_head():
    """Equal shares where they can be had, in whatever order the head comes."""
    values = np.random.default_rng(7).permutation(np.arange(40.0))
    codes = CodeBook(8).fit(values).encode(values)
    assert np.unique(codes, return_counts=True)[1].tolist() == [5] * 8
    assert (np.diff(codes[values.argsort()]) >= 0).all()


def test_bad_values_change_nothing():
    book, _ = learnt(sample("holes"))
    before = book.to_dict()
    with pytest.raises(ValueError, match="value 1 is inf; values must be finite"):
        book.encode(np.array([1e5, np.inf]))
    with pytest.raises(ValueError, match="one-dimensional"):
        book.encode(np.zeros((2, 2)))
    assert book.to_dict() == before
    with pytest.raises(RuntimeError, match="keeps its meaning"):
        book.fit(np.zeros(3))


@pytest.mark.parametrize(
    "head_codes, error, match",
    [
        (0, ValueError, "1 to 255, not 0"),
        (256, ValueError, "1 to 255"),
        ("8", TypeError, "must be an integer, not '8'"),
        (True, TypeError, "integer"),
    ],
)
def test_bad_size(head_codes, error, match):
    with pytest.raises(error, match=match):
        CodeBook(head_codes)


def test_bad_state():
    with pytest.raises(ValueError, match="'head_codes' is missing"):
        CodeBook.from_dict({})
