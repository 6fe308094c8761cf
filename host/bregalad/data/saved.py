"""What the saved state of a code book or value book must be."""

import math

from ..geometry import MISSING


def check_code_book(state):
    """Refuse with a ValueError what ``CodeBook.to_dict`` does not write."""
    edges = state["edges"]
    if not isinstance(edges, list) or len(edges) >= MISSING:
        raise ValueError("no code book: its edges are no list, or too many")
    if not all(type(edge) in (int, float) and math.isfinite(edge) for edge in edges):
        raise ValueError("no code book: its edges are no finite numbers")
    if not all(below < above for below, above in zip(edges, edges[1:], strict=False)):
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
