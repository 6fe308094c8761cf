"""Files to chunks: every format, and every way a file can be wrong."""

import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from bregalad import VFDT
from bregalad.data import DataError, open_stream
from bregalad.data.formats import lines
from bregalad.data.formats.files import File
from reading import whole, write

CSV = 'len,kind,label\n1.5,a,yes\n?,b,no\n,?,yes\n-2e3,"a, b",no\n'
ARFF = """% a comment
@relation test
@attribute len numeric
@attribute kind {a, b, 'a, b'}
@attribute label {yes, no}

@data
1.5,a,yes
% another

?,b,no
,?,yes
-2e3,'a, b',no
"""


def as_parquet(text):
    file = io.BytesIO()
    pd.read_csv(io.StringIO(text), na_values="?").to_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize("packing", ["", ".gz", ".zip"])
@pytest.mark.parametrize(
    "name, change",
    [
        ("t.csv", lambda t: t),
        ("t.tsv", lambda t: t.replace(", b", "; b").replace(",", "\t")),
        ("t.txt", lambda t: t.replace("\n", "\r\n")),
        ("t.csv", lambda t: "\ufeff" + t),
        ("t.data_10_percent", lambda t: t.rstrip("\n")),
        ("t.csv", lambda t: t.replace("\n", "\n\n")),
        ("t.arff", lambda _: ARFF),
        ("t.parquet", as_parquet),
    ],
)
def test_formats(tmp_path, packing, name, change):
    stream = open_stream(write(tmp_path, name + packing, change(CSV)), chunk=3)
    assert [(a.name, a.kind) for a in stream.schema.attributes] == [("len", "numeric"), ("kind", "nominal")]
    assert stream.schema.class_name == "label"
    for _ in range(2):
        X, y = whole(stream)
        np.testing.assert_equal(X["len"].to_numpy(), [1.5, np.nan, np.nan, -2000])
        assert X["kind"].isna().tolist() == [False, False, True, False]
        assert X["kind"][1] == "b"
        assert y.tolist() == ["yes", "no", "yes", "no"]
        assert stream.len_hint == 4


def test_words_that_look_like_numbers_stay_words(tmp_path):
    """What a file says is the value and the label, whatever else stands in its chunk."""
    head = "@relation r\n@attribute a {01,1,1.0}\n@attribute class {TRUE,FALSE}\n@data\n"
    X, y = whole(open_stream(write(tmp_path, "t.arff", head + "01,TRUE\n1,FALSE\n1.0,TRUE\n")))
    assert X["a"].tolist() == ["01", "1", "1.0"] and y.tolist() == ["TRUE", "FALSE", "TRUE"]
    path = write(tmp_path, "t.csv", "a,b,class\n007,1,0\n7,2,1\n08,3,1.0\n8,4,0\n")
    for chunk in (2, 100):
        X, y = whole(open_stream(path, nominal=["a"], chunk=chunk))
        assert X["a"].tolist() == ["007", "7", "08", "8"] and y.tolist() == ["0", "1", "1.0", "0"]
    pd.DataFrame({"a": pd.array([1, 2, None, 2**53 + 1], "Int64"), "class": list("xyxy")}).to_parquet(
        tmp_path / "t.parquet"
    )
    for chunk in (2, 100):
        X, _ = whole(open_stream(tmp_path / "t.parquet", nominal=["a"], chunk=chunk))
        assert X["a"].tolist()[:2] == ["1", "2"] and X["a"].isna()[2]
        assert X["a"].tolist()[3] == "9007199254740993"


def test_kinds_of_nominal_columns(tmp_path):
    """Categories are values declared; a chunk's own are strings, for the next may have others."""
    X, _ = next(iter(open_stream(write(tmp_path, "t.arff", ARFF), chunk=1)))
    kind = X.dtypes.iloc[1]
    assert list(kind.categories) == ["a", "b", "a, b"]
    text = "".join(f"{i},v{i // 300},{i % 2}\n" for i in range(600))
    tree = VFDT()
    for X, y in open_stream(write(tmp_path, "t.csv", text), chunk=300):
        assert X["x1"].dtype == object
        tree.partial_fit(X, y, classes=["0", "1"])
    assert tree.quantiser_summary()["overflowed"] == 0


