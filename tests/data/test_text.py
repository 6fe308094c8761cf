"""Delimited text: the fast way to read it gives what the definition gives, or leaves it alone."""

import numpy as np
import pytest
from bregalad.data import DataError
from bregalad.data.formats import text as module
from bregalad.data.formats.lines import Block
from bregalad.data.formats.text import Layout, fields_of, parse, sniff
from hypothesis import assume, given, settings
from hypothesis import strategies as st

NUMBERS = st.one_of(
    st.floats().map(repr),
    st.floats(width=32).map(str),
    st.integers(-(2**70), 2**70).map(str),
    st.sampled_from(
        [
            *("", "?", "NA", "NaN", "nan", "NAN", "-nan", "nan(1)", "1_000", "0x10", "0x1p3", "inf", "Infinity"),
            *("-infinity", "1e400", "1e-400", "4.9e-324", "1,5", "1.5", "1.500,5", "1d5", "1f", "1.", ".5", ".", "-"),
            *("+", "+1", "++1", "1e", "1e+", "e5", "1 2", "1\N{NO-BREAK SPACE}500", "\N{ARABIC-INDIC DIGIT ONE}"),
            *("007", "True", "NULL", "-0", "9007199254740993", "18446744073709551616", '"', '"1"'),
        ]
    ),
)
WORDS = st.one_of(
    st.text(st.sampled_from('ab01"?#,;. \t\N{NO-BREAK SPACE}é\x1c'), max_size=4),
    st.sampled_from(
        [
            *("01", "1", "1.0", "TRUE", "NA", '"a, b"', '"a ""b"""', '""', '"?"', '" a"', 'a"b', '"a"b', '"', '"a'),
            *("#", "\0"),
        ]
    ),
)
PLACES = {"a": 0, "b": 1, "c": 2, "d": 3}
BLANKS = st.sampled_from(["", "", "", " ", "\t", "  "])


@st.composite
def texts(draw):
    """A text of two numeric columns and two of words, mostly regular, and its layout."""
    delimiter = draw(st.sampled_from(",;\t|"))
    layout = Layout(
        "t.csv",
        delimiter,
        quote=draw(st.sampled_from("\"'")),
        comment=draw(st.sampled_from([None, None, "%"])),
        decimal=draw(st.sampled_from([".", ".", ","])),
    )
    plain = st.integers(-99, 99).map(str)
    wild = draw(st.booleans())  # else a text that the fast way should take
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        fields = [
            draw(NUMBERS if wild else plain),
            draw(WORDS if wild else st.sampled_from("ab")),
            draw(NUMBERS if draw(st.integers(0, 9)) == 0 else plain),
            draw(WORDS if draw(st.integers(0, 9)) == 0 else st.sampled_from(["x", "y", ""])),
        ]
        odd = draw(st.integers(0, 40))
        if odd == 0:
            fields = fields[:-1]
        elif odd == 1:
            fields.append("")
        elif odd == 2:
            fields = [draw(st.sampled_from(["", " ", "%", "# comment"]))]
        blank = draw(BLANKS) if wild else ""
        lines.append(delimiter.join(blank + field + blank for field in fields))
    return "\n".join(lines).replace("\r", "") + "\n", layout


def block(text, layout):
    return Block(text.encode().split(b"\n")[:-1], 1, layout)


def outcome(function, *args):
    try:
        return function(*args)
    except DataError as error:
        return str(error)


@settings(max_examples=1000, deadline=None, print_blob=True)
@given(made=texts(), kept=st.sampled_from(["abcd", "d", "ab", "bd", "dca"]))
def test_the_fast_way_is_the_plain_one(made, kept):
    """The same table, to the bit, or the same error."""
    text, layout = made
    places, numeric = {name: PLACES[name] for name in kept}, {"a", "c"}
    if "\0" in text:
        with pytest.raises(DataError, match="a NUL character"):
            block(text, layout)
        return
    assume(not block(text, layout).is_empty)
    fast = outcome(parse, block(text, layout), layout, 4, places, numeric)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_parse_fast", lambda *_: None)
        plain = outcome(parse, block(text, layout), layout, 4, places, numeric)
    if isinstance(plain, str):
        assert fast == plain
        return
    assert not isinstance(fast, str), fast
    assert len(fast) == len(plain)
    for name in plain:
        if name in numeric:
            np.testing.assert_array_equal(fast[name].to_numpy(), plain[name].to_numpy())
            assert fast[name].dtype == np.float64
        else:
            assert (
                fast[name].astype(object).where(fast[name].notna(), None).tolist()
                == plain[name].astype(object).where(plain[name].notna(), None).tolist()
            )


@pytest.mark.parametrize(
    "text",
    [
        "1,a,2,x\n3,b,4,\n",
        '1,"a",2,"x"\n3,"b, c",4,y\n',
        '1,"a ""q""",2,x\n',
        "1, a, 2, x\n",
        "?,a,NA,x\n,?,nan,y\n",
        "1,é,2,x\n",
        "1e5,a,-2.5E-3,x\n",
        "+1,a,1.,x\n",
    ],
)
def test_what_the_fast_way_takes(text, monkeypatch):
    """It is no use if it leaves everything alone."""
    monkeypatch.setattr(module, "table_of", None)
    layout = Layout("t.csv", ",")
    table = parse(block(text, layout), layout, 4, PLACES, {"a", "c"})
    assert len(table) == text.count("\n")


def test_a_long_line_does_not_make_up_for_a_short_one():
    layout = Layout("t.csv", ",")
    for text in ("1,a,2,x\n1,a,2\n1,a,2,x,y\n", "1,a,2,x,y\n1,a,2\n"):
        with pytest.raises(DataError, match="fields?, but 4 columns"):
            parse(block(text, layout), layout, 4, PLACES, {"a", "c"})


def test_fields_of_any_length():
    layout = Layout("t.csv", ",")
    assert fields_of(f'{"a" * 300_000},"{"b" * 300_000}"', layout)[1] == "b" * 300_000
    with pytest.raises(DataError, match="is not closed on its line"):
        fields_of('1,a,"no', layout)


@pytest.mark.parametrize(
    "lines, decimal, delimiter",
    [
        (["1,5;2,5;x", "2,5;3,5;y"], ".", ";"),
        (["1,5;2,5", "2,5;3,5"], ".", ";"),
        (["1,5|2", "2,5|3"], ".", "|"),
        (["1,5\t2,5", "2,5\t3,5"], ".", "\t"),
        (["1,2,a;b", "3,4,c;d"], ".", ","),
        (["1,5", "2,5"], ".", ","),
        (["a;b,c", "1,5;2,x"], ",", ";"),
        (["a", "b"], ".", ","),
        (["a b,c", "d,e"], ".", ","),
    ],
)
def test_delimiters(lines, decimal, delimiter):
    assert sniff(lines, decimal) == delimiter
