"""The geometric mean of two classes' counts, which is Kearns and Mansour's impurity."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data
from bregalad.fixed import CURVE_FRACTION, ROOT_BASE, ROOT_SLOPE
from bregalad.geometry import GAIN_FRACTION

from ..delay import delay
from .interpolation import Interpolation
from .normaliser import Normaliser
from .shifter import Shifter
from .term import Terms

_DROPPED = 2 * CURVE_FRACTION - GAIN_FRACTION


class KearnsMansour(Terms):
    """sqrt(n_1 n_0) of a side's counts, bit for bit as ``criteria.py`` has it.

    Each class's square root is kept with its side; at the sum, their product is the result.

    Members
    -------
    i_term : In(TERM)
        One or two classes; one alone has the impurity 0.
    o_y : Out
        At a side's sum; 0 otherwise.

    Parameters, other members, latency and errors as in ``Terms``; ``width`` from 3 on.

    Source: design, section 5; host/bregalad/criteria.py.
    """

    least = 3

    def __init__(self, width):
        self.check_width(width)
        even = width + width % 2
        self._normaliser = Normaliser(even, by=2)
        # Shifting left by what the roots' exponents add up to is: all the way, and back by the normaliser's shifts.
        self._way = even - 2
        # 2.0 squared, at the highest numbers.
        self._product_width = GAIN_FRACTION + 3
        self._shifter = Shifter(
            self._product_width + self._way, self._product_width + self._way, self._way.bit_length()
        )
        self.latency = self._normaliser.latency + Interpolation.latency + 3 + self._shifter.latency
        super().__init__(width, self._product_width + self._way)

    def elaborate(self, platform):
        m = Module()
        m.submodules.normaliser = normaliser = self._normaliser
        m.submodules.root = root = Interpolation(ROOT_BASE, ROOT_SLOPE, normaliser.width)
        m.submodules.shifter = shifter = self._shifter
        m.d.comb += [normaliser.i.eq(self.i_x), root.i_mantissa.eq(normaliser.o)]

        number = data.StructLayout({"root": root.o.shape(), "shifts": normaliser.o_shifts.shape()})
        x = Signal(number)
        m.d.comb += [x.root.eq(root.o), x.shifts.eq(delay(m, normaliser.o_shifts, root.latency, "shifts"))]
        term = delay(m, self.i_term, normaliser.latency + root.latency, "term")
        sides = []
        for index, side in enumerate(("left", "right")):
            newest, before = Signal(number, name=f"{side}_1"), Signal(number, name=f"{side}_0")
            sides.append((newest, before))
            with m.If(term.valid & ~term.sum & (term.right == index)):
                m.d.sync += [newest.eq(x), before.eq(newest)]
                with m.If(term.opens):
                    m.d.sync += before.root.eq(0)

        # Registers on both sides of the product let a DSP block take them in.
        factors = [Signal(number, name=f"factor_{i}") for i in (1, 0)]
        for factor, left, right in zip(factors, *sides, strict=True):
            m.d.sync += factor.eq(Mux(term.right, right.as_value(), left.as_value()))
            with m.If(~term.sum):
                m.d.sync += factor.root.eq(0)
        product = Signal(self._product_width + _DROPPED)
        m.d.sync += product.eq(factors[0].root * factors[1].root)
        back = Signal(shifter.i_distance.shape())
        m.d.comb += back.eq(factors[0].shifts + factors[1].shifts)
        m.d.comb += [
            shifter.i.eq(Cat(Const(0, self._way), delay(m, product, 1, "product")[_DROPPED:])),
            shifter.i_distance.eq(delay(m, back, 2, "back")),
            self.o_y.eq(shifter.o),
        ]
        return m
