"""Parquet of pandas, polars and Arrow: the index is no column, and every type is read or refused by name."""

import datetime
import decimal
import os
from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from bregalad.data import DataError, open_stream
from pyarrow import parquet
from reading import lists, write

FRAME = pd.DataFrame({"a": [1.5, 2, 3], "class": ["x", "y", "x"]}, index=[2, 0, 1])
KEYS = ["k", "l", "m"]


def read(path, **options):
    return lists(open_stream(path, chunk=2, **options))


@pytest.mark.parametrize(
    "index, names",
    [
        (pd.Index([2, 0, 1]), ["__index_level_0__"]),
        (pd.RangeIndex(5, 8), []),
        (pd.RangeIndex(3), []),
        (pd.RangeIndex(3, name="user"), []),
        (pd.Index(KEYS, name="user"), ["user"]),
        (pd.date_range("2020", periods=3, name="t"), ["t"]),
        (pd.MultiIndex.from_arrays([KEYS, [1, 2, 3]], names=["user", None]), ["user", "__index_level_1__"]),
    ],
)
@pytest.mark.parametrize("stored", [None, True, False])
def test_the_index_of_a_pandas_frame_is_no_column(tmp_path, index, names, stored):
    frame = FRAME.set_axis(index)
    frame.to_parquet(tmp_path / "t.parquet", index=stored)
    stream, X, y = read(tmp_path / "t.parquet")
    assert list(X) == list(pd.read_parquet(tmp_path / "t.parquet").columns)[:-1] == ["a"]
    assert X == {"a": [1.5, 2, 3]} and y == ["x", "y", "x"] and stream.schema.class_name == "class"
    if stored is not False:  # what was left out by hand may be so still
        assert read(tmp_path / "t.parquet", ignore=names)[1] == X


def test_levels_of_the_index_are_told_of(tmp_path):
    path = tmp_path / "t.parquet"
    frame = FRAME.set_axis(pd.MultiIndex.from_arrays([KEYS, [1, 2, 3]], names=["user", "number"]))
    frame.to_parquet(path)
    assert read(path, names=["p", "q"])[0].schema.names == ("p",)
    for options in ({"nominal": ["user"]}, {"class_name": "user"}):
        with pytest.raises(DataError, match="'user' is unknown; the columns are a, class .0 to 1.; the index of the"):
            open_stream(path, **options)
    FRAME.set_index(["a", "class"]).to_parquet(path)
    with pytest.raises(DataError, match="t.parquet: no column, but the index of a pandas frame .a, class."):
        open_stream(path)


@pytest.mark.parametrize("writer", ["polars", "arrow", "metadata"])
def test_of_other_libraries_every_column_is_one(tmp_path, writer):
    path = tmp_path / "t.parquet"
    table = pa.table({"__index_level_0__": [3, 4], "user": ["k", "l"], "class": ["x", "y"]})
    if writer == "polars":
        pl.from_arrow(table).write_parquet(path)
    else:
        odd = [
            {},
            {b"pandas": b"{"},
            {b"pandas": b"[]"},
            {b"pandas": b'{"index_columns": null}'},
            {b"pandas": b'{"index_columns": ["none", {"kind": "range"}]}'},
        ]
        for metadata in odd if writer == "metadata" else odd[:1]:
            parquet.write_table(table.replace_schema_metadata(metadata), path)
            assert list(read(path)[1]) == ["__index_level_0__", "user"]
    assert read(path)[1:] == ({"__index_level_0__": [3, 4], "user": ["k", "l"]}, ["x", "y"])


def dictionary(values, kind=None):
    return pa.array(values, kind).dictionary_encode()


