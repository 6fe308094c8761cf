"""x log2 x, one per clock."""

from amaranth import Module, Signal
from bregalad.fixed import LOG_BASE, LOG_SLOPE, SEGMENT_BITS
from bregalad.geometry import GAIN_FRACTION

from ..delay import DelayLine, delay
from ..members import drive
from .interpolation import Interpolation, SegmentTable
from .normaliser import Normaliser
from .term import Terms

# Nearly the logarithm's rise over all segments, of each: without it words have 10 + 8 bits.
_TABLE = {"base": LOG_BASE, "slope": LOG_SLOPE, "chord": GAIN_FRACTION - SEGMENT_BITS}


class XLog2X(Terms):
    """f(x) = x log2 x with ``GAIN_FRACTION`` fraction bits, bit for bit ``fixed.xlog2x``.

    n times the entropy of a side's counts is f(n) - sum f(n_k).

    Members
    -------
    i_term : In(TERM)
        Does not matter: every number is worth f(x).
    o_y : Out(width + log_width)

    Parameters, other members, latency and errors as in ``Terms``; beside them

    Parameters
    ----------
    reader : optional
        Of a ``shared_table``; otherwise it has its own.

    Source: design, section 5; host/bregalad/fixed.py.
    """

    @staticmethod
    def shared_table(readers):
        return SegmentTable(**_TABLE, readers=readers)

    def __init__(self, width, reader=None):
        self.check_width(width)
        self._reader = reader
        # The interpolation rounds up to `width` itself just below 2**width.
        self.log_width = (width << GAIN_FRACTION).bit_length()
        self._normaliser = Normaliser(width)
        self.latency = self._normaliser.latency + Interpolation.latency + 2
        super().__init__(width, width + self.log_width)

    def elaborate(self, platform):
        m = Module()
        m.submodules.normaliser = normaliser = self._normaliser
        m.submodules.log2 = log2 = Interpolation(
            **_TABLE,
            mantissa_width=self.width - 1,
            whole_width=(self.width - 1).bit_length(),
            reader=self._reader,
        )
        m.d.comb += [
            normaliser.i.eq(self.i_x),
            *drive(log2, i_mantissa=normaliser.o, i_whole=self.width - 1 - normaliser.o_shifts),
        ]
        # A DSP block can take in registers without reset on both sides of the product.
        m.submodules.line = line = DelayLine(self.width, self.latency - 2)
        m.d.comb += line.i.eq(self.i_x)
        product = Signal(self.width + self.log_width, reset_less=True)
        m.d.sync += product.eq(line.o * log2.o[: self.log_width])
        m.d.comb += self.o_y.eq(delay(m, product, 1, "product"))
        return m
