"""ARFF as Weka writes and reads it, in all notations, and what is refused by line."""

import numpy as np
import pandas as pd
import pytest
from bregalad.data import Attribute, DataError, Schema, Stream, open_stream
from bregalad.data.formats.arff_rows import is_plain
from bregalad.data.formats.notation import between_commas, divided, quoted, tokens
from bregalad.data.formats.writers import write_stream
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff

HEAD = "@relation r\n@attribute a numeric\n@attribute b {u,'v w',x}\n@attribute class {p,q}\n"


def read(tmp_path, text, name="t.arff", **options):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    stream = open_stream(path, **options)
    chunks = list(stream)
    X = pd.concat([X for X, _ in chunks], ignore_index=True)
    return (
        stream,
        {name: [None if v != v else v for v in X[name].tolist()] for name in X},
        np.concatenate([y for _, y in chunks]).tolist(),
    )


@pytest.mark.parametrize(
    "written, word",
    [
        (r"'\'(-inf-2.5]\''", "'(-inf-2.5]'"),
        (r"'don\'t know'", "don't know"),
        (r"'it\'s, well'", "it's, well"),
        (r"'C:\\x'", r"C:\x"),
        (r"'50\%'", "50%"),
        (r"'\"p\"'", '"p"'),
        (r"'a\tb\nc\rd'", "a\tb\nc\rd"),
        (r"'\u001E\u00e4'", "\x1eä"),
        (r"'\036\7x'", "\x1e\x07x"),
        ('"user\'s"', "user's"),
        (r'"say \"p\""', 'say "p"'),
        ("'{1}'", "{1}"),
        ("' p '", " p "),
        ("''", ""),
        (r"C:\x", r"C:\x"),
        ("don't", "don't"),
        ("'%'", "%"),
        ("\xa0p", "\xa0p"),
        ("'?x'", "?x"),
    ],
)
def test_words(tmp_path, written, word):
    """As a name, a value and a label, declared and in the data, beside a row of the other kind."""
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
        "1 u p\n? 'v w' q\n",
        "1\tu\tp\n?\t\t'v w'\tq\n",
        ' 1, u , p \n?,"v w",q\n',
        "1,u,p,{1}\n? , 'v w', q , {1.0}\n",
        "1,u,p {1}\n?,'v w',q % a comment\n",
        "1,u,p,\n?,v w,q,\n",
        "% one\n\n1,u,p\n   % two\n,'v w',q\n",
        "{0 1}\n { 0 ?, 1 'v w', 2 q }\n",
        "{0 1,1 u,2 p},{1}\n?,'v w',q\n",
        '{0 1 1 u}\n{0 ?\t1 "v w",2 q} % a comment\n',
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
        ("a real {1}", "numeric", ()),
        ("'a'{x,y}", "nominal", ("x", "y")),
        ("a{x y}", "nominal", ("x", "y")),
        ("a\t{ x\ty }", "nominal", ("x", "y")),
        ("a {x,y,}", "nominal", ("x", "y")),
        ("a {x, y} {1} % two", "nominal", ("x", "y")),
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
    with pytest.raises(DataError, match="line 7: a sparse row leaves out column 'id', but no"):
        read(tmp_path, text, nominal=["id"])


