"""Instances to codes."""

import json
from concurrent.futures import Future
from threading import Event

import numpy as np
import pandas as pd
import pytest
from bregalad.data import Attribute, Quantiser, Schema
from bregalad.data.edges import place_edges
from bregalad.data.stretches import Stretches

SCHEMA = Schema((Attribute("x", "numeric"), Attribute("n", "nominal"), Attribute("m", "nominal", (0, 1, 2))))


def frame(count=3000, seed=4):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": np.where(rng.random(count) < 0.1, np.nan, rng.standard_cauchy(count)),
            "n": rng.choice(["a", "b", "c", None], count),
            "m": rng.integers(0, 4, count),
        }
    )


def followed(quantiser, X, threads=1):
    """A quantiser whose books have followed instances, and their codes."""
    stretches, parts, at = Stretches(quantiser, X, threads), [], 0
    while at < len(stretches):
        parts.append(stretches.next(at, 1 << 20).copy())
        if due := stretches.learnt(at, len(parts[-1])):
            quantiser.adopt(quantiser.changes(due, np.zeros((len(quantiser.books), 256), bool)))
            stretches.forget()
        at += len(parts[-1])
    return quantiser, np.concatenate(parts)


def learnt(quantiser, X):
    return followed(quantiser, X)[0]


def state(quantiser):
    """All that it knows, to be compared."""
    return repr(quantiser.to_dict()) + sampled(quantiser)


def sampled(quantiser):
    return repr({name: array.tolist() for name, array in quantiser.sample.state().items()})


@pytest.mark.parametrize("cuts", [(1, 2, 700, 700), (1000, 2048, 5000), range(1, 3000, 7)])
def test_chunks_and_threads_make_no_difference(cuts):
    X = frame(40_000).assign(x=lambda X: X.x + np.arange(40_000) / 1000)
    whole, codes = followed(Quantiser(SCHEMA), X)
    assert codes.shape == (40_000, 3) and codes.dtype == np.uint8
    other, ends = Quantiser(SCHEMA), [0, *cuts, 40_000]
    parts = [followed(other, X[a:b], 3)[1] for a, b in zip(ends, ends[1:], strict=False) if a < b]
    assert (np.concatenate(parts) == codes).all()
    assert state(other) == state(whole)


def test_what_was_taken_in_ahead_and_not_learnt_is_forgotten():
    X = frame(30_000)
    whole, other = learnt(Quantiser(SCHEMA), X[:5000]), learnt(Quantiser(SCHEMA), X[:5000])
    stretches = Stretches(other, X[5000:])
    assert len(stretches.next(0, 1 << 20)) > 12_000
    assert stretches.learnt(0, 12_000) == []
    assert sampled(other) == sampled(learnt(whole, X[5000:17_000]))


def test_no_thread_encodes_by_books_that_change(monkeypatch):
    """The second part's thread is held until it is asked to give up."""
    quantiser = learnt(Quantiser(SCHEMA), frame(9000))
    stretches = Stretches(quantiser, frame(40_000), 2)
    begun, second, asked, done, encode, cancel = [], Event(), Event(), [], quantiser.tables.encode, Future.cancel

    def held(values, codes, threads):
        begun.append(len(values))
        if len(begun) == 2:
            second.set()
            assert asked.wait(60)
        encode(values, codes, threads)
        done.append(len(values))

    monkeypatch.setattr(quantiser.tables, "encode", held)
    monkeypatch.setattr(Future, "cancel", lambda part: asked.set() or cancel(part))
    stretches.next(0, 1 << 20)
    assert second.wait(60)
    stretches.forget()
    assert begun == done


def test_arrays_and_tables_agree():
    X = frame()
    codes = learnt(Quantiser(SCHEMA), X).encode(X)
    Z = X.to_numpy(object)
    assert (learnt(Quantiser(SCHEMA), Z).encode(Z) == codes).all()
    numbers = Schema((Attribute("a", "numeric"), Attribute("b", "nominal")))
    Z = np.random.default_rng(0).integers(0, 9, (2000, 2))
    codes = learnt(Quantiser(numbers), Z).encode(Z)
    assert (learnt(Quantiser(numbers), Z.astype(float)).encode(Z.astype(float)) == codes).all()


