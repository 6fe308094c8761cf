"""ARFF as Weka writes and reads it, in all notations, and what is refused by line."""

from contextlib import suppress

import pytest
from bregalad.data import Attribute, DataError, open_stream
from bregalad.data.formats.arff import is_plain, words
from reading import lists

HEAD = "@relation r\n@attribute a numeric\n@attribute b {u,'v w',x}\n@attribute class {p,q}\n"


def read(tmp_path, text, name="t.arff", **options):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return lists(open_stream(path, **options))


@pytest.mark.parametrize(
    "written, word",
    [
        (r"'\'(-inf-2.5]\''", "'(-inf-2.5]'"),
        (r"'\u001E\u00e4'", "\x1eä"),
        (r"'\036\7x'", "\x1e\x07x"),
        ('"user\'s"', "user's"),
        (r'"say \"p\""', 'say "p"'),
        ("''", ""),
        (r"C:\x", r"C:\x"),
        ("don't", "don't"),
        ("'%'", "%"),
        ("\xa0p", "\xa0p"),
        ("'?x'", "?x"),
    ],
)
def test_words(tmp_path, written, word):
    """As a name, a value and a label, declared and in the data; `test_arff_random.py` has what Weka itself writes."""
    text = (
        f"@relation r\n@attribute n{written} numeric\n@attribute b {{{written},u}}\n"
        f"@attribute class {{{written},u}}\n@data\n1,{written},{written}\n2,u,u\n"
    )
    if not word or written[0] in "'\"":
        text = text.replace("n" + written, written if word else "n")
    stream, X, y = read(tmp_path, text)
    assert stream.schema.nominal == {"b": (word, "u")} and stream.schema.classes == (word, "u")
    if written[0] in "'\"" and word:
        assert stream.schema.names == (word, "b")
    assert X["b"] == [word, "u"] and y == [word, "u"]


@pytest.mark.parametrize(
    "rows",
    [
        "1,u,p\n?,'v w',q\n",
        "1,\tu\t,p\n?,\t\t'v w'\t,q\n",
        ' 1, u , p \n?,"v w",q\n',
        "1,u,p\n?,'v w',q % a comment\n",
        "1,u,p\n?,v w,q\n",
        "% \"one\",'o\n\n1,u,p\n   % two\n,'v w',q\n",
        "{0 1}\n { 0 ?, 1 'v w', 2 q }\n",
        "{0 1,1 u,2 p}\n?,'v w',q\n",
        '{0 1,1 u}\n{0 ? ,1\t"v w",2 q} % a comment\n',
        "'1','u','p'\n?,'v w','q'\n",
        "1,'u',\"p\"\n?,'v w',q\n",
        "1,u,p\r\n?,'v w',q\r\n",
    ],
)
@pytest.mark.parametrize("keyword", ["@data", "@DATA % two rows", "  @Data\t"])
def test_rows(tmp_path, rows, keyword):
    _, X, y = read(tmp_path, HEAD + keyword + "\n" + rows)
    assert X == {"a": [1, None], "b": ["u", "v w"]} and y == ["p", "q"]


@pytest.mark.parametrize(
    "declared, kind, values",
    [
        ("a REAL", "numeric", ()),
        ("a Integer [0,1]", "numeric", ()),
        ("a numeric[0,1]", "numeric", ()),
        ("'a'{x,y}", "nominal", ("x", "y")),
        ("a\t{ x,\ty }", "nominal", ("x", "y")),
        ('"a" {"x" ,"y"}', "nominal", ("x", "y")),
        ("a {x, y} % two", "nominal", ("x", "y")),
        ("a {New York,'San  Jose'}", "nominal", ("New York", "San  Jose")),
    ],
)
def test_declarations(tmp_path, declared, kind, values):
    text = f"% c\n@RELATION 'it''s % one' \n\n@Attribute {declared}\n@attribute class{{p,q}}\n@data\n?,p\n"
    stream, _, _ = read(tmp_path, text)
    assert stream.schema.attributes == (Attribute("a", kind, values),)
    assert stream.schema.classes == ("p", "q")