def test_columns_of_other_kinds(tmp_path):
    """They are no obstacle where they are left out; words of strings and dates may be asked for."""
    head = (
        "@relation r\n@attribute id string\n@attribute t date 'yyyy-MM-dd HH:mm'\n"
        "@attribute bag relational\n  @attribute inner numeric\n@end bag\n"
        "@attribute none {}\n@attribute what {?,x}\n"
    )
    text = head + HEAD[12:] + "@data\nq1,'2020-01-01 10:00','1\\n2',?,?,1,u,p\n"
    odd = ["id", "t", "bag", "none", "what"]
    stream, X, y = read(tmp_path, text, ignore=odd)
    assert X == {"a": [1], "b": ["u"]} and y == ["p"]
    _, X, _ = read(tmp_path, text, ignore=odd[2:], nominal=odd[:2])
    assert X["id"] == ["q1"] and X["t"] == ["2020-01-01 10:00"]
    for name, line, why in [
        ("id", 2, "of kind string cannot be learnt.*words with nominal=.'id'"),
        ("t", 3, "of kind date cannot be learnt.*words with nominal=.'t'"),
        ("bag", 4, "of kind relational cannot be learnt"),
        ("none", 7, "declares no value"),
        ("what", 8, "declares the value [?], which stands for a missing one"),
    ]:
        with pytest.raises(DataError, match=rf"t.arff, line {line}: .*{why}.*") as error:
            read(tmp_path, text, ignore=[other for other in odd if other != name])
        assert f"leave the column out with ignore=['{name}'] (--ignore)" in str(error.value)
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
        (HEAD + "@attribute c\n@data\n", "line 5: attribute 'c' has no kind; allowed are numeric"),
        (HEAD + "@attribute a real\n@data\n", "line 5: column 'a' is named twice"),
        (HEAD + "@attribute my num real\n@data\n", "line 5: attribute 'my' is of kind 'num'; .*a name"),
        (HEAD + "@attribute c {x,y\n@data\n", "line 5: the values of 'c' must stand in braces on one"),
        (HEAD + "@attribute c {50%,y}\n@data\n", "line 5: the values of 'c' .*those with a brace or %"),
        (HEAD + "@attribute c {x,x}\n@data\n", "line 5: attribute 'c': value 'x' is given twice"),
        (HEAD + "@attribute c {'x,y}\n@data\n", "line 5: a quote ' is not closed on its line"),
        (HEAD + "@attribute c {'x'y}\n@data\n", "line 5: a comma or a blank is expected after the"),
        (HEAD + "@attribute c real {2}\n@data\n", "line 5: attribute 'c' has a weight"),
        (HEAD + "@data\n1,'u,p\n", "line 6: a quote ' is not closed on its line"),
        (HEAD + "@data\n1,'u'x,p\n", "line 6: a comma or a blank is expected after the quoted 'u'"),
        (HEAD + "@data\n1 u\n", "line 6: 2 fields, but 3 columns"),
        (HEAD + "@data\n1,u,p,x\n", "line 6: 4 fields, but 3 columns"),
        (HEAD + "@data\n1,u,p\n1,u,p,{5}\n", "line 7: the instance has the weight 5; allowed is 1"),
        (HEAD + "@data\n1,u,p,{x}\n", "line 6: the instance has the weight x; allowed is 1"),
        (HEAD + "@data\n{0 1},{0.5}\n", "line 6: the instance has the weight 0.5"),
        (HEAD + "@data\n1,{u},p\n", "line 6: a word with a brace in it stands in quotes"),
        (HEAD + "@data\n{0 1\n", "line 6: a sparse row stands in braces"),
        (HEAD + "@data\n}\n", "line 6: a sparse row stands in braces"),
        (HEAD + "@data\n{0 1, 2}\n", "line 6: a sparse row has an index before each value"),
        (HEAD + "@data\n{1 u, 0 1}\n", "line 6: .*index must be a number from 2 to 2, .*not '0'"),
        (HEAD + "@data\n{3 1}\n", "line 6: .*index must be a number from 0 to 2, .*not '3'"),
        (HEAD + "@data\n{a 1}\n", "line 6: .*index must be a number .*not 'a'"),
        (HEAD + "@data\n{0 {}\n", "line 6: .*braces|line 6: a value is expected"),
        (HEAD + "@data\n{0 x}\n", "line 6, column 'a': 'x' is not a finite number"),
        (HEAD + "@data\n1e999 u p\n", "line 6, column 'a': '1e999' is not a finite number"),
        (HEAD + "@data\n'',u,p\n", "line 6, column 'a': '' is not a finite number"),
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
    assert is_plain('1,"v w",x\n"v",5,6\n')
    for row in (
        r"'a\'b',1",
        "{0 1}",
        "1,{1}",
        "1 % c",
        "'a',\"b\"",
        "' a',1",
        "'a ',1",
        "''",
        "'?',1",
        "'a' ,1",
        "'a'b,1",
        "a'b,1",
        "1,\x0bu",
        "\xa0u,1",
    ):
        assert not is_plain("1,u\n" + row + "\n"), row


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8).filter(
    lambda word: word != "?"
) | st.sampled_from(
    [
        "a",
        "b c",
        "it's",
        'say "p"',
        "\\",
        "\\n",
        "50%",
        "{1}",
        "x,y",
        " p ",
        "",
        "'",
        "\n",
        "\t",
        "NA",
        "nan",
        "1",
        "01",
        "@data",
        "\x1e",
        "\xa0",
        "\x85",
        "\u2028",
        "C:\\x'",
    ]
)


