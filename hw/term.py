"""What the gain unit tells a criterion's arithmetic about each number it sends."""

from amaranth.lib import data

__all__ = ["check_widths", "term_layout"]


def term_layout():
    """A number's place among the terms of an impurity.

    The impurity of a side's counts is its sum's result minus its classes' results. A side's classes
    come in order, two sides' ones may alternate; the sum comes at least 2 clocks behind the last
    class, and the next side in its place not before the sum.
    """
    return data.StructLayout({
        "valid": 1,
        "opens": 1,  # class 0
        "sum": 1,  # n, the sum of the side's classes
        "right": 1,  # the right side; 0: the left one, or one that is alone
    })


def check_widths(width, tag_width, least=2):
    """Raise TypeError or ValueError unless numbers and tags can have so many bits."""
    for name, value, low, high in (("width", width, least, 32), ("tag_width", tag_width, 1, 64)):
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name} must be an integer, not {value!r}")
        if not low <= value <= high:
            raise ValueError(f"{name} must be {low} to {high} bits, not {value}")