def test_options(tmp_path):
    path = write(tmp_path, "t.csv", "1,2,3,4\n5,6,7,8\n")
    stream = open_stream(path, names=list("abcd"), class_name="b", nominal=[0], ignore=["d"], classes=[2, 6])
    assert stream.schema.names == ("a", "c") and stream.schema.classes == ("2", "6")
    X, y = whole(stream)
    assert X["a"].tolist() == ["1", "5"] and y.tolist() == ["2", "6"]
    for index in (-3, "-3", "1"):  # a command line has words only
        assert open_stream(path, class_name=index).schema.class_name == "x1"
    assert len(whole(open_stream(path, header=True))[1]) == 1
    words = write(tmp_path, "w.csv", "p,q\na,b\nc,d\n")
    assert open_stream(words).schema.names == ("p",)
    assert open_stream(words, header=False).schema.names == ("x0",)


def test_late_words_and_kinds(tmp_path):
    path = write(tmp_path, "t.csv", "1,y\n" * 10_500 + "word,y\n")
    stream = iter(open_stream(path, chunk=10_000))
    next(stream)
    with pytest.raises(DataError, match=r"line 10501, column 'x0': 'word' is not a finite number.*nominal=\['x0'\]"):
        next(stream)
    assert len(whole(open_stream(path, nominal=["x0"]))[1]) == 10_501


@pytest.mark.parametrize(
    "name, text, options, match",
    [
        ("t.csv", "", {}, "the file is empty"),
        ("t.csv", "\n \n", {}, "the file is empty"),
        ("t.csv", "a,b,label\n", {}, "header only"),
        ("t.arff", ARFF.split("1.5")[0], {}, "no instance"),
        ("t.arff", "", {}, "needs a line @data"),
        ("t.arff", ARFF + "1,a,perhaps\n", {}, "line 14, column 'label': 'perhaps' is not declared"),
        ("t.csv", CSV + "1,a\n", {}, "line 6: 2 fields, but 3 columns"),
        ("t.csv", CSV + "1,a,no,\n", {}, "line 6: 4 fields, but 3 columns"),
        ("t.csv", CSV + '1,"a,no\n2,b",no\n', {}, "line 6"),
        ("t.csv", CSV + "1,a,\n", {}, "line 6: the class 'label' is missing"),
        ("t.csv", CSV + "1,a,?\n", {}, "line 6: the class 'label' is missing"),
        ("t.csv", CSV + "x,a,no\n", {"numeric": ["len"]}, "line 6, column 'len': 'x' is not a finite"),
        ("t.csv", CSV + "\n\ninf,a,no\n", {}, "line 8, column 'len': 'inf' is not a finite number"),
        ("t.csv", CSV + "1e999,a,no\n", {}, "line 6, column 'len': '1e999'"),
        ("t.csv", CSV, {"classes": ["yes"]}, "line 3, column 'label': 'no' is not declared; allowed are yes"),
        ("t.csv", CSV, {"class_name": 3}, "the class column 3 is unknown; the columns are len, kind, label"),
        ("t.csv", CSV, {"nominal": ["size"]}, "the nominal column 'size' is unknown"),
        ("t.csv", CSV, {"ignore": [7]}, "the ignored column 7 is unknown"),
        ("t.csv", CSV, {"names": ["a", "b"]}, "2 names, but 3 columns"),
        ("t.csv", CSV, {"names": ["a", "a", "b"]}, "column 'a' is named twice"),
        ("t.csv", CSV.replace("kind", "len"), {"header": True}, "line 1: column 'len' is named twice"),
        ("t.csv", "1\n2\n", {}, "t.csv: an attribute and a class are needed, but there is one column"),
        ("t.parquet", "no", {}, "not a Parquet file"),
    ],
)
def test_bad_file(tmp_path, name, text, options, match):
    path = write(tmp_path, name, text)
    with pytest.raises(DataError, match=match) as error:
        for _ in open_stream(path, **options):
            pytest.fail("a bad chunk was handed out")
    assert name in str(error.value)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zip", "t.parquet", "t.arff.gz"])
