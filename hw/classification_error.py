"""The instances of a side that are not of its largest class."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..geometry import GAIN_FRACTION
from .delay import delay
from .term import check_widths, term_layout

__all__ = ["ClassificationError"]


class ClassificationError(wiring.Component):
    """n - max n_k of a side's counts, bit for bit ``fixed.classification_error``.

    Each side's largest class is kept; at the sum, what it lacks of n is the result.

    Parameters
    ----------
    width : int
        Bits of a count, 2 to 32.
    tag_width : int
        Bits that travel along with a number, 1 to 64.

    Members
    -------
    i_x : In(width)
        Should come from a register.
    i_term : In(term_layout())
    i_tag : In(tag_width)
    o_y : Out
        At a side's sum; 0 otherwise.
    o_tag : Out(tag_width), reset to 0

    Latency: ``latency`` clocks. Throughput: 1 result per clock, no stalls.

    Raises
    ------
    TypeError
        If a width is not an integer.
    ValueError
        If a width is out of its range.

    Source: Matuszyk et al., IDA 2013; host/fixed.py.
    """

    latency = 2

    def __init__(self, width, tag_width):
        check_widths(width, tag_width)
        self.width = width
        self.tag_width = tag_width
        super().__init__({
            "i_x": In(width), "i_term": In(term_layout()), "i_tag": In(tag_width),
            "o_y": Out(width + GAIN_FRACTION), "o_tag": Out(tag_width),
        })

    def elaborate(self, platform):
        m = Module()
        term = self.i_term
        largest = [Signal(self.width, name=f"largest_{side}") for side in ("left", "right")]
        for index, side in enumerate(largest):
            with m.If(term.valid & ~term.sum & (term.right == index)
                      & (term.opens | (self.i_x > side))):
                m.d.sync += side.eq(self.i_x)
        # Of counts that add up to more than the width holds, the sum may be the smaller one.
        rest = Signal(self.width + 1)
        at_sum = Signal()
        result = Signal(self.width)
        m.d.sync += [
            rest.eq(self.i_x - Mux(term.right, largest[1], largest[0])),
            at_sum.eq(term.valid & term.sum),
            result.eq(Mux(at_sum & ~rest[-1], rest, 0)),
        ]
        m.d.comb += [
            self.o_y.eq(Cat(Const(0, GAIN_FRACTION), result)),
            self.o_tag.eq(delay(m, self.i_tag, self.latency, "tag")),
        ]
        return m
