"""The first line of a delimited text: does it name the columns, or is it an instance?"""

from ..times import are_times
from .numerals import MISSING_NUMBERS, is_number, reason_of

_ENOUGH = 20  # rows among which a label that is met again would have been met


def is_numeric(fields, decimal="."):
    """Whether all fields are numbers or missing."""
    try:
        # Most columns are plain numbers, which float() tells in a hundredth of the time.
        if decimal == ".":
            list(map(float, fields))
            joined = "".join(fields)
            return joined.isascii() and "_" not in joined
    except ValueError:
        pass
    return all(field in MISSING_NUMBERS or is_number(field, decimal) for field in fields)


def is_header(rows, known, decimal="."):
    """Whether the first row names the columns, and why that may be wrong.

    Names hold one that is known, or are words of which one stands above numbers, or of which none
    occurs below itself. Numbers can be names, too (years, or pandas' own 0, 1, 2): if a word among
    them stands above numbers, or if whole numbers and words stand above labels that are met again
    and again without the words.

    Parameters
    ----------
    rows : list of list of str
    known : set of str
        Names that columns are known to have.

    Returns
    -------
    header : bool
    doubt : str
        What speaks against it; "" if nothing does.
    """
    names, body = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if known & set(names):
        return True, ""
    if "?" in names:
        return False, ""
    numbers = [i for i, name in enumerate(names) if is_number(name, decimal)]
    words = [i for i, name in enumerate(names) if name not in MISSING_NUMBERS and i not in numbers]
    if not body:
        return not numbers and len(words) == len(names) == len(set(names)), ""
    columns = list(zip(*body, strict=True))
    # Names stand amid the data where a file was appended to another; an instance has values of others.
    others = list(zip(*(row for row in body if row != names), strict=True)) or columns
    if any(name in others[i] for i, name in enumerate(names)):
        others = columns
    above = any(
        _are_numbers(others[i], decimal) and set(others[i]) - MISSING_NUMBERS
        for i in words
        if not reason_of(names[i], decimal)
    )
    if not numbers:
        if above:
            return True, ""
        new = not any(name in columns[i] for i, name in enumerate(names))
        twice = len(set(names)) < len(names)
        return bool(words) and new and (not twice or len(body) >= _ENOUGH), ""
    shown = ", ".join(names[i] for i in numbers[:3]) + ", ..." * (len(numbers) > 3)
    against = f"though {shown} {'is a number' if len(numbers) == 1 else 'are numbers'}"
    if above:
        return True, against
    # The label is what tells; where no name is a word, the class is the last column.
    labels = words or [len(names) - 1]
    if any(names[i] in columns[i] for i in labels):
        return False, ""
    first = 1 if not names[0] else 0  # pandas writes no name above its index
    if words and len(numbers) > 1 and all(names[i] == str(i - first) for i in numbers):
        return True, against
    if len(body) < _ENOUGH or any(2 * len(set(columns[i])) > len(body) for i in labels):
        return False, ""
    if all(names[i].isdecimal() for i in numbers) and (words or _consecutive(names[first:])):
        return True, against
    return False, f"though {names[labels[-1]]!r} stands nowhere below itself"


def _are_numbers(fields, decimal):
    """Whether all fields are numbers, be it in another notation (which is refused later), or times, or missing."""
    if is_numeric(fields, decimal):
        return True
    there = [field for field in fields if field not in MISSING_NUMBERS]
    return are_times(there) or all(is_number(field, decimal) or reason_of(field, decimal) for field in there)


def _consecutive(names):
    return [int(name) - int(names[0]) for name in names] == list(range(len(names)))
