"""ARFF files: columns are declared in a header, data are delimited text."""

import re

from ..schema import Attribute, DataError
from .arff_rows import UNKNOWN, is_plain, read_rows
from .files import open_lines
from .lines import Block
from .notation import divided, tokens, without_blanks
from .sources import LineSource
from .text import Layout, parse

_KEYWORD = re.compile(r"""[\x00-\x20]*(@[^\x00-\x20'"{},%]*)(.*)""", re.DOTALL)
_NUMBERS = ("numeric", "real", "integer")
_ALLOWED = "allowed are numeric, real, integer and a list of values {a,b}"


class ArffSource(LineSource):
    """Weka's format: columns are declared, data are delimited text."""

    def __init__(self, path):
        self.path = path
        with open_lines(path) as lines:
            header = _Header(path)
            header.read(lines.texts())
        self.attributes = tuple(header.attributes)
        self.skipped = header.lines
        self.layout = Layout(path, ",", quote="'", comment="%")
        self._refusals = header.refusals
        self._lines = header.numbers
        # What a sparse row leaves out is 0, or the first value declared.
        self._absent = [
            a.values[0] if a.values else UNKNOWN if i in header.refusals else "0" for i, a in enumerate(self.attributes)
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
        return read_rows(block, self.path, self.columns, self._absent, kept, numeric)


class _Header:
    """The declarations of an ARFF file, read up to the first line of its data.

    Attributes
    ----------
    attributes : list of Attribute
        All columns, the class among them.
    numbers : list of int
        The line of each.
    refusals : dict of int: (str, bool)
        The columns that cannot be learnt, why, and whether words can be made of them.
    lines : int
        Lines read.
    """

    def __init__(self, path):
        self.path = path
        self.attributes, self.numbers, self.refusals = [], [], {}
        self.lines = 0
        self._inner = None  # the relational attribute whose own attributes are passed over

    def read(self, text):
        """Read an open text.

        Raises
        ------
        DataError
            If there is no ``@data``, no attribute, or a line that is no declaration.
        """
        for line in text:
            self.lines += 1
            if not line.strip("\0 \t\n") or line.lstrip().startswith("%"):
                continue
            try:
                if self._declaration(line.rstrip("\n")):
                    break
            except ValueError as error:
                raise DataError(f"{self.path}, line {self.lines}: {error}") from error
        else:
            raise DataError(f"{self.path}: an ARFF file needs a line @data, none found")
        if not self.attributes:
            raise DataError(f"{self.path}, line {self.lines}: @data without an @attribute before")

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
                self.refusals[index] = (
                    f"attribute {name!r} declares "
                    + ("the value ?, which stands for a missing one" if values else "no value"),
                    False,
                )
                values = ()
        elif word in _NUMBERS:
            kind, rest = "numeric", rest[1:]
        elif word in ("string", "date", "relational"):
            self.refusals[index] = (f"an attribute of kind {word} cannot be learnt", word != "relational")
            if word == "relational":
                self._inner = name
            rest = rest[1:]
        else:
            raise ValueError(
                f"attribute {name!r} is of kind {rest[0].text!r}; {_ALLOWED} (a name with blanks stands in quotes)"
            )
        if ("brace", "{") in rest:
            raise ValueError(f"attribute {name!r} has a weight, which is not learnt, or else something in braces")
        self.attributes.append(Attribute(name, kind, values))
        self.numbers.append(self.lines)

    @staticmethod
    def _values(name, line):
        """The values up to the closing brace, and the tokens after it."""
        end = next((i for i, token in enumerate(line) if token.kind == "brace"), None)
        if end is None or line[end].text != "}":
            raise ValueError(
                f"the values of {name!r} must stand in braces on one line; those with a brace or % in them in quotes"
            )
        return (tuple(word.text for word in divided(line[:end])), without_blanks(line[end + 1 :]))
