"""What a delimited text says about itself: header, comments, delimiter, kinds, decimal mark."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from bregalad.data import DataError, open_stream
from pandas._libs.parsers import STR_NA_VALUES
from reading import write as write_file

ROWS = 60


def write(folder, text):
    return write_file(folder, "t.csv", text)


@pytest.mark.parametrize(
    "names, refused",
    [
        (["2019", "2020", "2021", "target"], None),
        (["2020-01-01", "2020-01-02", "2020-01-03", "target"], "2020-01-01"),
        (["1,5", "2,5", "3,5", "target"], "1,5"),
        (["id", "2019", "2020", "target"], "id"),
    ],
)
def test_a_number_is_no_name(tmp_path, names, refused):
    """But where a name that is known stands beside it; a word above numbers is not passed over."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(ROWS, 3)).round(2))
    table = table.assign(target=np.where(table[0] > 0, "yes", "no"))
    table.set_axis(names, axis=1).to_csv(tmp_path / "t.csv", index=False)
    if refused:
        with pytest.raises(
            DataError,
            match=f"line 1, column 'x0': '{refused}' is not .*; header=True .--header yes. says that the line",
        ):
            open_stream(tmp_path / "t.csv")
    else:
        with pytest.warns(UserWarning, match="line 1 is taken for an instance; header=True"):
            stream = open_stream(tmp_path / "t.csv")
        assert stream.schema.names == ("x0", "x1", "x2") and sum(len(y) for _, y in stream) == ROWS + 1
    for said in ({"header": True}, {"class_name": "target"}, {"names": names}):
        stream = open_stream(tmp_path / "t.csv", **said)
        assert stream.schema.names == tuple(names[:-1]) and sum(len(y) for _, y in stream) == ROWS


@pytest.mark.parametrize(
    "text",
    [
        "1,2,x\n3,4,y\n",
        "1,2,x\n" * 30,
        "5,3,2,1\n" * 9,
        "1,a,x\n2,b,y\n1,a,y\n",
        "tcp,1,x\ntcp,2,y\n",
        "?,a,x\n1,b,y\n",
        "0,1\n1,0\n",
        "2,4,6\n1,3,5\n",
        "a,b,a,x\nb,a,a,y\n",
    ],
)
def test_instances_are_no_names(tmp_path, text):
    stream = open_stream(write(tmp_path, text))
    assert stream.schema.class_name == "class"
    assert sum(len(y) for _, y in stream) == text.count("\n")


@pytest.mark.parametrize("body", ["1,2,3,x\n4,5,6,y\n", "p,q,r,x\np,q,r,y\n" * 10])
def test_a_repeated_name(tmp_path, body):
    path = write(tmp_path, "a,b,a,target\n" + body)
    with pytest.raises(
        DataError, match=r"line 1: column 'a' is named twice; give .* names with names=\[...\] \(--names"
    ):
        open_stream(path)
    stream = open_stream(path, names=list("abcd"), header=True)
    assert stream.schema.names == tuple("abc")
    assert sum(len(y) for _, y in stream) == body.count("\n")


@pytest.mark.parametrize(
    "text, names",
    [
        ("# made by hand, on a Monday\na,b,class\n1,2,x\n3,4,y\n", ("a", "b")),
        ("# made by x, y\n# in two lines\n\n1,2,x\n3,4,y\n3,5,x\n", ("x0", "x1")),
        ("# one, two, three\na,b,class\n1,2,x\n3,4,y\n", ("a", "b")),
        ("#1,2,x\n#3,4,y\n", ("x0", "x1")),  # words that begin with #
    ],
)
def test_first_lines_that_are_comments(tmp_path, text, names):
    stream = open_stream(write(tmp_path, text))
    assert stream.schema.names == names
    first = text.count("\n") - sum(len(y) for _, y in stream)
    assert first == sum(line.startswith(("# ", "a")) or not line for line in text.splitlines())


