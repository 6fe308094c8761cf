"""ARFF files: columns are declared in a header, data are delimited text."""

import re

import numpy as np
import pandas as pd

from ...words import counted
from ..schema import Attribute, DataError
from .files import open_lines
from .lines import Block
from .notation import divided, tokens, without_blanks
from .sources import LineSource
from .text import MISSING_WORDS, Layout, number_of, parse, table_of

_KEYWORD = re.compile(r"""[\x00-\x20]*(@[^\x00-\x20'"{},%]*)(.*)""", re.DOTALL)
_NUMBERS = ("numeric", "real", "integer")
_ALLOWED = "allowed are numeric, real, integer and a list of values {a,b}"
_UNKNOWN = object()  # stands for nothing, in the list of what sparse rows leave out
_RARE = "\\{}%\0\x0b\x0c\x1c\x1d\x1e\x1f"  # escapes, sparse rows, weights, comments, odd blanks
_ODD_BLANK = re.compile(r"[^\S \t\n]")
# The quote stands first in the pattern, which makes searching for it fast.
_SIMPLY_QUOTED = {
    q: re.compile(rf"{q}(?:(?<=[,\n]{q})|(?<=, {q}))(?![\s?{q}])[^{q}\n]*(?<=\S){q}(?=[,\n])") for q in "'\""
}


class ArffSource(LineSource):
    """Weka's format: columns are declared, data are delimited text."""

    def __init__(self, path):
        self.path = path
        self.attributes = ()
        self.skipped = 0  # lines of the header, with that of @data
        self.layout = Layout(path, ",", quote="'", comment="%")
        self._lines = []  # of the attributes
        self._refusals = {}  # columns that cannot be learnt: why, and whether words can be made of them
        self._inner = None  # the relational attribute whose own attributes are passed over
        with open_lines(path) as lines:
            self._read_header(lines.texts())
        # What a sparse row leaves out is 0, or the first value declared.
        self._absent = [
            a.values[0] if a.values else _UNKNOWN if i in self._refusals else "0" for i, a in enumerate(self.attributes)
        ]

    def refusal(self, index, declared, label):
        """Why a column cannot be learnt, or None; words are taken if ``declared`` nominal."""
        if index not in self._refusals:
            return None
        reason, words = self._refusals[index]
        if words and declared == "nominal":
            return None
        name = self.columns[index]
        return (
            f"{self.path}, line {self._lines[index]}: {reason}; {_ALLOWED}; leave the column out with "
            f"ignore=[{name!r}] (--ignore)" + words * f" or take words with nominal=[{name!r}] (--nominal)"
        )

    def _table(self, block, kept, numeric):
        text = "".join(block.lines)
        if is_plain(text):
            quote = '"' if '"' in text else "'"
            plain = block
            if "," not in text and quote not in text:  # blanks and tabs divide
                commas = "".join(",".join(line.split()) + "\n" for line in block.lines)
                plain = Block(commas.encode(), block.start, self.layout)
            try:
                return parse(plain, Layout(self.path, ",", quote, "%"), self.columns, kept, numeric)
            except DataError:
                pass  # a row is wrong or mixes dividers: what comes now says which
        return self._rows(block, kept, numeric)

    def _rows(self, block, kept, numeric):
        """As `parse`, of rows in all of ARFF's notations."""
        places, rows = [self.columns.index(name) for name in kept], []
        for number, line in zip(block.numbers, block.lines, strict=True):
            try:
                row = _row(line.rstrip("\n"), len(self.attributes), self._absent)
                for place in places:
                    if row[place] is _UNKNOWN:
                        raise ValueError(
                            f"a sparse row leaves out column {self.columns[place]!r}, but no value is declared that it "
                            "would stand for"
                        )
                rows.append([row[place] for place in places])
            except ValueError as error:
                raise DataError(f"{self.path}, line {number}: {error}") from error
        columns = dict(zip(kept, zip(*rows, strict=True), strict=True))
        return table_of(columns, numeric, self.path, block.numbers, number=_number, words=pd.Categorical)

    def _read_header(self, text):
        for line in text:
            self.skipped += 1
            if not line.strip("\0 \t\n") or line.lstrip().startswith("%"):
                continue
            try:
                if self._declaration(line.rstrip("\n")):
                    break
            except ValueError as error:
                raise DataError(f"{self.path}, line {self.skipped}: {error}") from error
        else:
            raise DataError(f"{self.path}: an ARFF file needs a line @data, none found")
        if not self.attributes:
            raise DataError(f"{self.path}, line {self.skipped}: @data without an @attribute before")

    def _declaration(self, line):
        """Take one line; True if it is the one of ``@data``."""
        match = _KEYWORD.match(line)
        keyword = match and match[1].lower()
        if keyword == "@attribute":
            if self._inner is None:
                self._attribute(tokens(match[2]))
        elif keyword == "@end" and self._inner is not None:
            self._inner = None
        elif keyword == "@data":
            if without_blanks(tokens(match[2])):
                raise ValueError("the data begin on the line after @data")
            return True
        elif keyword != "@relation":
            raise ValueError(
                f"{line.strip()[:40]!r} is no declaration; allowed before the data "
                "are @relation, @attribute, @data and, after a %, comments"
            )
        return False

    def _attribute(self, line):
        first, *rest = without_blanks(line) or [None]
        if first is None or first.kind not in ("word", "quoted") or not first.text:
            raise ValueError("an attribute needs a name")
        name, index = first.text, len(self.attributes)
        if any(name == a.name for a in self.attributes):
            raise ValueError(f"column {name!r} is named twice")
        if not rest:
            raise ValueError(f"attribute {name!r} has no kind; {_ALLOWED}")
        kind, values = "nominal", ()
        word = rest[0].text.partition("[")[0].lower()  # a range may follow it
        if rest[0] == ("brace", "{"):
            start = line.index(("brace", "{"))
            values, rest = self._values(name, line[start + 1 :])
            if not values or "?" in values:
                self._refusals[index] = (
                    f"attribute {name!r} declares "
                    + ("the value ?, which stands for a missing one" if values else "no value"),
                    False,
                )
                values = ()
        elif word in _NUMBERS:
            kind, rest = "numeric", rest[1:]
        elif word in ("string", "date", "relational"):
            self._refusals[index] = (f"an attribute of kind {word} cannot be learnt", word != "relational")
            if word == "relational":
                self._inner = name
            rest = rest[1:]
        else:
            raise ValueError(
                f"attribute {name!r} is of kind {rest[0].text!r}; {_ALLOWED} (a name with blanks stands in quotes)"
            )
        if ("brace", "{") in rest:
            raise ValueError(f"attribute {name!r} has a weight, which is not learnt, or else something in braces")
        self.attributes += (Attribute(name, kind, values),)
        self._lines.append(self.skipped)

    @staticmethod
    def _values(name, line):
        """The values up to the closing brace, and the tokens after it."""
        end = next((i for i, token in enumerate(line) if token.kind == "brace"), None)
        if end is None or line[end].text != "}":
            raise ValueError(
                f"the values of {name!r} must stand in braces on one line; those with a brace or % in them in quotes"
            )
        return (tuple(word.text for word in divided(line[:end])), without_blanks(line[end + 1 :]))


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