def by_weka(word, quote="'"):
    """What weka.core.Utils.quote makes of a word; always in quotes if ``quote`` is a double one."""
    escaped = word
    for plain, letter in (
        ("\\", "\\"),
        ("'", "'"),
        ("\t", "t"),
        ("\n", "n"),
        ("\r", "r"),
        ('"', '"'),
        ("%", "%"),
        ("\x1e", "u001E"),
    ):
        escaped = escaped.replace(plain, "\\" + letter)
    # Weka leaves other control characters bare, and reads them as blanks: quotes keep them.
    bare = escaped == word and word and word != "?" and not any(c in "{}, " or c < " " for c in word) and quote == "'"
    return word if bare else quote + escaped + quote


@st.composite
def relations(draw):
    names = draw(st.lists(WORDS.filter(bool), min_size=2, max_size=5, unique=True))
    kinds = [draw(st.none() | st.lists(WORDS, min_size=1, max_size=4, unique=True)) for _ in names[1:]]
    kinds.append(draw(st.lists(WORDS, min_size=1, max_size=3, unique=True)))  # the class
    numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
    rows = draw(
        st.lists(
            st.tuples(
                *(numbers if v is None else st.sampled_from(v) | st.none() for v in kinds[:-1]),
                st.sampled_from(kinds[-1]),
            ),
            min_size=1,
            max_size=6,
        )
    )
    return names, kinds, rows


@settings(max_examples=150, deadline=None)
@given(
    relations(),
    st.sampled_from(["'", '"']),
    st.sampled_from([",", ", ", "\t", " "]),
    st.booleans(),
    st.sampled_from([1, 100]),
)
def test_random_relations(tmp_path_factory, relation, quote, divider, sparse, chunk):
    """Written by Weka's rules, they are read exactly."""
    names, kinds, rows = relation

    def field(value):
        return "?" if value is None else repr(value) if isinstance(value, float) else by_weka(value, quote)

    lines = ["@relation " + by_weka("a b")]
    for name, values in zip(names, kinds, strict=True):
        what = "numeric" if values is None else "{" + ",".join(map(field, values)) + "}"
        lines.append(f"@attribute {by_weka(name)} {what}")
    lines.append("@data")
    absent = [0.0 if values is None else values[0] for values in kinds]
    for i, row in enumerate(rows):
        if sparse and i % 2:
            lines.append(
                "{" + ",".join(f"{j} {field(value)}" for j, value in enumerate(row) if value != absent[j]) + "}"
            )
        else:
            lines.append(divider.join(map(field, row)))
    folder = tmp_path_factory.mktemp("arff")
    (folder / "t.arff").write_text("\n".join(lines), encoding="utf-8", newline="")
    check_rows(folder / "t.arff", relation, chunk)


@pytest.mark.parametrize("chunk", [1, 100])
def test_a_row_of_no_break_spaces_is_no_blank_line(tmp_path, chunk):
    text = "@relation r\n@attribute a {'\xa0',b}\n@attribute c {'\xa0',d}\n@data\n\xa0\t\xa0\nb\td\n"
    (tmp_path / "t.arff").write_text(text, encoding="utf-8")
    relation = ["a", "c"], [["\xa0", "b"], ["\xa0", "d"]], [("\xa0", "\xa0"), ("b", "d")]
    check_rows(tmp_path / "t.arff", relation, chunk)


def check_rows(path, relation, chunk, **options):
    names, kinds, rows = relation
    stream = open_stream(path, chunk=chunk, **options)
    assert stream.schema.names == tuple(names[:-1]) and stream.schema.class_name == names[-1]
    if not options:
        assert [a.values for a in stream.schema.attributes] == [tuple(v or ()) for v in kinds[:-1]]
        assert stream.schema.classes == tuple(kinds[-1])
    found = [
        (*row, label) for X, y in stream for row, label in zip(X.astype(object).itertuples(index=False), y, strict=True)
    ]
    assert [tuple(None if v != v else v for v in row) for row in found] == [tuple(r) for r in rows]