def test_lines_behind_comments_keep_their_numbers(tmp_path):
    path = write(tmp_path, "# by hand\n# or so\na,class\n1,x\none,y\n")
    with pytest.raises(DataError, match="line 5, column 'a': 'one' is not a finite number"):
        list(open_stream(path, numeric=["a"]))
    path = write(tmp_path, "a,class\n1,x\n# a comment\n")
    with pytest.raises(DataError, match="line 3: 1 field, but 2 columns; lines that begin with # are comments at the"):
        list(open_stream(path))


@pytest.mark.parametrize(
    "field",
    [
        *("1,5", "-1,5e3", "1,500", "1,500,000", "1.500,25", "1'500", "1_000", "1 500", "1\N{NO-BREAK SPACE}500"),
        *("1\N{NARROW NO-BREAK SPACE}500.5", "\N{ARABIC-INDIC DIGIT ONE}", "\N{FULLWIDTH DIGIT ONE}.5"),
        "\N{MINUS SIGN}5",
    ],
)
@pytest.mark.parametrize("kind", [{}, {"numeric": ["a"]}])
def test_numbers_in_another_notation(tmp_path, field, kind):
    """Never words in silence, never divided at a decimal comma."""
    text = f"b;a;class\n1;{field};x\n2;{field};y\n2;?;y\n"
    path = write(tmp_path, text)
    with pytest.raises(DataError) as error:
        list(open_stream(path, **kind))
    assert f"t.csv, line 2, column 'a': {field!r} is not a finite number such as -1234.5" in str(error.value)
    assert (", is the decimal mark with decimal=',', --decimal ," in str(error.value)) == ("," in field)
    X, _ = next(iter(open_stream(path, nominal=["a"])))
    assert X["a"].tolist()[:2] == [field, field]
    assert sum(len(y) for _, y in open_stream(path, ignore=["a"])) == 3
    with pytest.raises(DataError, match="line 1, column 'x1'"):
        open_stream(write(tmp_path, text.partition("\n")[2]))


def test_numbers_with_blanks_around_are_read(tmp_path):
    path = write(tmp_path, "a,class\n\N{NO-BREAK SPACE}1,x\n 2\N{NO-BREAK SPACE},y\n")
    X, _ = next(iter(open_stream(path)))
    assert X["a"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "text", ["a;b;class\n1,5;2;x\n-2,5e1;?;y\n", "1,5;2;x\n-2,5e1;?;y\n", 'a,b,class\n"1,5",2,x\n"-25",,y\n']
)
def test_decimal_commas(tmp_path, text):
    X, y = next(iter(open_stream(write(tmp_path, text), decimal=",")))
    np.testing.assert_array_equal(X.to_numpy(), [[1.5, 2], [-25, np.nan]])
    assert y.tolist() == ["x", "y"]


def test_names_above_numbers_in_another_notation(tmp_path):
    """The error names the column as the file does, and the remedy reads it."""
    rows = "".join(f"{'ab'[i % 2]};{i},{i};{i};{'yn'[i % 3 == 0]}\n" for i in range(ROWS))
    path = write(tmp_path, f"city;temp;rooms;bought\n{rows}")
    with pytest.raises(DataError, match="line 2, column 'temp': '0,0' is not a finite number"):
        open_stream(path)
    assert open_stream(path, decimal=",").schema.names == ("city", "temp", "rooms")