def test_sparse_rows_leave_out_zeros_and_first_values(tmp_path):
    _, X, y = read(tmp_path, HEAD + "@data\n{}\n{1 x}\n{2 q}\n{0 -2e1}\n")
    assert X == {"a": [0, 0, 0, -20], "b": ["u", "x", "u", "u"]} and y == ["p", "p", "q", "p"]
    text = "@relation r\n@attribute id string\n" + HEAD[12:] + "@data\n{1 3}\n"
    assert read(tmp_path, text, ignore=["id"])[1]["a"] == [3]
    assert read(tmp_path, text, nominal=["id"])[1] == {"id": [None], "a": [3], "b": ["u"]}


def test_columns_of_other_kinds(tmp_path):
    """They are no obstacle where they are left out; words of strings and dates may be asked for."""
    head = (
        "@relation r\n@attribute id string\n@attribute t date 'yyyy-MM-dd HH:mm'\n"
        "@attribute none {}\n@attribute what {?,x}\n"
    )
    text = head + HEAD[12:] + "@data\nq1,'2020-01-01 10:00',?,?,1,u,p\n"
    odd = ["id", "t", "none", "what"]
    stream, X, y = read(tmp_path, text, ignore=odd)
    assert X == {"a": [1], "b": ["u"]} and y == ["p"]
    _, X, _ = read(tmp_path, text, ignore=odd[2:], nominal=odd[:2])
    assert X["id"] == ["q1"] and X["t"] == ["2020-01-01 10:00"]
    for name, line, why in [
        ("id", 2, "of kind string cannot be learnt.*words with nominal=.'id'"),
        ("t", 3, "of kind date cannot be learnt.*words with nominal=.'t'"),
        ("none", 4, "it declares no value, or one that"),
        ("what", 5, "declares no value, or one that stands for a missing one"),
    ]:
        with pytest.raises(DataError, match=rf"t.arff, line {line}, column '{name}': .*{why}") as error:
            read(tmp_path, text, ignore=[other for other in odd if other != name])
        assert f"leave it out with ignore=['{name}'] (--ignore)" in str(error.value)
    for name in odd[2:]:
        with pytest.raises(DataError, match="cannot be learnt|declares"):
            read(tmp_path, text, ignore=[o for o in odd if o != name], nominal=[name])