def _row(line, width, absent):
    """One row's fields, None for a missing one."""
    found = tokens(line)
    first = next((i for i, token in enumerate(found) if token.kind == "brace"), len(found))
    if first < len(found):
        if without_blanks(found[:first]):
            raise ValueError(
                "a word with a brace in it stands in quotes; without them braces hold a sparse row, or the weight of "
                "an instance, which is not learnt: every instance counts once"
            )
        return _sparse(without_blanks(found), width, absent)
    words = divided(found, width)
    if len(words) != width:
        raise ValueError(f"{counted(len(words), 'field')}, but {counted(width, 'column')}")
    return [_field(word) for word in words]


def _sparse(found, width, absent):
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
        if not (key.text.isascii() and key.text.isdigit() and len(key.text) < 10 and last < int(key.text) < width):
            raise ValueError(
                f"a sparse row's index must be a number from {last + 1} to "
                f"{width - 1}, for they ascend, not {key.text!r}"
            )
        if value.kind == "brace":
            raise ValueError(f"a value is expected after the index {key.text}, not a brace")
        last = int(key.text)
        row[last] = _field(value)
    return row


def _field(word):
    if word.kind == "word" and word.text in ("", "?"):
        return None
    return word.text


def _number(field):
    """The number of a field, None if it is none: in quotes ? and nothing are words."""
    return np.nan if field is None else None if field in MISSING_WORDS else number_of(field)