def test_decimal_points_where_commas_are_said(tmp_path):
    path = write(tmp_path, "a;class\n1.5;x\n2.5;y\n")
    with pytest.raises(DataError, match="such as -1234,5 .. is the decimal mark with decimal='.', --decimal ."):
        open_stream(path, decimal=",")
    with pytest.raises(ValueError, match="decimal must be .* not ';'"):
        open_stream(path, decimal=";")
    pd.DataFrame({"a": [1.5], "c": ["x"]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="decimal is for delimited text"):
        open_stream(tmp_path / "t.parquet", decimal=",")


def test_words_stay_words(tmp_path):
    """Some of them may look like numbers in another notation."""
    path = write(tmp_path, "a;class\nabc;x\ndef;y\n1,5;y\n12 a;x\n")
    assert next(iter(open_stream(path)))[0]["a"].tolist()[2] == "1,5"
    path = write(tmp_path, "a;class\n1;1,5\n2;2,5\n")  # labels are words
    assert next(iter(open_stream(path)))[1].tolist() == ["1,5", "2,5"]


def instances(count):
    return [f"{i % 7},{'xy'[i % 2]}" for i in range(count)]


@pytest.mark.parametrize(
    "text, told",
    [
        (",a,class\n" + "".join(f"{i},{row}\n" for i, row in enumerate(instances(50))), True),  # pandas' to_csv
        ("a,class,\n" + "".join(f"{row},\n" for row in instances(50)), False),
    ],
)
def test_headers_of_other_programs(tmp_path, text, told):
    """A first column without a name, dividers at the ends of lines."""
    path = write(tmp_path, text)
    message = "t.csv, line 1: the first column has no name, so it is left out"
    with pytest.warns(UserWarning, match=message) if told else nullcontext():
        stream = open_stream(path)
    X, y = next(iter(stream))
    assert X["a"].tolist() == [i % 7 for i in range(50)] and y.tolist() == ["x", "y"] * 25
    assert list(X) == ["a"]
    if told:
        assert open_stream(path, names=["key", "a", "class"], header=True).schema.names == ("key", "a")


@pytest.mark.parametrize(
    "text, match",
    [
        ("exported 2020-01-01\na,class\n1,x\n2,y\n3,x\n", "line 2: 2 fields, but 1 column"),
        ("a,b,c,class\n1,x\n2,y\n", "line 2: 2 fields, but 4 columns"),
        ("a,class\n1,2,x\n2,2,y\n", "line 2: 3 fields, but 2 columns"),  # as R names rows
        ("a,class,\n1,x\n1,y\n", "line 2: 2 fields, but 3 columns"),
        ("<!DOCTYPE html>\n<html><head></head>\n<body>404 not found</body></html>\n", ".* a text's fields are divided"),
    ],
)
def test_lines_that_do_not_fit_the_first(tmp_path, text, match):
    with pytest.raises(DataError, match=f"t.csv(, |: ){match}"):
        list(open_stream(write(tmp_path, text)))


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_files_that_were_joined(tmp_path, mark):
    """Names amid the data are no number; a byte order mark says nothing where a file begins."""
    part = f"{mark}age,class\n" + "".join(row + "\n" for row in instances(300))
    path = write(tmp_path, part)
    assert open_stream(path).schema.names == ("age",)
    write(tmp_path, part * 2)
    with pytest.raises(DataError, match="t.csv, line 302, column 'age': '.*age' is not a finite number"):
        open_stream(path)


@pytest.mark.parametrize("index", [True, False])
def test_names_that_pandas_counts(tmp_path, index):
    frame = pd.DataFrame({0: range(30), 1: range(30), 2: ["xy"[i % 2] for i in range(30)]})
    with pytest.warns(UserWarning, match="has no name") if index else nullcontext():
        stream = open_stream(write(tmp_path, frame.to_csv(index=index)))
    assert stream.schema.names == ("0", "1") and sum(len(y) for _, y in stream) == 30
    labels = frame.assign(**{"2": [i % 3 for i in range(30)]})[[0, 1, "2"]]
    stream = open_stream(write(tmp_path, labels.to_csv(index=False, header=False)))
    assert stream.schema.names == ("x0", "x1") and sum(len(y) for _, y in stream) == 30


def test_what_pandas_takes_for_missing_is_missing_among_numbers(tmp_path):
    for field in sorted(STR_NA_VALUES):
        path = write(
            tmp_path, "age,k,class\n" + "".join(f"{i % 9},{field or 'w'},x\n" for i in range(30)) + f"{field},v,y\n"
        )
        X, y = next(iter(open_stream(path, nominal=["k"])))
        assert np.isnan(X["age"].tolist()).tolist() == [False] * 30 + [True] and y[-1] == "y"
        assert X["k"][0] == (field or "w")


def test_a_word_among_numbers(tmp_path):
    """A rare one is refused as it is behind the head of the file."""
    rows = [f"{i % 30},{'xy'[i % 2]}" for i in range(300)]
    path = write(tmp_path, "age,class\n" + "\n".join([*rows, "Total,x"]) + "\n")
    with pytest.raises(DataError, match=r"t.csv, line 302, column 'age': 'Total' is not a finite .*nominal=\['age'\]"):
        open_stream(path)
    assert len(next(iter(open_stream(path, nominal=["age"])))[1]) == 301
    path = write(tmp_path, "age,class\n" + "\n".join([*rows, *["old,x"] * 9]) + "\n")
    assert open_stream(path).schema.attributes[0].kind == "nominal"


def test_dates_and_times(tmp_path):
    words = ["2020-01-02", "2020-01-02T03:00:00.5", "2020-01-02 05:00+02:00", "9999-12-31", "?", "N/A"]
    clock = ["9:30", "09:30:00.25", "23:59:59", "00:00", "", "null"]
    rows = "".join(
        f'{a},{b},{a},"soon, or late",{"xy"[i % 2]}\n' for i, (a, b) in enumerate(zip(words, clock, strict=True))
    )
    path = write(tmp_path, f"day,at,as words,w,class\n{rows}")
    told = "dates and times are read as seconds, dates as those since 1970 in UTC: 'day', 'at'; --ignore day,at leaves"
    with pytest.warns(UserWarning, match=told):
        X, _ = next(iter(open_stream(path, nominal=["as words"])))
    nan = np.nan
    np.testing.assert_array_equal(X["day"], [1577923200, 1577934000.5, 1577934000, 253402214400, nan, nan])
    np.testing.assert_array_equal(X["at"], [34200, 34200.25, 86399, 0, nan, nan])
    assert X["as words"].tolist()[:4] == words[:4]
    assert open_stream(path, ignore=["day", "at", "as words"]).schema.names == ("w",)
    write(tmp_path, path.read_text() + "2020-13-01,9:30,,w,x\n")
    with pytest.raises(DataError, match=r"line 8, column 'day': '2020-13-01' is no date or .*nominal=\['day'\]"):
        list(open_stream(path, numeric=["day", "at"], nominal=["as words"]))
    schema = open_stream(path, class_name="day", numeric=["at"], nominal=["as words"]).schema
    assert [a.kind for a in schema.attributes] == ["numeric", "nominal", "nominal", "nominal"]


def test_all_columns_that_are_refused_are_named_at_once(tmp_path):
    path = write(tmp_path, "a;b;the c;class\n1,5;2;1.000,5;x\n1,5;2;2.000,5;y\n")
    with pytest.raises(DataError, match="column 'a': '1,5' is not.*; refused are 'the c', too: --ignore 'a,the c'"):
        open_stream(path)


@pytest.mark.parametrize(
    "text, match",
    [
        (b"a,class\n1,x\n\xe9,y\n", "line 3: not a text in UTF-8 \\(.*\\); allowed are ARFF, CSV"),
        (b"a,class\n1,x\n\0,y\n", "line 3: not a text in UTF-8 \\(a NUL character\\)"),
        (b"a,class\n1,x\n2\r,y\r\n", "line 3: not a text in UTF-8 \\(a carriage return without a line feed\\)"),
    ],
)
def test_no_text(tmp_path, text, match):
    with pytest.raises(DataError, match=match):
        open_stream(write(tmp_path, text))
    path = write(tmp_path, b"a,class\n" + b"1,x\n" * 20_000 + text[8:])
    with pytest.raises(DataError, match=match.replace("line 3", "line 20003")):
        list(open_stream(path))
