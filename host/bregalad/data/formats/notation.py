"""How ARFF writes words: dividers, quotes, escapes and comments, as Weka reads and writes them.

The tokens are our own, since no library has all of what files hold: SciPy undoes no escape and
knows one kind of quote, liac-arff (2020) reads neither weights nor blanks as dividers, and both
read data without line numbers.
"""

import re
from typing import NamedTuple

# Weka's tokenizer: blanks are all characters up to the space; a quote within a word is a letter
# here (Weka would begin another word).
_TOKEN = re.compile(
    r"""
    ([\x00-\x20]+) | (,) | ([{}]) | %.* |
    '([^'\\\n]*(?:\\.[^'\\\n]*)*)' | "([^"\\\n]*(?:\\.[^"\\\n]*)*)" |
    ([^\x00-\x20,{}%'"][^\x00-\x20,{}%]*)
""",
    re.VERBOSE,
)
_BLANKS = "".join(map(chr, range(33)))
_KINDS = (None, "blank", "comma", "brace", "quoted", "quoted", "word")

_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|[0-3][0-7]{0,2}|[4-7][0-7]?|.)")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_SPECIAL = re.compile(r"""[\\'"%\x00-\x1f]""")
_LETTERS = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_PLAIN = re.compile(r"[A-Za-z0-9_\-+.:/=<>]+", re.ASCII)


class Token(NamedTuple):
    """A piece of a line: ``kind`` is "word", "quoted", "comma", "brace" or "blank"."""

    kind: str
    text: str


def tokens(line):
    """The tokens of a line, the comment at its end left out, escapes within quotes undone.

    Raises
    ------
    ValueError
        If a quote is not closed on the line, or something else than a divider follows it.
    """
    found, end = [], 0
    for match in _TOKEN.finditer(line):
        if match.start() != end:
            break
        end = match.end()
        if match.lastindex is None:  # a comment
            continue
        kind, text = _KINDS[match.lastindex], match[match.lastindex]
        if kind == "quoted" and "\\" in text:
            text = _ESCAPE.sub(_character, text)
        if found and found[-1].kind == "quoted" and kind in ("word", "quoted"):
            raise ValueError(f"a comma or a blank is expected after the quoted {found[-1].text!r}")
        found.append(Token(kind, text))
    if end < len(line):
        raise ValueError(
            f"a quote {line[end]} is not closed on its line (within quotes, "
            rf"\{line[end]} stands for one)"
        )
    return found


def without_blanks(line):
    """The tokens that are not blank."""
    return [token for token in line if token.kind != "blank"]


def divided(line, expected=None):
    """The words of a list or a row: commas divide, and blanks where there are too few commas.

    Parameters
    ----------
    line : list of Token
        Without braces.
    expected : int, optional
        How many words a row has. None: a list, in which blanks divide if there is no comma, and
        nothing between two commas is no word.

    Returns
    -------
    list of Token
        Words and quoted words; a field with nothing in it is an empty word. Unquoted words with
        blanks between them, but no comma, are one word as other programs write it (``New York``),
        where the commas allow it.
    """
    fields = [[]]
    for token in line:
        if token.kind == "comma":
            fields.append([])
        else:
            fields[-1].append(token)
    if len(fields) > 1 and not without_blanks(fields[-1]) and (expected is None or len(fields) == expected + 1):
        fields.pop()  # of a comma at the end
    if expected is None and len(fields) == 1 or expected not in (None, len(fields)):
        apart = without_blanks(token for field in fields for token in field)
        if len(fields) == 1 or expected == len(apart):
            return apart
    words = [word for field in fields for word in _joined(field)]
    return words if expected is not None else [word for word in words if word != Token("word", "")]


def quoted(text):
    """A word as ARFF writes it, in quotes and with escapes if it needs them."""
    if _PLAIN.fullmatch(text):
        return text
    return "'" + _SPECIAL.sub(_escaped, text) + "'"


def _joined(field):
    words = without_blanks(field)
    if len(words) < 2:
        return words or [Token("word", "")]
    if any(word.kind == "quoted" for word in words):
        return words
    return [Token("word", "".join(token.text for token in field).strip(_BLANKS))]


def _character(match):
    code = match[1]
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code[0] in "01234567" else _CONTROLS.get(code, code)


def _escaped(match):
    # Octal for the rarer ones: of Weka's own \u001E its reader makes u001E.
    character = match[0]
    if character >= " ":
        return "\\" + character
    return _LETTERS.get(character, f"\\{ord(character):03o}")
