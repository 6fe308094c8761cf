"""ARFF of any words, as Weka writes them and as we do, is read again."""

import numpy as np
import pandas as pd
import pytest
from bregalad.data import Attribute, Schema, Stream, open_stream
from bregalad.data.formats.arff import quoted, words
from bregalad.data.formats.writers import write_stream
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8).filter(
    lambda word: word != "?"
) | st.sampled_from(
    [
        *("a", "b c", "it's", 'say "p"', "\\", "\\n", "50%", "{1}", "x,y", " p ", "", "'", "\n", "\t", "NA", "nan"),
        *("1", "01", "@data", "\x1e", "\xa0", "\x85", "\u2028", "C:\\x'"),
    ]
)


ESCAPED = str.maketrans(
    {letter: "\\" + letter for letter in "\\'\"%"} | {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\x1e": r"\u001E"}
)


def by_weka(word, quote="'"):
    """What weka.core.Utils.quote makes of a word; always in quotes if ``quote`` is a double one."""
    escaped = word.translate(ESCAPED)
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


NO_BREAK = [["\xa0", "b"], ["\xa0", "d"]]


@settings(max_examples=150, deadline=None)
@given(
    relations(),
    st.sampled_from(["'", '"']),
    st.sampled_from([",", ", ", "\t,"]),
    st.booleans(),
    st.sampled_from([1, 100]),
)
@example((["a", "c"], NO_BREAK, [("\xa0", "\xa0"), ("b", "d")]), "'", ",", False, 1)
@example((["a", "c"], NO_BREAK, [("\xa0", "\xa0"), ("b", "d")]), "'", ",", False, 100)
def test_random_relations(tmp_path_factory, relation, quote, divider, sparse, chunk):
    """Written by Weka's rules, they are read exactly; a row of no-break spaces is no blank line."""
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
    assume("\0" not in "".join(lines))  # no text has it
    folder = tmp_path_factory.mktemp("arff")
    (folder / "t.arff").write_text("\n".join(lines), encoding="utf-8", newline="")
    check_rows(folder / "t.arff", relation, chunk)


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
        names, kinds, self.rows = relation
        attributes = [
            Attribute(name, "nominal" if values else "numeric", values or ())
            for name, values in zip(names[:-1], kinds[:-1], strict=True)
        ]
        self.schema = Schema(attributes, names[-1], kinds[-1])

    def __iter__(self):
        *columns, labels = zip(*self.rows, strict=True)
        X = {
            a.name: pd.Categorical(column, list(a.values)) if a.values else np.array(column, np.float64)
            for a, column in zip(self.schema.attributes, columns, strict=True)
        }
        yield pd.DataFrame(X), np.array(labels, object)


@pytest.mark.parametrize("suffix", [".arff", ".parquet", ".tsv", ".csv"])
@settings(max_examples=100, deadline=None)
@given(relations(), st.sampled_from([1, 100]))
def test_what_is_written_is_read_again(tmp_path_factory, suffix, relation, chunk):
    """ARFF holds any word; other formats hold it, or refuse it."""
    path = tmp_path_factory.mktemp("written") / f"t{suffix}"
    words = {word for column in zip(*relation[2], strict=True) for word in column if isinstance(word, str)}
    try:
        write_stream(Rows(relation), path)
    except ValueError as error:
        assert suffix != ".arff" and any(f"cannot hold {word!r}" in str(error) for word in words.union(relation[0]))
        return
    kinds = {"header": True, "nominal": [], "numeric": []}
    for name, values in zip(*relation[:2], strict=True):
        kinds["nominal" if values else "numeric"].append(name)
    check_rows(path, relation, chunk, **({} if suffix == ".arff" else kinds))


@settings(max_examples=300, deadline=None)
@given(WORDS)
def test_words_are_written_as_weka_reads_them(word):
    """Bare where nothing in it means anything to Weka's tokenizer, else on one line, which we read as it does."""
    written = quoted(word)
    assert "\n" not in written and "\r" not in written
    if written[0] == "'":
        assert words(written) == ([word], "")
    else:
        assert written == word and not set(written) & set("{},%'\"") and min(written) > " "


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
