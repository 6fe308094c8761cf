"""Data frames of other libraries: columns by name, whatever they hold."""

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from bregalad import VFDT
from bregalad.evaluation import prequential

BIG = 2**60  # floats do not tell it from the next integer


def table(count=3000, seed=1):
    """Every kind of column as pandas keeps it, and a class that depends on several."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "real": rng.normal(size=count),
            "whole": rng.integers(0, 9, count),
            "gaps": pd.array(rng.integers(0, 9, count), "Int64"),
            "price": [Decimal(int(cents)) / 100 for cents in rng.integers(0, 999, count)],
            "open": rng.random(count) < 0.5,
            "maybe": pd.array(rng.random(count) < 0.5, "boolean"),
            "city": rng.choice(["Bree", "Dale", "Esgaroth"], count),
            "id": pd.array(rng.choice([BIG, BIG + 1], count), "Int64"),
        }
    )
    for name in ("real", "gaps", "maybe", "city"):
        frame.loc[rng.random(count) < 0.1, name] = None
    y = (frame["real"].fillna(0) > 0) & frame["open"] | (frame["id"] == BIG)
    return frame, y.to_numpy(bool)


def polars_of(arrow):
    return pytest.importorskip("polars").from_arrow(arrow)


MAKERS = {
    "arrow": lambda arrow: arrow,
    "batch": lambda arrow: arrow.combine_chunks().to_batches()[0],
    "chunks": lambda arrow: pa.concat_tables([arrow[:100], arrow[100:]]),
    "polars": polars_of,
    "polars in chunks": lambda arrow: polars_of(arrow[:9]).vstack(polars_of(arrow[9:])),
    "narwhals": lambda arrow: pytest.importorskip("narwhals").from_native(arrow),
    "arrow in pandas": lambda arrow: arrow.to_pandas(types_mapper=pd.ArrowDtype),
}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@makers
def test_the_tree_is_that_of_pandas_frame(make):
    X, y = table()
    options = {"nominal": ["id"], "delta": 1e-3, "grace": 50}
    expected = VFDT(**options).fit(X, y)
    frame = make(pa.Table.from_pandas(X))
    tree = VFDT(**options).fit(frame, pa.array(y))
    assert tree.feature_names_in_.tolist() == list(X)
    assert tree.schema_.to_dict() == expected.schema_.to_dict()
    assert tree.difference(expected) is None and tree.report()["splits"] > 1
    np.testing.assert_array_equal(tree.predict(frame), expected.predict(X))
    np.testing.assert_array_equal(tree.predict_proba(frame), expected.predict_proba(X))
    np.testing.assert_array_equal(tree.apply(frame), expected.apply(X))
    np.testing.assert_array_equal(tree.encode(frame), expected.encode(X))
    assert tree.score(frame, y) == expected.score(X, y)
    assert tree.quantiser_summary()["attributes"]["id"]["codes"] == 2  # no integer was rounded


@pytest.mark.parametrize(
    "labels, classes, kinds",
    [
        (["b", "a"], ["a", "b"], ["str", "category"]),
        ([BIG + 1, BIG], [BIG, BIG + 1], ["Int64", "int64[pyarrow]"]),
        ([1, 0], [0, 1], ["UInt8"]),
        ([True, False], [False, True], ["bool", "boolean"]),
    ],
)
def test_labels_of_any_column(labels, classes, kinds):
    pl = pytest.importorskip("polars")
    X = np.arange(600).reshape(600, 1) % 2
    columns = [pa.array(labels * 300), pa.chunked_array([labels * 100, labels * 200]), pl.Series(labels * 300)]
    columns += [pd.Series(labels * 300, dtype=kind) for kind in kinds]
    if isinstance(labels[0], str):
        columns += [
            pl.Series(labels * 300, dtype=pl.Categorical),
            pl.Series(labels * 300, dtype=pl.Enum(["b", "a"])),
            columns[0].dictionary_encode(),
        ]
    for column in columns:
        tree = VFDT().fit(X, column)
        assert tree.classes_.tolist() == classes and type(tree.classes_.tolist()[0]) is type(classes[0])
        assert tree.predict([[0], [1]]).tolist() == labels and tree.score(X, column) == 1
        again = VFDT().partial_fit(X, column, classes=column[:2])
        assert again.classes_.tolist() == classes
    with pytest.raises(ValueError, match=r"y\[2\] is missing"):
        VFDT().fit(X[:3], pa.array([*labels, None]))


def test_categories_that_polars_declares():
    """A Categorical has the values that have come, an Enum those that may come."""
    pl = pytest.importorskip("polars")
    y = [0, 1] * 50
    for kind, declared in ((pl.Categorical, ()), (pl.Enum(["u", "v", "w"]), ("u", "v", "w"))):
        tree = VFDT().partial_fit(pl.DataFrame({"s": pl.Series(["v"] * 100, dtype=kind)}), y, classes=[0, 1])
        assert tree.schema_.attributes[0].values == declared
        tree.partial_fit(pl.DataFrame({"s": pl.Series(["u", "w"] * 50, dtype=kind)}), y)
        assert tree.quantiser_summary()["overflowed"] == 0
        tree.partial_fit(pd.DataFrame({"s": ["u", "w"] * 50}), y)
        assert tree.quantiser_summary()["attributes"]["s"]["codes"] == 3


@pytest.mark.parametrize("value", [b"x", [1], {"b": 1}], ids=str)
def test_columns_that_no_attribute_can_be(value):
    y, table = [0, 1] * 4 + [0], pa.table({"a": [value] * 9})
    for frame in (table, polars_of(table), table.to_pandas(types_mapper=pd.ArrowDtype), table.to_pandas()):
        with pytest.raises(TypeError, match="'a': a nominal value must be a string, a number"):
            VFDT().fit(frame, y)
    tree = VFDT().partial_fit(pa.table({"a": [1.0] * 9}), y, classes=[0, 1])
    with pytest.raises(TypeError, match="'a': values must be numbers"):
        tree.predict(frame)


TIMES = {
    "dates": [date(2020, 1, 1) + timedelta(i) for i in range(90)],
    "moments": [datetime(2020, 1, 1, 1) + timedelta(0, 5.25 * i) for i in range(90)],
    "in a zone": [datetime(2020, 1, 1, tzinfo=timezone(timedelta(0, 7200))) + timedelta(i) for i in range(90)],
    "times of day": [time(i % 24, i % 60, 0, i) for i in range(90)],
    "spans": [timedelta(i, 0.5) for i in range(90)],
}


@pytest.mark.parametrize("kind", TIMES)
def test_dates_and_times_are_seconds(kind):
    """In every kind of frame and one by one, what is missing among them."""
    values = TIMES[kind]
    if kind in ("dates", "moments", "in a zone"):
        numbers = [pd.Timestamp(value).timestamp() for value in values]
    else:
        numbers = [pd.Timedelta(str(value)).total_seconds() for value in values]
    values, numbers = [*values, None], [*numbers, np.nan]
    y = [i % 3 == 0 for i in range(91)]
    expected = VFDT().partial_fit(pd.DataFrame({"a": numbers}), y, classes=[False, True])
    table = pa.table({"a": values})
    for frame in (
        pd.DataFrame({"a": pd.Series(values, dtype=object)}),
        table,
        polars_of(table),
        table.to_pandas(types_mapper=pd.ArrowDtype),
        table.to_pandas(),
    ):
        with pytest.warns(UserWarning, match="dates and times are read as seconds, of dates since 1970 in UTC: a"):
            tree = VFDT().partial_fit(frame, y, classes=[False, True])
        assert tree.schema_.attributes[0].kind == "numeric"
        assert tree._quantiser.to_dict() == expected._quantiser.to_dict()
        assert (tree.predict(frame) == expected.predict(pd.DataFrame({"a": numbers}))).all()
    one = VFDT()
    for value, label in zip(values, y, strict=True):
        one.learn_one({"a": value}, label)
    assert one.schema_.attributes[0].kind == "numeric"
    np.testing.assert_array_equal(one._quantiser.sample.kept, expected._quantiser.sample.kept)
    assert one.predict_one({"a": values[5]}) == expected.predict_one({"a": numbers[5]})
    assert VFDT().fit([[value] for value in values], y).predict([[values[5]]]) == expected.predict([[numbers[5]]])


def test_what_is_no_frame():
    pl = pytest.importorskip("polars")
    large = pl.Series([0, 1], dtype=pl.Int128)

    class Table:
        columns = ["a"]

    for X, error, message in (
        (pl.DataFrame({"a": [1, 2]}).lazy(), TypeError, r"X is a LazyFrame.*give X.collect\(\)"),
        *((column([1, 2]), ValueError, "Expected (a )?2") for column in (pl.Series, pa.array, pd.Series)),
        (pa.Table.from_arrays([pa.array([1, 2])] * 2, ["a", "a"]), ValueError, "two columns named 'a'"),
        (pl.DataFrame({"a": large}), TypeError, "X has columns of a type that Arrow does not know.*cast"),
        (Table(), TypeError, "X is a Table, whose values cannot be had by name"),
    ):
        with pytest.raises(error, match=message):
            VFDT().fit(X, [0, 1])
    with pytest.raises(TypeError, match="a column is of a type that Arrow does not know.*cast it"):
        VFDT().fit([[1], [2]], large)


def test_empty_frames():
    tree = VFDT()
    tree.partial_fit(pa.table({"a": pa.array([], pa.float64())}), [], classes=[0, 1])
    X, y = table(600)
    frame = pa.Table.from_pandas(X)
    tree.partial_fit(frame, y, classes=[False, True])
    assert len(tree.predict(frame[:0])) == 0 and tree.predict_proba(frame[:0]).shape == (0, 2)
    assert prequential(VFDT(), [(frame, pa.chunked_array([y]))], {True, False}, every=700).instances[-1] == 600


def test_arrow_dictionaries_of_intervals_and_lists_are_refused_by_name():
    intervals = pa.array(pd.arrays.IntervalArray(pd.cut(np.arange(6.0), 3)))
    for values in (intervals[:3], pa.array([[1], [2], [3]])):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0], pa.int8()), values)
        with pytest.raises(TypeError, match="attribute 'a': a nominal value must be a string"):
            VFDT().partial_fit(pa.table({"a": column, "b": np.arange(4.0)}), [0, 1, 0, 1], classes=[0, 1])


def test_large_integers_and_floats_in_one_column_of_the_head():
    parts = [pa.table({"a": pa.array([2**64 - 1, None], pa.uint64())}), pa.table({"a": [0.5, 1.5]})]
    tree = VFDT()
    for part in parts:
        tree.partial_fit(part.to_pandas(types_mapper=pd.ArrowDtype), [0, 1], classes=[0, 1])
    assert tree.report()["instances"] == 4


def test_a_word_among_numbers_is_told():
    X = pd.DataFrame({"age": [*map(str, range(20)), "old"], "b": np.arange(21)})
    with pytest.warns(UserWarning, match="'age' is nominal, for 1 of 21 values are no numbers, as 'old' of row 20: if"):
        VFDT().partial_fit(X, np.arange(21) % 2, [0, 1])
    for nominal in (["age"], [0], [-2]):  # nothing to tell: warnings are errors
        VFDT(nominal=nominal).partial_fit(X, np.arange(21) % 2, [0, 1])