def test_cut_short(tmp_path, name):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=40_000), "y": rng.integers(0, 2, 40_000)})
    if name == "t.parquet":
        table.to_parquet(tmp_path / name)
    else:
        head = "@relation r\n@attribute a real\n@attribute y {0,1}\n@data\n"
        text = table.to_csv(index=False, header=False)
        write(tmp_path, name, (head if "arff" in name else "") + text)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match="damaged or cut short|not a Parquet file"):
        list(open_stream(tmp_path / name))


def test_bad_archive(tmp_path):
    (tmp_path / "t.csv.gz").write_text(CSV)
    with pytest.raises(DataError, match="damaged or cut short"):
        open_stream(tmp_path / "t.csv.gz")
    for name in ("none.csv", "none.zip"):
        with pytest.raises(FileNotFoundError):
            open_stream(tmp_path / name)
    (tmp_path / "folder.zip").mkdir()
    for folder in (tmp_path, tmp_path / "folder.zip"):
        with pytest.raises(IsADirectoryError, match="is a folder, not a file"):
            open_stream(folder)


def test_members_of_an_archive(tmp_path):
    """Of several one is chosen; what macOS adds is passed over."""
    path = tmp_path / "t.zip"

    def pack(*names):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, ARFF if name.endswith("arff") else CSV)

    for data in ("t.csv", "in/t.arff"):
        pack("__MACOSX/._t.csv", data)
        assert len(whole(open_stream(path))[1]) == 4
    pack("t.data", "t.arff", "README")
    with pytest.raises(DataError, match=r"has t.data, t.arff, README: choose the data with member=NAME \(--member"):
        open_stream(path)
    for member, values in (("t.data", ()), ("t.arff", ("a", "b", "a, b"))):
        assert open_stream(path, member=member).schema.attributes[1].values == values
    with pytest.raises(DataError, match="t.zip: the archive has no file 'u.csv'; it has t.data, t.arff, README"):
        open_stream(path, member="u.csv")
    with pytest.raises(ValueError, match="t.csv: member is for zip archives"):
        open_stream(write(tmp_path, "t.csv", CSV), member="t.csv")


@pytest.mark.parametrize("suffix, start", [("xlsx", b"PK\3\4\0"), ("npz", b"PK\3\4\0"), ("csv.xz", b"\xfd7zXZ\0")])
def test_formats_that_are_not_read_are_refused(tmp_path, suffix, start):
    with pytest.raises(DataError, match=f"t.{suffix}, line 1: not a text .*; allowed .*to_parquet"):
        open_stream(write(tmp_path, f"t.{suffix}", start))


@pytest.mark.parametrize("length, count", [(1 << 19, 1), (1 << 12, 300)])
def test_memory_is_bounded(tmp_path, monkeypatch, length, count):
    """However well lines are packed, one has a longest length, and so have those that are taken at once."""
    assert (lines._LONGEST, lines._MOST) == (1 << 26, 1 << 28)
    for name, size in {"_PIECE": 1 << 12, "_LONGEST": 1 << 18, "_MOST": 1 << 20}.items():
        monkeypatch.setattr(lines, name, size)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,class\n" + (b"x" * length + b",y\n") * count))
    with File(str(path)).lines() as file:
        file.take(1)
        if count == 1:
            with pytest.raises(DataError, match="t.csv.gz, line 2: longer than 262,144 bytes; a line holds one"):
                file.take(1)
        else:
            assert 1 << 20 <= sum(map(len, file.take(300))) <= (1 << 20) + 2 * length
    write(tmp_path, "t.parquet.gz", b"x")
    with pytest.raises(DataError, match="not a Parquet file"):
        open_stream(tmp_path / "t.parquet.gz")


