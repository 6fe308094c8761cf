"""Numbers in texts: what reads as one, and what a field that does not is written in."""

import re
import unicodedata

import numpy as np

MISSING_WORDS = ("", "?")
_NANS = {"NaN", "nan", "-NaN", "-nan"}  # which float() takes
# As pandas has them, and Weka's.
MISSING_NUMBERS = _NANS.union(
    ("", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NULL", "null", "None"),
    ("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}([,.'’_\s])[0-9]{3}(?:\1[0-9]{3})*(?:[.,][0-9]+)?")


def number_of(field, decimal="."):
    """The number that a field without blanks around it says, NaN if missing, None if it is none.

    Numbers are written in ASCII's digits; ``decimal`` is their decimal mark. Infinities are
    numbers here, and so is NaN however it is written.
    """
    if field in MISSING_NUMBERS:
        return np.nan
    if decimal != ".":
        # The point is no mark then; what float() is given instead it refuses.
        field = field.replace(".", "_").replace(decimal, ".")
    if "_" in field or not field.isascii():  # float() takes Python's grouping, and all digits
        return None
    try:
        return float(field)
    except ValueError:
        return None


def is_number(field, decimal="."):
    """Whether a field reads as a number, infinities and NaN included, other marks of a missing one not."""
    return (field not in MISSING_NUMBERS or field in _NANS) and number_of(field, decimal) is not None


def reason_of(field, decimal="."):
    """Why what a person reads as a number is not read as one here, and the remedy; "" if not so."""
    digits = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in field)
    if digits != field and (_is_any(digits, decimal) or reason_of(digits, decimal)):
        return "it has other digits than 0 to 9; write these"
    if _is_any(field.replace("\N{MINUS SIGN}", "-"), decimal) and "\N{MINUS SIGN}" in field:
        return "it has a typographic minus; write -"
    if decimal == "." and field.count(",") == 1 and is_number(field.replace(",", ".")) and "." not in field:
        if _GROUPED.fullmatch(field):
            return (
                'it has a comma: if it is a decimal one, say decimal="," (--decimal ,), '
                "if it marks thousands, leave it out"
            )
        return 'it has a decimal comma; say decimal="," (--decimal ,)'
    if _GROUPED.fullmatch(field):
        return "it has marks between thousands; leave them out"
    if decimal != "." and is_number(field):
        return f"it has a decimal point, but decimal={decimal!r} is said"
    return ""


def _is_any(field, decimal):
    return is_number(field, decimal) or is_number(field.replace("\N{ARABIC DECIMAL SEPARATOR}", "."))
