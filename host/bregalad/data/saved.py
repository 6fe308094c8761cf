"""What the saved state of a code book or value book must be."""

import math

from ..geometry import MISSING

__all__ = ["check_code_book", "check_value_book"]

_RANGE = ("low", "head_low", "head_high", "high")  # rising


def check_code_book(state):
    """Refuse with a ValueError what ``CodeBook.to_dict`` does not write."""
    _check_counts(state, "seen", "clamped")
    first, edges, ends = state["first"], state["edges"], [state[name] for name in _RANGE]
    if first is None:
        if edges or any(end is not None for end in ends):
            raise ValueError("no code book: it has edges, but no first code")
        return
    if type(first) is not int or not isinstance(edges, list) or not 0 <= first <= first + len(edges) < MISSING:
        raise ValueError(f"no code book: {len(edges)} edges from code {first!r} on")
    if not all(type(value) in (int, float) and math.isfinite(value) for value in (*edges, *ends)):
        raise ValueError("no code book: its edges are no finite numbers")
    if (
        ends != sorted(ends)
        or not all(below < above for below, above in zip((ends[0], *edges), edges, strict=False))
        or edges
        and edges[-1] > ends[-1]
    ):
        raise ValueError("no code book: its edges do not rise")


def check_value_book(state, declared):
    """Refuse with a ValueError what ``ValueBook.to_dict`` does not write.

    Parameters
    ----------
    state : dict
    declared : tuple
        The attribute's values; they have the first codes.
    """
    _check_counts(state, "seen", "overflowed")
    values = state["values"]
    if not isinstance(values, list) or not all(isinstance(value, str | int | float) for value in values):
        raise ValueError("no value book: its values are no strings or numbers")
    if any(value != value or value == "?" for value in values):
        raise ValueError("no value book: a missing value has a code")
    if len(declared) > len(values):
        raise ValueError("no value book: it lacks values that its attribute declares")


def _check_counts(state, *names):
    for name in names:
        if type(state[name]) is not int or not 0 <= state[name] < 1 << 62:
            raise ValueError(f"no book: {name} is {state[name]!r}")