def table(count, rng):
    """Columns that a search may stumble over: heavy tails, gaps, one value, none, tiny ranges."""
    columns = [
        rng.normal(size=count),
        rng.standard_cauchy(count),
        rng.integers(0, 3, count),
        np.zeros(count),
        np.full(count, np.nan),
        rng.integers(0, 5, count) * 5e-324,
        np.where(rng.random(count) < 0.5, 1e308, -1e308) * rng.random(count),
        rng.pareto(0.2, count).clip(0, 1e300),
        1 + rng.integers(0, 300, count) * 2.0**-52,
        rng.random(count),
        np.where(rng.random(count) < 0.9, 0, rng.random(count)),
    ]
    X = np.column_stack(columns).astype(float)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "part of columns": lambda X: np.asfortranarray(np.vstack([X, X, X]))[len(X) : 2 * len(X)],
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "frame": lambda X: pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]),
    "dict": lambda X: {f"x{i}": X[:, i] for i in range(X.shape[1])},
    "objects": lambda X: X.astype(object),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("count, copies", [(1, 1), (700, 1), (3000, 1), (700, 12)])
def test_a_table_is_searched_whichever_way_it_lies(layout, count, copies):
    """Whatever falls into one block of rows and columns, or one band of columns, or more."""
    X = np.hstack([table(4000, np.random.default_rng(11 + copy)) for copy in range(copies)])
    width = X.shape[1]
    quantiser = Quantiser(Schema(tuple(Attribute(f"x{i}", "numeric") for i in range(width))))
    codes = learnt(quantiser, X[:1000]).encode(LAYOUTS[layout](X[-count:]))
    for i, book in enumerate(quantiser.books):
        values = X[-count:, i]
        there = ~np.isnan(values)
        assert (codes[~there, i] == 255).all()
        if there.any():
            want = np.searchsorted(book.edges, values[there], side="right")
            assert (codes[there, i] == want).all(), i
    again = quantiser.encode(LAYOUTS[layout](X[-count:]), read_only=True)
    assert (again == codes).all()


@pytest.mark.parametrize("layout", ["rows", "columns", "every other", "frame"])
def test_numbers_of_single_precision_are_the_same_as_of_double(layout):
    X = np.random.default_rng(16).standard_cauchy((6000, 4)).astype(np.float32)
    X[::50, 1] = np.nan
    (single, codes), (double, others) = (
        followed(Quantiser(Schema(tuple(Attribute(f"x{i}", "numeric") for i in range(4)))), LAYOUTS[layout](table))
        for table in (X, X.astype(np.float64))
    )
    assert (codes == others).all() and state(single) == state(double)


@pytest.mark.parametrize("share", [0, 0.05, 0.5, 1])
def test_thresholds_stay_edges_of_books_that_change(share):
    rng = np.random.default_rng(17)
    X = table(3000, rng)
    width = X.shape[1]
    quantiser = learnt(Quantiser(Schema(tuple(Attribute(f"x{i}", "numeric") for i in range(width)))), X[:1000])
    quantiser.sample.add(X[1000:1024])
    kept = rng.random((width, 256)) < share
    changes = {attribute: new for attribute, _, new, _ in quantiser.changes(list(range(width)), kept)}
    for i, (values, count) in enumerate(zip(*quantiser.sample.values(np.arange(width)), strict=True)):
        edges = quantiser.books[i].edges
        stays = edges[kept[i, 1 : len(edges) + 1]]
        want = np.unique(np.concatenate([stays, place_edges(values[:count], 255 - len(stays))]))
        assert np.array_equal(changes.get(i, edges), want) and (i in changes) == (not np.array_equal(edges, want)), i


@pytest.mark.parametrize("between", [0, 3, 8])
def test_nominal_attributes_may_lie_between_numeric_ones(between):
    X = table(2000, np.random.default_rng(15))
    numeric = [i + (i >= between) for i in range(X.shape[1])]
    mixed = np.insert(X, between, np.arange(len(X)) % 7, axis=1)
    alone, among = (
        Quantiser(Schema(tuple(Attribute(f"x{i}", "numeric" if i in places else "nominal") for i in range(width))))
        for places, width in ((range(len(numeric)), len(numeric)), (numeric, len(numeric) + 1))
    )
    codes = learnt(among, mixed).encode(mixed)
    assert (codes[:, numeric] == learnt(alone, X).encode(X)).all()
    assert (codes[:, between] == np.arange(len(X)) % 7).all()


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.int8, np.uint16, np.float32])
def test_whole_numbers_are_nominal_values(kind):
    rng = np.random.default_rng(12)
    X = np.column_stack(
        [
            rng.integers(0, 5, 2000),
            rng.integers(0, 127, 2000),
            rng.integers(-3, 3, 2000).astype(np.int8) if kind != np.uint16 else rng.integers(200, 300, 2000),
        ]
    ).astype(kind)
    schema = Schema(tuple(Attribute(name, "nominal") for name in "abc"))
    quantiser = learnt(Quantiser(schema), X)
    codes = quantiser.encode(X)
    for same in (pd.DataFrame(X, columns=list("abc")), {name: X[:, i] for i, name in enumerate("abc")}):
        other = learnt(Quantiser(schema), same)
        assert (codes == other.encode(same)).all()
        assert state(quantiser) == state(other)
    for i, book in enumerate(quantiser.books):
        assert (np.array(book.values)[codes[:, i]] == X[:, i]).all()