class Rows(Stream):
    """A relation as a stream of one chunk."""

    def __init__(self, relation):
        names, kinds, rows = relation
        self.schema = Schema(
            tuple(
                Attribute(name, "nominal" if values else "numeric", values or ())
                for name, values in zip(names[:-1], kinds[:-1], strict=True)
            ),
            names[-1],
            tuple(kinds[-1]),
        )
        self.rows = rows

    def __iter__(self):
        columns = list(zip(*self.rows, strict=True))
        yield (
            pd.DataFrame(
                {
                    a.name: pd.Categorical(column, list(a.values)) if a.values else np.array(column, np.float64)
                    for a, column in zip(self.schema.attributes, columns[:-1], strict=True)
                }
            ),
            np.array(columns[-1], object),
        )


@settings(max_examples=100, deadline=None)
@given(relations(), st.sampled_from([1, 100]))
def test_what_is_written_is_read_again(tmp_path_factory, relation, chunk):
    folder = tmp_path_factory.mktemp("arff")
    write_stream(Rows(relation), folder / "t.arff")
    check_rows(folder / "t.arff", relation, chunk)


@pytest.mark.parametrize("suffix", [".parquet", ".tsv", ".csv"])
@settings(max_examples=50, deadline=None)
@given(relations(), st.sampled_from([1, 100]))
def test_other_formats_hold_the_word_or_refuse_it(tmp_path_factory, suffix, relation, chunk):
    path = tmp_path_factory.mktemp("written") / f"t{suffix}"
    words = {word for column in zip(*relation[2], strict=True) for word in column if isinstance(word, str)}
    try:
        write_stream(Rows(relation), path)
    except ValueError as error:
        assert any(f"cannot hold the word {word!r}" in str(error) for word in words.union(relation[0]))
        return
    kinds = {
        "nominal": [name for name, values in zip(*relation[:2], strict=True) if values],
        "numeric": [name for name, values in zip(*relation[:2], strict=True) if not values],
    }
    check_rows(path, relation, chunk, header=True, **kinds)


@settings(max_examples=300, deadline=None)
@given(WORDS)
def test_words_are_written_as_weka_reads_them(word):
    """Java's StreamTokenizer, as Weka sets it up, makes the word again of what is written."""
    written = quoted(word)
    assert "\n" not in written and "\r" not in written
    if written[0] != "'":
        assert written == word and not set(written) & set("{},%'\"") and min(written) > " "
        return
    found, rest = "", written[1:]
    while rest[0] != "'":
        character, rest = rest[0], rest[1:]
        if character == "\\":
            character, rest = rest[0], rest[1:]
            if character in "01234567":
                digits = character
                while len(digits) < (3 if digits[0] < "4" else 2) and rest[0] in "01234567":
                    digits, rest = digits + rest[0], rest[1:]
                character = chr(int(digits, 8))
            else:
                character = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}.get(
                    character, character
                )
        found += character
    assert rest == "'" and found == word
    assert [token.text for token in tokens(written)] == [word]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.lists(
            WORDS | st.sampled_from(["?", "New York", "' p '", '"q"', "'a\\tb'", "''", "'?'", "\t"]),
            min_size=1,
            max_size=4,
        ).map(" ".join),
        min_size=1,
        max_size=4,
    ).map(",".join)
)
def test_two_ways_to_divide_a_row(line):
    """The quick one says what the thorough one does, wherever it says something."""
    line = line.replace("\n", " ")
    fields = between_commas(line)
    if fields is None:
        return
    words = divided(tokens(line), len(fields))
    assert [None if word == ("word", "") or word == ("word", "?") else word.text for word in words] == fields


def test_rows_take_no_longer_than_they_are_long():
    """No quote is looked for twice, nor a blank."""
    for piece in ("  ", "' ", "'\\'", '",', " ,", "x "):
        for end in ("", "{", "'", '"x'):
            assert between_commas(piece * 100_000 + end) is None or end == ""


def test_scipy_reads_what_is_written(tmp_path):
    """But words in quotes, of which SciPy keeps the quotes in the data, so none here."""
    relation = (
        ["a", "b c", "y"],
        [None, ["u", "v-w"], ["p", "q_r"]],
        [(1.5, "u", "p"), (None, "v-w", "q_r"), (-2e-300, "v-w", "p")],
    )
    write_stream(Rows(relation), tmp_path / "t.arff")
    data, meta = scipy_arff.loadarff(tmp_path / "t.arff")
    assert meta.names() == ["a", "b c", "y"]
    np.testing.assert_equal(data["a"], [1.5, np.nan, -2e-300])
    assert [v.decode() for v in data["y"]] == ["p", "q_r", "p"]
    assert [v.decode() for v in data["b c"]] == ["u", "v-w", "v-w"]