@pytest.mark.parametrize(
    "text, match",
    [
        (HEAD + "@data 1,u,p\n", "line 5: the data begin on the line after @data"),
        (HEAD + "1,u,p\n", "line 5: '1,u,p' is no declaration; allowed before the data are @relation"),
        (HEAD + "@inputs a\n", "line 5: '@inputs a' is no declaration"),
        ("@relation r\n@data\n1\n", "line 2: @data without an @attribute"),
        (HEAD + "@attribute\n@data\n", "line 5: an attribute needs a name"),
        (HEAD + "@attribute '' real\n@data\n", "line 5: an attribute needs a name"),
        (HEAD + "@attribute c relational\n", "line 5: attribute 'c' is of kind 'relational'; allowed are numeric"),
        (HEAD + "@attribute c\n@data\n", "line 5: attribute 'c' is of kind ''; allowed are numeric, real, integer"),
        (HEAD + "@attribute a real\n@data\n", "line 5: column 'a' is named twice"),
        (HEAD + "@attribute my num real\n@data\n", "line 5: attribute 'my' is of kind 'num'; .*a name"),
        (HEAD + "@attribute c {x,y\n@data\n", "line 5: the values of 'c' must stand in braces on one"),
        (HEAD + "@attribute c {50%,y}\n@data\n", "line 5: the values of 'c' .*those with a brace or %"),
        (HEAD + "@attribute c {x,x}\n@data\n", "line 5: attribute 'c': value 'x' is given twice"),
        (HEAD + "@attribute c {'x,y}\n@data\n", "line 5: a quote ' is not closed on its line"),
        (HEAD + "@attribute c {'x'y}\n@data\n", "line 5: a quote ' .* something else than a comma follows"),
        (HEAD + "@attribute c real {2}\n@data\n", "line 5: attribute 'c' has a weight"),
        (HEAD + "@data\n1,'u,p\n", "line 6: a quote ' is not closed on its line"),
        (HEAD + "@data\n1,'u'x,p\n", "line 6: a quote ' .* something else than a comma follows"),
        (HEAD + "@data\n1,u\n", "line 6: 2 fields, but 3 columns"),
        (HEAD + "@data\n1 u p\n", "line 6: 1 field, but 3 columns"),
        (HEAD + "@data\n1\t'u'\tp\n", "line 6: 1 field, but 3 columns"),
        (HEAD + "@data\n1,u,p,x\n", "line 6: 4 fields, but 3 columns"),
        (HEAD + "@data\n1,u,p\n1,u,p,{5}\n", "line 7: .* the weight of an instance is not learnt"),
        (HEAD + "@data\n{0 1},{0.5}\n", "line 6: braces hold a sparse row, .index value, index value., its"),
        (HEAD + "@data\n1,{u},p\n", "line 6: braces hold a sparse row, .index value, index value., its"),
        (HEAD + "@data\n{0 1\n", "line 6: braces hold a sparse row, .index value, index value., its"),
        (HEAD + "@data\n}\n", "line 6: braces hold a sparse row, .index value, index value., its"),
        (HEAD + "@data\n{0 1, 2}\n", "line 6: braces hold a sparse row, .index value, index value., its"),
        (HEAD + "@data\n{1 u, 0 1}\n", "line 6: .*indices from 0 to 2 and ascending, not ', 0 1}'"),
        (HEAD + "@data\n{3 1}\n", "line 6: .*indices from 0 to 2 and ascending, not '{3 1}'"),
        (HEAD + "@data\n{a 1}\n", "line 6: .*indices .*not '{a 1}'"),
        (HEAD + "@data\n{0 {}\n", "line 6: braces hold"),
        (HEAD + "@data\n{0 x}\n", "line 6, column 'a': 'x' is not a finite number"),
        (HEAD + "@data\n1e999,u,p\n", "line 6, column 'a': '1e999' is not a finite number"),
        (HEAD + "@data\n1,'?',p\n", "line 6, column 'b': '[?]' is not declared; allowed are u, v w, x"),
        (HEAD + "@data\n1,'',p\n", "line 6, column 'b': '' is not declared"),
        (HEAD + "@data\n{1 y}\n", "line 6, column 'b': 'y' is not declared"),
    ],
)
def test_refused(tmp_path, text, match):
    with pytest.raises(DataError, match=match) as error:
        read(tmp_path, text)
    assert "t.arff" in str(error.value) and "\n" not in str(error.value)


def test_values_are_checked_without_a_class_too(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text(HEAD + "@data\n1,y,p\n")
    with pytest.raises(DataError, match="line 6, column 'b': 'y' is not declared"):
        list(open_stream(path, class_name=False))


def test_long_words_and_lists(tmp_path):
    values = [f"v{i}" for i in range(20_000)]
    long = "x" * 200_000
    text = (
        f"@relation r\n@attribute a {{{','.join(values)}}}\n@attribute b {{{long},u}}\n"
        f"@attribute s string\n@attribute class {{p,q}}\n@data\nv19999,{long},{long},p\n"
    )
    for rows in (text, text + "v3,'u',\"y\",q\n"):
        stream, X, _ = read(tmp_path, rows, ignore=["s"])
        assert stream.schema.attributes[0].values == tuple(values)
        assert X["a"][0] == "v19999" and X["b"][0] == long


def test_ordinary_rows_are_plain():
    """Those are read as fast as other delimited text."""
    assert is_plain("1,u,p\n?,'v w',q\n-3e5, 'v, w',ä\n")
    quoted = [r"'a\'b',1", "'a',\"b\"", "' a',1", "'a ',1", "''", "'?',1", "'a' ,1", "'a'b,1", "a'b,1"]
    for row in [*quoted, "{0 1}", "1,{1}", "1 % c", "1,\x0bu", "\xa0u,1"]:
        assert not is_plain("1,u\n" + row + "\n"), row


def test_rows_take_no_longer_than_they_are_long():
    """No quote is looked for twice, nor a blank."""
    for piece in ("  ", "' ", "'\\'", '",', " ,", "x "):
        for end in ("", "{", "'", '"x'):
            with suppress(ValueError):
                words(piece * 100_000 + end)
