"""Values and names as error messages show them: on one line, and not at any length."""

import shlex


def one_line(text, most=200):
    """A text without line breaks, cut to so many characters."""
    text = str(text)
    if not text.isprintable():
        text = " ".join("".join(c if c.isprintable() or c.isspace() else repr(c)[1:-1] for c in text).split())
    return text if len(text) <= most else f"{text[: most - 3]}..."


def first_line(doc):
    """Of a module's docstring; python -OO has none."""
    return (doc or "").partition("\n")[0]


def shown(value, most=60):
    """What is wrong, as Python writes it."""
    try:
        return one_line(repr(value), most)
    except ValueError:  # more digits than Python writes
        return "an integer of many digits" if isinstance(value, int) else f"a {type(value).__name__}"


def listed(names, most=40):
    """Names with commas in between, no more than so many of them."""
    names = list(names)
    texts = [name if name.isprintable() and len(name) <= 60 else shown(name) for name in map(str, names[:most])]
    return ", ".join(texts) + (f" and {len(names) - most} more" if len(names) > most else "")


def ignored(names):
    """The command line's option that leaves out these columns, to be pasted; without names where a comma is in one."""
    return "--ignore" + f" {shlex.quote(','.join(names))}" * all(
        "," not in name and name.isprintable() for name in names
    )


def counted(count, one, many=None):
    """So many things in words: 1 node, 2 nodes; ``many`` where an s is not enough."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def joined(words, last="or"):
    """Words as a sentence has them: a, b or c."""
    words = list(words)
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