@pytest.mark.parametrize(
    "options, match",
    [
        ({"header": "yes"}, 'header must be "auto", True or False'),
        ({"chunk": 0}, "chunk must be a positive integer, not 0"),
        ({"nominal": ["len"], "numeric": [0]}, "'len' is declared nominal and numeric"),
        ({"ignore": ["label"]}, "the class column 'label' is ignored"),
        ({"ignore": ["len", "kind"]}, "at least one attribute"),
    ],
)
def test_bad_options(tmp_path, options, match):
    with pytest.raises(ValueError, match=match):
        open_stream(write(tmp_path, "t.csv", CSV), **options)


@pytest.mark.parametrize(
    "name, text",
    [("t.csv", "a\n1.5\n2\n"), ("t.arff", "@relation t\n@attribute a numeric\n@data\n1.5\n2\n"), ("t.parquet", "")],
)
def test_one_column_is_enough_without_a_class(tmp_path, name, text):
    path = write(tmp_path, name, text)
    if name == "t.parquet":
        pd.DataFrame({"a": [1.5, 2]}).to_parquet(path)
    X, _ = whole(open_stream(path, class_name=False))
    assert X["a"].tolist() == [1.5, 2]
    with pytest.raises(DataError, match="an attribute and a class are needed"):
        open_stream(path)


def test_a_row_of_tabs_is_an_instance(tmp_path):
    """All of it is missing; a line without a tab is blank."""
    path = write(tmp_path, "t.tsv", "a\tb\n1\t2\n\t\n\n3\t\n")
    X, _ = whole(open_stream(path, class_name=False))
    np.testing.assert_array_equal(X.to_numpy(), [[1, 2], [np.nan, np.nan], [3, np.nan]])
    with pytest.raises(DataError, match="line 3: the class 'b' is missing"):
        whole(open_stream(path))


def test_instances_may_lack_a_label_where_that_is_said(tmp_path):
    path = write(tmp_path, "t.csv", "a,b\n1,x\n2,?\n3,\n")
    assert whole(open_stream(path, unlabelled=True))[1].tolist() == ["x", None, None]
    with pytest.raises(DataError, match="every instance needs a label"):
        whole(open_stream(path))


CENTRAL = b"PK\x01\x02"
DAMAGED = "the archive is damaged or cut short"


@pytest.mark.parametrize(
    "place, offset, byte, match",
    [
        (CENTRAL, 6, 185, f"{DAMAGED} .zip file version"),
        (CENTRAL, 10, 12, "the archive is packed by another method than deflate"),
        (CENTRAL, 46, 255, DAMAGED),  # a name that is no UTF-8
        (CENTRAL, 46, 0, DAMAGED),  # a name of no letter
        (b"PK\x03\x04", 30, 255, DAMAGED),
        (b"PK\x05\x06", 16, 255, DAMAGED),
    ],
)
def test_a_damaged_zip(tmp_path, place, offset, byte, match):
    """Each damage is one that zipfile has another error for."""
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t\u00e4.csv", CSV * 20)
    packed = bytearray((tmp_path / "t.csv.zip").read_bytes())
    packed[packed.index(place) + offset] = byte
    (tmp_path / "t.csv.zip").write_bytes(packed)
    with pytest.raises(DataError, match=f"t.csv.zip: {match}"):
        list(open_stream(tmp_path / "t.csv.zip"))


def test_a_stream_tells_what_it_is(tmp_path):
    (tmp_path / "data.csv").write_text("a,b,c\n1,2,x\n")
    path = str(tmp_path / "data.csv")
    assert repr(open_stream(path)) == f"<Stream {path}: 2 attributes, class 'c'>"
    assert repr(open_stream(path, class_name=False, ignore=["a", "b"])) == f"<Stream {path}: 1 attribute>"
