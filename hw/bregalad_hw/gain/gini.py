"""The Gini index of counts, times their sum."""

from amaranth import Module, Mux, Signal
from bregalad.criteria import ALIGNED_FRACTION
from bregalad.fixed import CURVE_FRACTION, RECIPROCAL_BASE, RECIPROCAL_SLOPE
from bregalad.geometry import GAIN_FRACTION

from ..delay import delay
from .interpolation import Interpolation
from .normaliser import Normaliser
from .shifter import Shifter
from .term import Terms

_PAIRS = Interpolation.latency  # clocks from a number to the first register after its square's sum


class Gini(Terms):
    """(n^2 - sum n_k^2) / n of a side's counts, bit for bit as ``criteria.py`` has it.

    Squares of classes are added up per side. The sum's own square comes through the same
    multiplier; what remains of it, aligned with n, times n's reciprocal is the result.

    Members
    -------
    o_y : Out(width + GAIN_FRACTION + 1)
        At a side's sum; 0 otherwise.

    Parameters, other members, latency and errors as in ``Terms``.

    Source: design, section 5; host/bregalad/criteria.py.
    """

    def __init__(self, width):
        self.check_width(width)
        self._normaliser = Normaliser(width)
        self._aligned_width = width + 1 + ALIGNED_FRACTION
        self._shifter = Shifter(2 * width + ALIGNED_FRACTION, self._aligned_width, (width - 1).bit_length())
        self.latency = self._normaliser.latency + Interpolation.latency + 2
        super().__init__(width, width + GAIN_FRACTION + 1)

    def elaborate(self, platform):
        m = Module()
        width = self.width

        # Registers on both sides of each product let a DSP block take them in.
        x = delay(m, self.i_x, _PAIRS - 3, "x")
        product, square = Signal(2 * width), Signal(2 * width)
        m.d.sync += [product.eq(x * x), square.eq(product)]
        term = delay(m, self.i_term, _PAIRS - 1, "term")
        sums = [Signal(2 * width, name=f"sum_{side}") for side in ("left", "right")]
        for index, total in enumerate(sums):
            with m.If(term.valid & ~term.sum & (term.right == index)):
                m.d.sync += total.eq(Mux(term.opens, 0, total) + square)

        m.submodules.normaliser = normaliser = self._normaliser
        m.submodules.reciprocal = reciprocal = Interpolation(RECIPROCAL_BASE, RECIPROCAL_SLOPE, width - 1)
        m.submodules.shifter = shifter = self._shifter
        known = normaliser.latency  # clocks from n to its normal form
        exponent = Signal(shifter.i_distance.shape())
        m.d.comb += [
            normaliser.i.eq(self.i_x),
            reciprocal.i_mantissa.eq(normaliser.o),
            exponent.eq(width - 1 - normaliser.o_shifts),
        ]
        present = delay(m, normaliser.o[-1], _PAIRS - 1 - known, "present")  # n is not 0
        pairs = Signal(2 * width)
        with m.If(term.sum & present):
            m.d.sync += pairs.eq(square - Mux(term.right, sums[1], sums[0]))
        with m.Else():
            m.d.sync += pairs.eq(0)
        m.d.comb += [
            shifter.i.eq(pairs << ALIGNED_FRACTION),
            shifter.i_distance.eq(delay(m, exponent, _PAIRS - known, "exponent")),
        ]
        # The aligned number and the reciprocal come together: both wait for n's normal form.
        share = Signal(self._aligned_width + CURVE_FRACTION + 1)
        result = Signal.like(share)
        m.d.sync += [share.eq(shifter.o * reciprocal.o[: CURVE_FRACTION + 1]), result.eq(share)]
        m.d.comb += [self.o_y.eq(result >> ALIGNED_FRACTION + CURVE_FRACTION - GAIN_FRACTION)]
        return m
