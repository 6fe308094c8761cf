"""The instances of a side that are not of its largest class."""

from amaranth import Cat, Const, Module, Mux, Signal
from bregalad.geometry import GAIN_FRACTION

from .term import Terms


class ClassificationError(Terms):
    """n - max n_k of a side's counts, bit for bit as ``criteria.py`` has it.

    Each side's largest class is kept; at the sum, what it lacks of n is the result.

    Members
    -------
    o_y : Out
        At a side's sum; 0 otherwise.

    Parameters, other members, latency and errors as in ``Terms``.

    Source: Matuszyk et al., IDA 2013; host/bregalad/criteria.py.
    """

    latency = 2

    def __init__(self, width):
        self.check_width(width)
        super().__init__(width, width + GAIN_FRACTION)

    def elaborate(self, platform):
        m = Module()
        term = self.i_term
        largest = [Signal(self.width, name=f"largest_{side}") for side in ("left", "right")]
        for index, side in enumerate(largest):
            with m.If(term.valid & ~term.sum & (term.right == index) & (term.opens | (self.i_x > side))):
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
        m.d.comb += self.o_y.eq(Cat(Const(0, GAIN_FRACTION), result))
        return m
