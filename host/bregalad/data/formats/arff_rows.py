"""The rows of ARFF data in all of its notations: quotes, escapes, blanks, sparse rows, weights."""

import re

import numpy as np
import pandas as pd

from ...words import counted
from ..schema import DataError
from .notation import divided, tokens, without_blanks
from .numerals import MISSING_WORDS, number_of
from .text import table_of

UNKNOWN = object()  # stands for nothing, in the list of what sparse rows leave out

_RARE = "\\{}%\0\x0b\x0c\x1c\x1d\x1e\x1f"  # escapes, sparse rows, weights, comments, odd blanks
_ODD_BLANK = re.compile(r"[^\S \t\n]")
# The quote stands first in the pattern, which makes searching for it fast.
_SIMPLY_QUOTED = {
    q: re.compile(rf"{q}(?:(?<=[,\n]{q})|(?<=, {q}))(?![\s?{q}])[^{q}\n]*(?<=\S){q}(?=[,\n])") for q in "'\""
}


def is_plain(text):
    """Whether lines can be read as delimited text, with the one kind of quote that occurs in them.

    Not so where a rule of ARFF differs from those of other text: at escapes, comments, braces,
    two kinds of quotes, and quoted words that are empty or have blanks at an end, or begin with ?.
    """
    if any(character in text for character in _RARE):
        return False
    if not text.isascii() and _ODD_BLANK.search(text):
        return False
    quotes = [quote for quote in "'\"" if quote in text]
    if len(quotes) < 2:
        text = f"\n{text}\n"
        return all(2 * len(_SIMPLY_QUOTED[quote].findall(text)) == text.count(quote) for quote in quotes)
    return False


def read_rows(block, path, names, absent, kept, numeric):
    """The columns ``kept`` of a block: float64 for those in ``numeric``, else words' categories.

    Parameters
    ----------
    block : Block
    path : str
        Names the file in messages.
    names : sequence of str
        All columns, in order.
    absent : list of str
        What stands for each if a sparse row leaves it out; UNKNOWN: nothing does.
    kept : sequence of str
    numeric : set of str

    Raises
    ------
    DataError
        If a row cannot be read or a field of a numeric column is no finite number; it names file,
        line and column.
    """
    places = [names.index(name) for name in kept]
    rows = []
    for number, line in zip(block.numbers, block.lines, strict=True):
        try:
            row = _row(line.rstrip("\n"), names, absent)
            rows.append([_known(row[place], names[place]) for place in places])
        except ValueError as error:
            raise DataError(f"{path}, line {number}: {error}") from error
    columns = dict(zip(kept, zip(*rows, strict=True), strict=True))
    return table_of(columns, numeric, path, block.numbers, number=_number, words=pd.Categorical)


def _row(line, names, absent):
    """One row's fields, None for a missing one."""
    found = tokens(line)
    first = next((i for i, token in enumerate(found) if token.kind == "brace"), len(found))
    if first < len(found):
        if without_blanks(found[:first]):
            raise ValueError(
                "a word with a brace in it stands in quotes; without them braces hold a sparse row, or the weight of "
                "an instance, which is not learnt: every instance counts once"
            )
        return _sparse(without_blanks(found), names, absent)
    words = divided(found, len(names))
    if len(words) != len(names):
        raise ValueError(f"{counted(len(words), 'field')}, but {counted(len(names), 'column')}")
    return [_field(word) for word in words]


def _sparse(found, names, absent):
    end = next((i for i, token in enumerate(found) if token == ("brace", "}")), None)
    if found[0].text != "{" or end is None:
        raise ValueError("a sparse row stands in braces, {index value, index value}")
    if end + 1 < len(found):
        raise ValueError("a sparse row ends with its brace; the weight of an instance is not learnt")
    pairs = [token for token in found[1:end] if token.kind != "comma"]
    if len(pairs) % 2:
        raise ValueError("a sparse row has an index before each value, {index value, index value}")
    row, last = list(absent), -1
    for key, value in zip(pairs[::2], pairs[1::2], strict=True):
        if not (key.text.isascii() and key.text.isdigit() and len(key.text) < 10 and last < int(key.text) < len(names)):
            raise ValueError(
                f"a sparse row's index must be a number from {last + 1} to "
                f"{len(names) - 1}, for they ascend, not {key.text!r}"
            )
        if value.kind == "brace":
            raise ValueError(f"a value is expected after the index {key.text}, not a brace")
        last = int(key.text)
        row[last] = _field(value)
    return row


def _known(field, name):
    if field is UNKNOWN:
        raise ValueError(f"a sparse row leaves out column {name!r}, but no value is declared that it would stand for")
    return field


def _field(word):
    if word.kind == "word" and word.text in ("", "?"):
        return None
    return word.text


def _number(field):
    """The number of a field, None if it is none: in quotes ? and nothing are words."""
    return np.nan if field is None else None if field in MISSING_WORDS else number_of(field)
