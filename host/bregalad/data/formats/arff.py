"""ARFF files, as Weka writes them: columns are declared in a header, commas divide the data.

The words are our own, since no library has all of what files hold: SciPy undoes no escape and
knows one kind of quote, liac-arff (2020) reads no weights, and both read data without line numbers.
"""

import re

from ...words import counted
from ..schema import Attribute, DataError
from .lines import Block
from .sources import LineSource
from .text import MISSING_WORDS, Layout, parse, table_of

_BLANKS = "".join(map(chr, range(33)))  # all characters up to the space
_GAP = r"[\x00-\x20]*"
_QUOTED = r"""(?:'(?P<single>[^'\\\n]*(?:\\.[^'\\\n]*)*)'|"(?P<double>[^"\\\n]*(?:\\.[^"\\\n]*)*)")"""
# A quote within a word is a letter here (Weka would begin another word).
_BEGIN = r"""[^\x00-\x20,{}%'"]"""
_WORD = rf"(?:{_QUOTED}{_GAP}|(?P<bare>{_BEGIN}[^,{{}}%]*))"
_ITEM = re.compile(rf"{_GAP}{_WORD}?(?P<end>[,{{}}]|%.*|$)", re.DOTALL)
_PAIR = re.compile(rf"[{{,]{_GAP}(?P<index>[0-9]{{1,9}})[\x00-\x20]+{_WORD}(?=[,}}])")  # of a sparse row
_SPARSE_END = re.compile(rf"{_GAP}}}{_GAP}(%.*)?")
_NAME = re.compile(rf"{_GAP}(?:{_QUOTED}|(?P<bare>{_BEGIN}[^\x00-\x20,{{}}%]*)){_GAP}(?P<rest>.*)", re.DOTALL)
_DECLARATION = re.compile(r"""(@[^\x00-\x20'"{},%]*)(.*)""", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|[0-3][0-7]{0,2}|[4-7][0-7]?|.)")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_SPECIAL = re.compile(r"""[\\'"%\x00-\x1f]""")
_SAFE = re.compile(r"[A-Za-z0-9_\-+.:/=<>]+", re.ASCII)

_ALLOWED = "allowed are numeric, real, integer and a list of values {a,b}"
_RARE = '"\\{}%\x0b\x0c\x1c\x1d\x1e\x1f'  # other quotes, escapes, sparse rows, weights, comments, odd blanks
_ODD_BLANK = re.compile(r"[^\S \t\n]")
# The quote stands first in the pattern, which makes searching for it fast.
_SIMPLY_QUOTED = re.compile(r"'(?:(?<=[,\n]')|(?<=, '))(?![\s?'])[^'\n]*(?<=\S)'(?=[,\n])")


class ArffSource(LineSource):
    """Weka's format: columns are declared, data are delimited text."""

    def __init__(self, path):
        self.path, self.once = path, path.once
        self.attributes = ()
        self.skipped = 0  # lines of the header, with that of @data
        self.layout = Layout(path, ",", quote="'", comment="%")
        self.refusals = {}
        with path.lines() as lines:
            while not self._declared(lines):
                pass
        self.width = len(self.attributes)
        self.places = range(self.width)
        # What a sparse row leaves out is 0, or the first value declared; missing if none is.
        self._absent = ["0" if a.kind == "numeric" else (*a.values, None)[0] for a in self.attributes]

    def _table(self, block, places, numeric):
        if is_plain("\n".join(block.rows.values())):
            return parse(block, self.layout, self.width, places, numeric)
        return table_of(block, lambda line: _row(line.strip(_BLANKS), self._absent), self.layout, places, numeric)

    def _declared(self, lines):
        """Take the next line of the header; whether it is that of ``@data``."""
        block = Block(lines.take(1), lines.number, self.layout)
        if not block.data:
            raise DataError(f"{self.path}: an ARFF file needs a line @data, none found")
        self.skipped, line = lines.number, block.text.strip(_BLANKS)
        if not line or line.startswith("%"):
            return False
        try:
            match = _DECLARATION.match(line)
            keyword = match and match[1].lower()
            if keyword == "@attribute":
                self._attribute(match[2])
            elif keyword == "@data":
                if match[2].partition("%")[0].strip(_BLANKS):
                    raise ValueError("the data begin on the line after @data")
                if not self.attributes:
                    raise ValueError("@data without an @attribute before")
            elif keyword != "@relation":
                raise ValueError(
                    f"{line[:40]!r} is no declaration; allowed before the data are @relation, @attribute, @data and, "
                    "after a %, comments"
                )
        except ValueError as error:
            raise DataError(f"{self.path}, line {self.skipped}: {error}") from error
        return keyword == "@data"

    def _attribute(self, text):
        match = _NAME.match(text)
        if match is None or not (name := _word(match)):
            raise ValueError("an attribute needs a name (one with blanks stands in quotes)")
        if name in self.columns:
            raise ValueError(f"column {name!r} is named twice")
        kind, values, reason, rest = "nominal", (), "", match["rest"]
        word = re.match("[A-Za-z]*", rest)[0].lower()
        if rest.startswith("{"):
            values, rest = words(rest, 1)
            if not rest.startswith("}"):
                raise ValueError(
                    f"the values of {name!r} must stand in braces on one line; those with a brace or % in quotes"
                )
            rest = rest[1:]
            if None in values or "?" in values:
                reason = "it declares no value, or one that stands for a missing one"
                values = ()
        elif word in ("numeric", "real", "integer"):
            kind = "numeric"
        elif word in ("string", "date"):
            reason = f"an attribute of kind {word} cannot be learnt"
        else:
            raise ValueError(
                f"attribute {name!r} is of kind {rest.partition(' ')[0]!r}; {_ALLOWED} (a name with blanks stands in "
                "quotes)"
            )
        if "{" in rest.partition("%")[0]:
            raise ValueError(f"attribute {name!r} has a weight, which is not learnt, or else something in braces")
        if reason:
            place = f"{self.path}, line {self.skipped}"
            self.refusals[len(self.attributes)] = place, f"{reason}; {_ALLOWED}", word in ("string", "date")
        self.attributes += (Attribute(name, kind, tuple(values)),)


def words(line, at=0):
    """The words that commas divide, from a place on, None for missing ones, and the rest of the line from a brace on.

    ValueError if a quote is not closed on the line, or something else than a comma follows it.
    """
    found = []
    while True:
        match = _ITEM.match(line, at)
        if match is None:
            quote = line[at:].lstrip(_BLANKS)[0]
            raise ValueError(
                f"a quote {quote} is not closed on its line, or something else than a comma follows it (within quotes, "
                f"\\{quote} stands for one)"
            )
        found.append(_word(match))
        at = match.end()
        if match["end"] != ",":
            return found, "" if match["end"].startswith("%") else line[match.start("end") :]


def _row(line, absent):
    """One row's fields, None for a missing one; ``absent`` are those that sparse rows leave out."""
    if line.startswith("{"):
        row, at, last = list(absent), 0, -1
        while (pair := _PAIR.match(line, at)) and last < int(pair["index"]) < len(row):
            at, last = pair.end(), int(pair["index"])
            row[last] = _word(pair)
        rest = "" if _SPARSE_END.fullmatch(line, at or 1) else line[at:]
    else:
        row, rest = words(line)
    if rest:
        raise ValueError(
            f"braces hold a sparse row, {{index value, index value}}, its indices from 0 to {len(absent) - 1} and "
            f"ascending, not {rest[:40]!r}; the weight of an instance is not learnt, a word with a brace is quoted"
        )
    if len(row) != len(absent):
        raise ValueError(f"{counted(len(row), 'field')}, but {counted(len(absent), 'column')}")
    return row


def _word(match):
    """The word of a match without its quotes and escapes; None for a missing one."""
    text = match["single"] if match["double"] is None else match["double"]
    if text is None:
        text = (match["bare"] or "").rstrip(_BLANKS)
        return None if text in MISSING_WORDS else text
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def is_plain(text):
    """Whether lines can be read as delimited text, single quotes being its quotes.

    Not so where a rule of ARFF differs: at escapes, comments, braces, double quotes, and quoted words that are empty or
    have blanks at an end, or begin with ?.
    """
    if any(map(text.__contains__, _RARE)) or not text.isascii() and _ODD_BLANK.search(text):
        return False
    return 2 * len(_SIMPLY_QUOTED.findall(f"\n{text}\n")) == text.count("'")


def quoted(text):
    """A word as ARFF writes it, in quotes and with escapes if it needs them."""
    return text if _SAFE.fullmatch(text) else "'" + _SPECIAL.sub(_escaped, text) + "'"


def _character(match):
    code = match[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code[0] in "01234567" else _CONTROLS.get(code, code)


def _escaped(match):
    # Octal: of Weka's own \u001E its reader makes u001E.
    return "\\" + (match[0] if match[0] >= " " else f"{ord(match[0]):03o}")
