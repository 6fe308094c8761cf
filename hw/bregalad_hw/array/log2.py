"""log2 x of naive Bayes, one per clock."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from bregalad.fixed import BAYES_BITS, BAYES_FRACTION, BAYES_TABLE


def log_width(width):
    """Bits of the logarithm of a number of ``width`` bits."""
    return (width - 1).bit_length() + BAYES_FRACTION


def log_latency(width):
    """Clocks that a `Log2` of ``width`` bits takes."""
    return (width - 1).bit_length() + 1


class Log2(wiring.Component):
    """log2 x with ``BAYES_FRACTION`` fraction bits, bit for bit ``fixed.bayes_log2``.

    Parameters
    ----------
    width : int
        Bits of x, 2 to 40.

    Members
    -------
    i_x : In(width)
        At least 1; should come from a register.
    o_y : Out(log_width(width))

    Latency: ``latency`` clocks. Throughput: 1 result per clock, no stalls.

    Source: host/bregalad/fixed.py.
    """

    def __init__(self, width):
        if not 2 <= width <= 40:
            raise ValueError(f"width must be 2 to 40 bits, not {width}")
        self.width = width
        self.latency = log_latency(width)
        super().__init__({"i_x": In(width), "o_y": Out(log_width(width))})

    def elaborate(self, platform):
        m = Module()

        # Normalise: shift the leading one to the top, one halving of the search per register. What
        # the mantissa never sees is optimised away, so a later stage is narrower.
        normal, zeros = self.i_x, []
        for i in reversed(range(self.latency - 1)):
            shift = 1 << i
            clear = Signal(name=f"clear_{shift}")
            value = Signal(self.width, name=f"normal_{shift}")
            found = Signal(len(zeros) + 1, name=f"zeros_{shift}")
            m.d.comb += clear.eq(normal[-shift:] == 0)
            m.d.sync += found.eq(Cat(clear, zeros))
            with m.If(clear):
                m.d.sync += value.eq(normal << shift)
            with m.Else():
                m.d.sync += value.eq(normal)
            normal, zeros = value, found

        # Logic, not a block RAM per lane: the counters need those.
        m.submodules.table = table = Memory(
            shape=BAYES_FRACTION,
            depth=1 << BAYES_BITS,
            init=[int(log) for log in BAYES_TABLE],
            attrs={"rom_style": "logic"},
        )
        entry = table.read_port(domain="comb")
        mantissa = normal[:-1]
        missing = BAYES_BITS - len(mantissa)
        m.d.comb += entry.addr.eq(mantissa << missing if missing > 0 else mantissa[-BAYES_BITS:])
        # The table's logarithms are below 1.
        m.d.sync += self.o_y.eq(Cat(entry.data, (self.width - 1 - zeros)[: len(zeros)]))
        return m