UTC = pa.timestamp("us", "UTC")
DAY = datetime.datetime(2020, 1, 2, 3)
INTERVALS = pd.arrays.IntervalArray.from_tuples([(0, 1), (1, 2)])
COLUMNS = {  # the column; its values, in the kind that the type tells; as words; as numbers
    "int8": (pa.array([1, -2], pa.int8()), [1, -2], ["1", "-2"], [1, -2]),
    "uint64": (pa.array([2**64 - 1, None], pa.uint64()), [2.0**64, None], [str(2**64 - 1), None], [2.0**64, None]),
    "float16": (pa.array(np.array([1, 0.5], np.float16)), [1, 0.5], ["1", "0.5"], [1, 0.5]),
    "float32": (pa.array([0.5, None], pa.float32()), [0.5, None], ["0.5", None], [0.5, None]),
    "float64": (pa.array([float("nan"), -1e30]), [None, -1e30], [None, str(int(-1e30))], [None, -1e30]),
    "infinity": (pa.array([float("inf"), 1.0]), "inf", ["inf", "1"], "inf"),
    "decimal": (pa.array([decimal.Decimal("1.50"), None]), [1.5, None], ["1.50", None], [1.5, None]),
    "decimal256": (pa.array([decimal.Decimal("2"), None], pa.decimal256(40, 0)), [2, None], ["2", None], [2, None]),
    "null": (pa.nulls(2), [None, None], [None, None], [None, None]),
    "bool": (pa.array([True, None]), ["True", None], ["True", None], [1, None]),
    "string": (pa.array(["5", "?"]), ["5", None], ["5", None], [5, None]),
    "large_string": (pa.array([" 5", "NA"], pa.large_string()), [" 5", "NA"], [" 5", "NA"], [5, None]),
    "string_view": (pa.array(["5", ""], pa.string_view()), ["5", None], ["5", None], [5, None]),
    "binary": (pa.array(["ä".encode(), b"b"]), ["ä", "b"], ["ä", "b"], "ä"),
    "large_binary": (pa.array([b"5", None], pa.large_binary()), ["5", None], ["5", None], [5, None]),
    "binary_view": (pa.array([b"5", b"6"], pa.binary_view()), ["5", "6"], ["5", "6"], [5, 6]),
    "fixed": (pa.array([b"50", b"60"], pa.binary(2)), ["50", "60"], ["50", "60"], [50, 60]),
    "dictionary": (dictionary(["u", None]), ["u", None], ["u", None], "u"),
    "of large": (dictionary(["7", "8"], pa.large_string()), ["7", "8"], ["7", "8"], [7, 8]),
    "of bytes": (dictionary([b"7", b""]), ["7", None], ["7", None], [7, None]),
    "interval": (pa.array(INTERVALS), ["(0, 1]", "(1, 2]"], ["(0, 1]", "(1, 2]"], "(0, 1]"),
    "date": (pa.array([DAY.date(), None]), [1577923200, None], ["2020-01-02", None], [1577923200, None]),
    "date64": (pa.array([DAY, None], pa.date64()), [1577923200, None], ["2020-01-02", None], [1577923200, None]),
    "timestamp": (pa.array([DAY, None]), [1577934000, None], ["2020-01-02 03:00:00", None], [1577934000, None]),
    "zoned": (pa.array([DAY, DAY], UTC), [1577934000] * 2, ["2020-01-02 03:00:00+00:00"] * 2, [1577934000] * 2),
    "time": (pa.array([DAY.time(), None]), [10800, None], ["03:00:00", None], [10800, None]),
    "time32": (pa.array([DAY.time()] * 2, pa.time32("ms")), [10800] * 2, ["03:00:00"] * 2, [10800] * 2),
    "duration": (pa.array([datetime.timedelta(1), None]), [86400, None], ["1 days 00:00:00", None], [86400, None]),
    "period": (pa.array(pd.period_range("2020", periods=2, freq="D")), None, None, None),
    "list": (pa.array([[1], None]), None, None, None),
    "large_list": (pa.array([["a"], None], pa.large_list(pa.string())), None, None, None),
    "fixed_list": (pa.array([[1, 2], None], pa.list_(pa.int64(), 2)), None, None, None),
    "struct": (pa.array([{"i": 1}, None]), None, None, None),
    "map": (pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())), None, None, None),
    "a.b": (pa.array([1.5, 2]), [1.5, 2], ["1.5", "2"], [1.5, 2]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_type(tmp_path, name):
    column, plain, words, numbers = COLUMNS[name]
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({name: column, "g": [1, 2], "y": ["p", "q"]}), path)
    assert read(path, ignore=[name])[1:] == ({"g": [1, 2]}, ["p", "q"])
    for kind, values in ((None, plain), ("nominal", words), ("numeric", numbers)):
        options = {kind: [name]} if kind else {}
        if isinstance(values, list):
            told = pa.types.is_temporal(column.type) and kind is None
            with pytest.warns(UserWarning, match=f"'{name}'; --ignore {name} leaves") if told else nullcontext():
                assert read(path, **options)[1][name] == values
            continue
        with pytest.raises(DataError) as error:
            read(path, **options)
        if values is None:
            assert f"t.parquet, column '{name}': it holds " in str(error.value)
            assert f"leave it out with ignore=['{name}'] (--ignore)" in str(error.value)
        else:
            assert f"t.parquet, row 0, column '{name}': {values} is not a finite number" in str(error.value)


