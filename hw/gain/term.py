"""What the gain unit sends to a criterion's arithmetic, and what all of these have in common."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Terms", "term_layout"]


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


class Terms(wiring.Component):
    """Base of the criteria's arithmetic: numbers in, impurities out, a tag travels along.

    A subclass sets ``latency`` and what its ``elaborate`` needs before it calls this constructor.

    Parameters
    ----------
    width : int
        Bits of a number, ``least`` to 32.
    tag_width : int
        Bits that travel along with a number, 1 to 64.
    o_width : int
        Bits of a result.

    Members
    -------
    i_x : In(width)
        Should come from a register.
    i_term : In(term_layout())
    i_tag : In(tag_width)
    o_y : Out(o_width)
    o_tag : Out(tag_width), reset to 0

    Latency: ``latency`` clocks. Throughput: 1 result per clock, no stalls.
    """

    least = 2

    @classmethod
    def check_widths(cls, width, tag_width):
        """Raise TypeError or ValueError unless numbers and tags can have so many bits."""
        for name, value, low, high in (("width", width, cls.least, 32),
                                       ("tag_width", tag_width, 1, 64)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{name} must be an integer, not {value!r}")
            if not low <= value <= high:
                raise ValueError(f"{name} must be {low} to {high} bits, not {value}")

    def __init__(self, width, tag_width, o_width):
        self.width = width
        self.tag_width = tag_width
        super().__init__({
            "i_x": In(width), "i_term": In(term_layout()), "i_tag": In(tag_width),
            "o_y": Out(o_width), "o_tag": Out(tag_width),
        })
