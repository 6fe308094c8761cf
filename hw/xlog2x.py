"""x log2 x, one per clock."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..fixed import LOG_BASE, LOG_SLOPE, SEGMENT_BITS, STEP_BITS
from ..geometry import GAIN_FRACTION

__all__ = ["XLog2X"]

_BASE_WIDTH = GAIN_FRACTION
_SLOPE_WIDTH = int(max(LOG_SLOPE)).bit_length()


class XLog2X(wiring.Component):
    """f(x) = x log2 x with ``GAIN_FRACTION`` fraction bits, bit for bit ``fixed.xlog2x``.

    Parameters
    ----------
    width : int
        Bits of x, 2 to 32.
    tag_width : int
        Bits that travel along with a number, 1 to 64.

    Members
    -------
    i_x : In(width)
        Should come from a register.
    i_tag : In(tag_width)
    o_y : Out(width + log_width)
    o_tag : Out(tag_width), reset to 0

    Latency: ``latency`` clocks. Throughput: 1 result per clock, no stalls.

    Raises
    ------
    TypeError
        If a width is not an integer.
    ValueError
        If a width is out of its range.

    Source: design, section 5; host/fixed.py.
    """

    def __init__(self, width, tag_width):
        for name, value, low, high in (("width", width, 2, 32), ("tag_width", tag_width, 1, 64)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise TypeError(f"{name} must be an integer, not {value!r}")
            if not low <= value <= high:
                raise ValueError(f"{name} must be {low} to {high} bits, not {value}")
        self.width = width
        self.tag_width = tag_width
        # The interpolation rounds up to `width` itself just below 2**width.
        self.log_width = (width << GAIN_FRACTION).bit_length()
        shifts = [1 << i for i in reversed(range((width - 1).bit_length()))]
        # Two halvings of the search for the leading one per register stage.
        self._stages = [shifts[i:i + 2] for i in range(0, len(shifts), 2)]
        self.latency = len(self._stages) + 6
        super().__init__({
            "i_x": In(width), "i_tag": In(tag_width),
            "o_y": Out(width + self.log_width), "o_tag": Out(tag_width),
        })

    def elaborate(self, platform):
        m = Module()

        # Normalise: shift the leading one to the top, count the zeros before it.
        normal = self.i_x
        zeros = 0
        for number, shifts in enumerate(self._stages):
            value, count = normal, []
            for shift in shifts:
                clear = Signal(name=f"clear_{shift}")
                m.d.comb += clear.eq(value[-shift:] == 0)
                shifted = Signal(self.width, name=f"shifted_{shift}")
                with m.If(clear):
                    m.d.comb += shifted.eq(value << shift)
                with m.Else():
                    m.d.comb += shifted.eq(value)
                value = shifted
                count.insert(0, clear)
            normal = Signal(self.width, name=f"normal_{number}")
            found = Cat(*count, zeros) if number else Cat(*count)
            zeros = Signal(len(found), name=f"zeros_{number}")
            # Later stages find the lower bits of the number of zeros.
            m.d.sync += [normal.eq(value), zeros.eq(found)]

        fraction = self.width - 1
        wanted = SEGMENT_BITS + STEP_BITS
        if fraction >= wanted:
            mantissa = normal[fraction - wanted:fraction]
        else:
            mantissa = Cat(Const(0, wanted - fraction), normal[:fraction])
        step_in, segment = mantissa[:STEP_BITS], mantissa[STEP_BITS:]

        # Logic, not a block RAM per lane: the counters need those.
        m.submodules.table = table = Memory(
            shape=_BASE_WIDTH + _SLOPE_WIDTH, depth=1 << SEGMENT_BITS,
            init=[int(base) | int(slope) << _BASE_WIDTH
                  for base, slope in zip(LOG_BASE, LOG_SLOPE, strict=True)],
            attrs={"rom_style": "logic"})
        entry = table.read_port()
        m.d.comb += entry.addr.eq(segment)
        base, slope = entry.data[:_BASE_WIDTH], entry.data[_BASE_WIDTH:]

        exponent_width = max(1, (self.width - 1).bit_length())
        exponents = [Signal(exponent_width, name=f"exponent_{i}") for i in range(3)]
        bases = [Signal(_BASE_WIDTH, name=f"base_{i}") for i in range(2)]
        step = Signal(STEP_BITS)
        rises = [Signal(STEP_BITS + _SLOPE_WIDTH, name=f"rise_{i}") for i in range(2)]
        log = Signal(self.log_width)
        # base is an integer here, so adding it before the shift rounds the same.
        total = Cat(Const(1 << STEP_BITS - 1, STEP_BITS), bases[1], exponents[2])
        m.d.sync += [
            exponents[0].eq(self.width - 1 - zeros), step.eq(step_in),
            rises[0].eq(slope * step), bases[0].eq(base), exponents[1].eq(exponents[0]),
            rises[1].eq(rises[0]), bases[1].eq(bases[0]), exponents[2].eq(exponents[1]),
            log.eq((total + rises[1]) >> STEP_BITS),
        ]

        # x and the tag wait for the logarithm; two registers behind the product let a DSP block
        # take them in.
        x, tag = self.i_x, self.i_tag
        for i in range(self.latency - 2):
            x_next = Signal(self.width, name=f"x_{i}")
            m.d.sync += x_next.eq(x)
            x = x_next
        for i in range(self.latency - 1):
            tag_next = Signal(self.tag_width, name=f"tag_{i}")
            m.d.sync += tag_next.eq(tag)
            tag = tag_next
        product = Signal(self.width + self.log_width)
        m.d.sync += [product.eq(x * log), self.o_y.eq(product), self.o_tag.eq(tag)]
        return m