def test_a_name_that_is_no_utf_8(tmp_path):
    FRAME.to_parquet(tmp_path / "t.parquet", index=False)
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.parquet")
    os.rename(tmp_path / "t.parquet", path)
    assert read(path)[1:] == ({"a": [1.5, 2, 3]}, ["x", "y", "x"])


JSON = '{"n": 1, "k": "a", "t": "2020-01-02T00:00:00", "class": "x"}\n{"n": null, "more": true, "class": "y"}\n'


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.json", "t.jsonl.gz"])
def test_json_by_the_line(tmp_path, name):
    with pytest.warns(UserWarning, match="read as seconds"):
        _, X, y = read(write(tmp_path, name, JSON), class_name="class")
    assert X == {"n": [1, None], "k": ["a", None], "t": [1577923200, None], "more": [None, "True"]} and y == ["x", "y"]


@pytest.mark.parametrize(
    "text, match",
    [
        ("", "t.jsonl: not JSON with an object on each line"),
        ("[1, 2]\n", "not JSON with"),
        ('{"a": 1, "class": 1}\n{"a": "x", "class": 1}\n', "not JSON with"),
        ('{"a": {"b": 1}, "class": 1}\n', "column 'a': it holds struct"),
        ('{"a": "\xff", "class": 1}\n', "not JSON with"),
        ('{"\xff": 1, "class": 1}\n', "not JSON with"),
    ],
)
def test_json_that_is_no_table(tmp_path, text, match):
    with pytest.raises(DataError, match=match):
        open_stream(write(tmp_path, "t.jsonl", text.encode("latin-1")))


def test_any_type_may_label(tmp_path):
    path = tmp_path / "t.parquet"
    for name in ("int8", "bool", "binary", "fixed", "dictionary", "interval", "date"):
        column, _, words, _ = COLUMNS[name]
        parquet.write_table(pa.table({"a": [1, 2], name: column}), path)
        assert read(path, unlabelled=True)[2] == words
        if None in words:
            with pytest.raises(DataError, match=f"row 1: the class '{name}' is missing"):
                read(path)
    parquet.write_table(pa.table({"a": [1, 2], "list": COLUMNS["list"][0]}), path)
    with pytest.raises(DataError, match="column 'list': it holds list"):
        open_stream(path)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "t.parquet"
    for column in (pa.array([b"a", None, b"\xff"]), pa.array([b"a", None, b"\xff"]).dictionary_encode()):
        parquet.write_table(pa.table({"a": column, "g": [1, 2, 3], "y": ["p", "q", "p"]}), path)
        with pytest.raises(
            DataError, match=r"t.parquet, row 2, column 'a': the bytes b'.xff' are no text.* ignore=.'a'"
        ):
            read(path)
        assert read(path, ignore=["a"])[1] == {"g": [1, 2, 3]}
