"""What the gain unit sends to a criterion's arithmetic, and what all of these have in common."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

# A number's place among the terms of an impurity.
#
# The impurity of a side's counts is its sum's result minus its classes' results. A side's classes come in order, two
# sides' ones may alternate; the sum comes at least 2 clocks after the last class, and the next side in its place not
# before the sum.
TERM = data.StructLayout(
    {
        "valid": 1,
        "opens": 1,  # class 0
        "sum": 1,  # n, the sum of the side's classes
        "right": 1,  # the right side; 0: the left one, or one that is alone
    }
)


class Terms(wiring.Component):
    """Base of the criteria's arithmetic: numbers in, impurities out.

    A subclass sets ``latency`` and what its ``elaborate`` needs before it calls this constructor. What looks numbers up
    in a table narrow enough for two gives it as ``shared_table``, and takes one of its readers.

    Parameters
    ----------
    width : int
        Bits of a number, ``least`` to 32.
    o_width : int
        Bits of a result.

    Members
    -------
    i_x : In(width)
        Should come from a register.
    i_term : In(TERM)
    o_y : Out(o_width)

    Latency: ``latency`` clocks, at 18 bits 10 of `XLog2X` and `Gini`, 13 of `KearnsMansour`; 2 of
    `ClassificationError`. Throughput: 1 result per clock, no stalls.
    """

    least = 2
    shared_table = None  # makes a `SegmentTable`, of so many readers

    @classmethod
    def check_width(cls, width):
        """Raise ValueError unless numbers can have so many bits."""
        if not cls.least <= width <= 32:
            raise ValueError(f"width must be {cls.least} to 32 bits, not {width}")

    def __init__(self, width, o_width):
        self.width = width
        super().__init__({"i_x": In(width), "i_term": In(TERM), "o_y": Out(o_width)})
