"""A curve of a normalised number, by a table of 64 segments."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from bregalad.fixed import SEGMENT_BITS, STEP_BITS

from ..delay import delay

__all__ = ["Interpolation"]


class Interpolation(wiring.Component):
    """Look up a segment, add the step's share of its rise, bit for bit as ``host/bregalad/fixed.py``.

    Parameters
    ----------
    base, slope : sequence of int
        Value at each segment's start, not negative, and its rise: none negative or none positive.
    whole_width : int
        Bits of ``i_whole``.

    Members
    -------
    i_mantissa : In(any width)
        Of the normalised number. The highest bits are the segment, the next ones the step; those
        that are missing are 0, and those that are left over are dropped.
    i_whole : In(whole_width)
        Added to the value above the bits of ``base``.
    o : Out(base_width + whole_width + 1)

    Latency: ``latency`` clocks. Throughput: 1 result per clock, no stalls.

    Source: design, section 5; host/bregalad/fixed.py.
    """

    latency = 5

    def __init__(self, base, slope, mantissa_width, whole_width=0):
        self.base = [int(value) for value in base]
        self.slope = [int(value) for value in slope]
        self.mantissa_width = mantissa_width
        self.base_width = max(self.base).bit_length()
        super().__init__(
            {
                "i_mantissa": In(mantissa_width),
                "i_whole": In(whole_width),
                "o": Out(self.base_width + whole_width + 1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        falling = min(self.slope) < 0
        slopes = [abs(slope) for slope in self.slope]
        slope_width = max(slopes).bit_length()

        wanted = SEGMENT_BITS + STEP_BITS
        missing = max(0, wanted - self.mantissa_width)
        bits = Cat(Const(0, missing), self.i_mantissa)[-wanted:]

        # A block RAM per lane, although the table would fill a tenth of one: as logic it has
        # another 100 LUTs, an eighth of the lane.
        m.submodules.table = table = Memory(
            shape=self.base_width + slope_width,
            depth=1 << SEGMENT_BITS,
            init=[base | slope << self.base_width for base, slope in zip(self.base, slopes, strict=True)],
            attrs={"rom_style": "block"},
        )
        entry = table.read_port()
        m.d.comb += entry.addr.eq(bits[STEP_BITS:])
        base, slope = entry.data[: self.base_width], entry.data[self.base_width :]

        # A DSP block can take in registers without reset on both sides of the product. The table's
        # own is none of these: what all entries of a kind have in common becomes a reset.
        slope = delay(m, slope, 1, "slope")
        step = delay(m, bits[:STEP_BITS], 2, "step")
        rise = Signal(STEP_BITS + slope_width, reset_less=True)
        m.d.sync += rise.eq(slope * step)
        rise = delay(m, rise, 1, "rise")
        # The base is an integer here, so adding it before the shift rounds the same.
        total = Cat(Const(1 << STEP_BITS - 1, STEP_BITS), delay(m, base, 3, "base"), delay(m, self.i_whole, 4, "whole"))
        sum_ = Signal(self.o.shape(), reset_less=True)
        m.d.sync += sum_.eq((total - rise if falling else total + rise) >> STEP_BITS)
        m.d.comb += self.o.eq(sum_)
        return m