@pytest.mark.parametrize(
    "kinds", [("int64",) * 3, ("int64", "int8", "int64"), ("int64", "category", "object"), ("bool",) * 3]
)
def test_frames_of_mixed_columns(kinds):
    rng = np.random.default_rng(13)
    columns = {name: pd.Series(rng.integers(0, 2, 2000)).astype(kind) for name, kind in zip("abc", kinds, strict=True)}
    X = {
        "a": columns["a"],
        "x": pd.Series(rng.normal(size=2000)),
        "b": columns["b"],
        "y": pd.Series(rng.integers(0, 9, 2000)),
        "c": columns["c"],
    }
    schema = Schema(tuple(Attribute(name, "nominal" if name in columns else "numeric") for name in X))
    one, other = Quantiser(schema), Quantiser(schema)
    codes = learnt(one, pd.DataFrame(X)).encode(pd.DataFrame(X))
    assert (learnt(other, X).encode(X) == codes).all()
    assert state(one) == state(other)


def test_large_numbers_keep_their_digits():
    X = pd.DataFrame({"a": [0.5, 1.5] * 2, "b": [(1 << 60) + 1, (1 << 60) + 2] * 2})
    schema = Schema((Attribute("a", "nominal"), Attribute("b", "nominal")))
    assert learnt(Quantiser(schema), X).encode(X).tolist() == [[0, 0], [1, 1]] * 2


def test_round_trip_and_read_only():
    X = frame()
    one = learnt(Quantiser(SCHEMA, capacity=[1, 2, 3]), X[:1500])
    saved = json.loads(json.dumps(one.to_dict(), allow_nan=False)), one.sample.state()
    two = Quantiser.from_dict(*saved)
    before = state(one)
    codes = one.encode(X[1500:], read_only=True)
    assert state(one) == before == state(two)
    assert (codes == two.encode(X[1500:], read_only=True)).all()
    assert (followed(one, X)[1] == followed(two, X)[1]).all()


def test_summary():
    quantiser = learnt(Quantiser(SCHEMA, capacity=3), frame())
    quantiser.encode(frame())
    summary = quantiser.summary()
    assert summary["crowded"] == 0 and 0.1 < summary["overflowed"] < 0.2
    assert summary["attributes"]["n"] == {
        "kind": "nominal",
        "codes": 3,
        "overflowed": 0,
        "seen": quantiser.books[1].seen,
    }
    assert summary["attributes"]["x"]["codes"] > 128
    assert Quantiser(SCHEMA).summary()["crowded"] == 0


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("name", ["spread", "same", "missing"])
def test_infinity_is_found_in_any_column(name, value, read_only):
    """In one without a code yet, too, and with values that claim codes beside it."""
    X = pd.DataFrame({"spread": np.linspace(0, 1, 2000), "same": 7.0, "missing": np.nan})
    schema = Schema([Attribute(column, "numeric") for column in X])
    quantiser = learnt(Quantiser(schema), X)
    before = state(quantiser)
    X.loc[500:, "missing"] = 1.0
    X.loc[600:, "spread"] = 1e6
    X.loc[1300:, "spread"] = np.inf
    X.loc[1200, name] = value
    with pytest.raises(ValueError, match=f"attribute '{name}': value 1200 is {value}; values must"):
        quantiser.encode(X, read_only=read_only)
    assert state(quantiser) == before


@pytest.mark.parametrize("value", [1 + 2j, np.complex64(1 + 2j), np.complex128(1 + 2j)])
def test_complex_numbers_are_refused(value):
    X = pd.DataFrame({"a": np.array([1.0, value, 3.0], object)})
    with pytest.raises(TypeError, match="attribute 'a': values must be numbers that a float can hold, not complex"):
        Quantiser(Schema((Attribute("a", "numeric"),))).check(X)
