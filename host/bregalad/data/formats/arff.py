"""ARFF files, as Weka reads and writes them: columns are declared in a header, data are delimited text.

The tokens are our own, since no library has all of what files hold: SciPy undoes no escape and
knows one kind of quote, liac-arff (2020) reads neither weights nor blanks as dividers, and both
read data without line numbers.
"""

import re
from typing import NamedTuple

from ...words import counted
from ..schema import Attribute, DataError
from .files import open_lines
from .lines import Block
from .sources import LineSource
from .text import MISSING_WORDS, Layout, parse, table_of

_BLANKS = "".join(map(chr, range(33)))  # all characters up to the space
# A quote within a word is a letter here (Weka would begin another word).
_TOKEN = re.compile(
    r"""
    ([\x00-\x20]*) (?: ([,{}]) | %.* |
    '([^'\\\n]*(?:\\.[^'\\\n]*)*)' | "([^"\\\n]*(?:\\.[^"\\\n]*)*)" |
    ([^\x00-\x20,{}%'"][^\x00-\x20,{}%]*))
""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|[0-3][0-7]{0,2}|[4-7][0-7]?|.)")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_SPECIAL = re.compile(r"""[\\'"%\x00-\x1f]""")
_WORD = re.compile(r"[A-Za-z0-9_\-+.:/=<>]+", re.ASCII)

_DECLARATION = re.compile(r"""[\x00-\x20]*(@[^\x00-\x20'"{},%]*)(.*)""", re.DOTALL)
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
        self._inner = False  # whether the attributes of a relational one are passed over
        with open_lines(path) as lines:
            while not self._declared(lines):
                pass
        # What a sparse row leaves out is 0, or the first value declared.
        self._absent = [
            a.values[0] if a.values else _UNKNOWN if i in self._refusals else "0" for i, a in enumerate(self.attributes)
        ]

    def refusal(self, index, declared, label):
        """Why a column cannot be learnt, or None; words are taken if ``declared`` nominal."""
        reason, words = self._refusals.get(index, ("", False))
        if not reason or words and declared == "nominal":
            return None
        name = self.columns[index]
        return (
            f"{self.path}, line {self._lines[index]}: {reason}; {_ALLOWED}; leave the column out with "
            f"ignore=[{name!r}] (--ignore)" + words * f" or take words with nominal=[{name!r}] (--nominal)"
        )

    def _table(self, block, kept, numeric):
        if is_plain(text := "".join(block.lines)):
            try:
                return parse(
                    block, Layout(self.path, ",", '"' if '"' in text else "'", "%"), self.columns, kept, numeric
                )
            except DataError:
                pass  # a row is wrong or has other dividers: what comes now says which
        places, rows = [self.columns.index(name) for name in kept], []
        for number, line in zip(block.numbers, block.lines, strict=True):
            try:
                row = _fields(line, self._absent)
                rows.append([row[place] for place in places])
                if _UNKNOWN in rows[-1]:
                    raise ValueError(
                        f"a sparse row leaves out column {kept[rows[-1].index(_UNKNOWN)]!r}, but no value is declared "
                        "that it would stand for"
                    )
            except ValueError as error:
                raise DataError(f"{self.path}, line {number}: {error}") from error
        return table_of(rows, kept, numeric, self.layout, block.numbers)

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
            if keyword == "@attribute" and not self._inner:
                self._attribute(tokens(match[2]))
            elif keyword == "@end" and self._inner:
                self._inner = False
            elif keyword == "@data":
                if tokens(match[2]):
                    raise ValueError("the data begin on the line after @data")
                if not self.attributes:
                    raise ValueError("@data without an @attribute before")
            elif keyword not in ("@relation", "@attribute"):
                raise ValueError(
                    f"{line[:40]!r} is no declaration; allowed before the data are @relation, @attribute, @data and, "
                    "after a %, comments"
                )
        except ValueError as error:
            raise DataError(f"{self.path}, line {self.skipped}: {error}") from error
        return keyword == "@data"

    def _attribute(self, line):
        if not line or line[0].kind not in ("word", "quoted") or not line[0].text:
            raise ValueError("an attribute needs a name")
        (name, *_), *rest = line
        if name in self.columns:
            raise ValueError(f"column {name!r} is named twice")
        if not rest:
            raise ValueError(f"attribute {name!r} has no kind; {_ALLOWED}")
        kind, values, reason, words = "nominal", (), "", False
        word = rest[0].text.partition("[")[0].lower()  # a range may follow it
        if rest[0].kind == "{":
            marks = [token.kind in ("{", "}") for token in rest[1:]] + [True]
            end = marks.index(True) + 1
            if end == len(rest) or rest[end].kind == "{":
                raise ValueError(
                    f"the values of {name!r} must stand in braces on one line; those with a brace or % in quotes"
                )
            values = tuple(word.text for word in _divided(rest[1:end]))
            if not values or "?" in values:
                reason = "the value ?, which stands for a missing one" if values else "no value"
                reason, values = f"attribute {name!r} declares {reason}", ()
            rest = rest[end:]
        elif word in ("numeric", "real", "integer"):
            kind = "numeric"
        elif word in ("string", "date", "relational"):
            reason, words = f"an attribute of kind {word} cannot be learnt", word != "relational"
            self._inner = not words
        else:
            raise ValueError(
                f"attribute {name!r} is of kind {rest[0].text!r}; {_ALLOWED} (a name with blanks stands in quotes)"
            )
        if any(token.kind == "{" for token in rest[1:]):
            raise ValueError(f"attribute {name!r} has a weight, which is not learnt, or else something in braces")
        if reason:
            self._refusals[len(self.attributes)] = reason, words
        self.attributes += (Attribute(name, kind, values),)
        self._lines.append(self.skipped)


class Token(NamedTuple):
    """A piece of a line: ``kind`` is "word", "quoted", or the comma or brace itself; ``blanks`` stand before it."""

    text: str
    kind: str
    blanks: str


def tokens(line):
    """The tokens of a line, the comment at its end left out, escapes within quotes undone.

    ValueError if a quote is not closed on the line, or something else than a divider follows it.
    """
    found, at, line = [], 0, line.rstrip(_BLANKS)
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None:
            quote = line[at:].lstrip(_BLANKS)[0]
            raise ValueError(f"a quote {quote} is not closed on its line (within quotes, \\{quote} stands for one)")
        at, group = match.end(), match.lastindex
        if group == 1:  # a comment
            continue
        text = match[group]
        kind = text if group == 2 else "word" if group == 5 else "quoted"
        if kind == "quoted" and "\\" in text:
            text = _ESCAPE.sub(_character, text)
        if found and found[-1].kind == "quoted" and group > 2 and not match[1]:
            raise ValueError(f"a comma or a blank is expected after the quoted {found[-1].text!r}")
        found.append(Token(text, kind, match[1]))
    return found


def _divided(line, expected=None):
    """The words of a list or of a row, tokens without braces: commas divide, and blanks where there are too few commas.

    A row has so many words as are ``expected``; one with nothing in it is empty. In a list, nothing between two commas
    is no word. Unquoted words with blanks between them, but no comma, are one word as other programs write it
    (``New York``), where the commas allow it.
    """
    fields = [[]]
    for token in line:
        if token.kind == ",":
            fields.append([])
        else:
            fields[-1].append(token)
    if len(fields) > 1 and not fields[-1] and expected in (None, len(fields) - 1):
        fields.pop()  # of a comma at the end
    apart = sum(fields, [])
    if len(fields) != expected and (len(fields) == 1 or len(apart) == expected):
        return apart
    words = []
    for field in fields:
        if len(field) > 1 and all(word.kind == "word" for word in field):
            field = [Token("".join(word.blanks + word.text for word in field).lstrip(_BLANKS), "word", "")]
        words += field or [Token("", "word", "")] * (expected is not None)
    return words


def _fields(line, absent):
    """One row's fields, None for a missing one; ``absent`` are those that sparse rows leave out."""
    found, width = tokens(line), len(absent)
    kinds = "".join(token.kind if token.kind in ",{}" else "w" for token in found)
    if "{" in kinds or "}" in kinds:
        if not re.fullmatch(r"\{,*(w,*w,*)*\}", kinds):
            raise ValueError(
                "braces hold a sparse row, {index value, index value}, an index before each value, and end it: the "
                "weight of an instance is not learnt; a word with a brace in it stands in quotes"
            )
        words = [token for token in found[1:-1] if token.kind != ","]
        row, last = list(absent), -1
        for index, value in zip(words[::2], map(_field, words[1::2]), strict=True):
            index = index.text
            if not (index.isascii() and index.isdigit() and len(index) < 10 and last < int(index) < width):
                raise ValueError(
                    f"a sparse row's index must be a number from {last + 1} to {width - 1}, ascending, not {index!r}"
                )
            last = int(index)
            row[last] = value
        return row
    words = _divided(found, width)
    if len(words) != width:
        raise ValueError(f"{counted(len(words), 'field')}, but {counted(width, 'column')}")
    return list(map(_field, words))


def _field(word):
    return None if word.kind == "word" and word.text in MISSING_WORDS else word.text


def is_plain(text):
    """Whether lines can be read as delimited text, with the one kind of quote that occurs in them.

    Not so where a rule of ARFF differs from those of other text: at escapes, comments, braces,
    two kinds of quotes, and quoted words that are empty or have blanks at an end, or begin with ?.
    """
    quotes = [quote for quote in "'\"" if quote in text]
    if len(quotes) == 2 or any(map(text.__contains__, _RARE)) or not text.isascii() and _ODD_BLANK.search(text):
        return False
    text = f"\n{text}\n"
    return all(2 * len(_SIMPLY_QUOTED[quote].findall(text)) == text.count(quote) for quote in quotes)


def quoted(text):
    """A word as ARFF writes it, in quotes and with escapes if it needs them."""
    return text if _WORD.fullmatch(text) else "'" + _SPECIAL.sub(_escaped, text) + "'"


def _character(match):
    code = match[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code[0] in "01234567" else _CONTROLS.get(code, code)


def _escaped(match):
    # Octal: of Weka's own \u001E its reader makes u001E.
    return "\\" + (match[0] if match[0] >= " " else f"{ord(match[0]):03o}")
