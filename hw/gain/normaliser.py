"""Shift a number's leading one to the top."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Normaliser"]


class Normaliser(wiring.Component):
    """Normalise a number, and count the shifts.

    Parameters
    ----------
    width : int
        Bits of the number, more than ``by``.
    by : int
        Bits of a shift: the leading one comes to the highest ``by`` bits.

    Members
    -------
    i : In(width)
    o : Out(width)
        ``i << by * o_shifts``; 0 for 0.
    o_shifts : Out
        Anything for 0.

    Latency: ``latency`` clocks. Throughput: 1 result per clock, no stalls.
    """

    def __init__(self, width, by=1):
        self.width = width
        self.by = by
        counts = [1 << i for i in reversed(range(((width - 1) // by).bit_length()))]
        # Two halvings of the search for the leading one per register stage.
        self._stages = [counts[i:i + 2] for i in range(0, len(counts), 2)]
        self.latency = len(self._stages)
        super().__init__({"i": In(width), "o": Out(width), "o_shifts": Out(len(counts))})

    def elaborate(self, platform):
        m = Module()
        normal = self.i
        found = None
        for number, counts in enumerate(self._stages):
            value, bits = normal, []
            for count in counts:
                shift = count * self.by
                clear = Signal(name=f"clear_{count}")
                m.d.comb += clear.eq(value[-shift:] == 0)
                shifted = Signal(self.width, name=f"shifted_{count}")
                with m.If(clear):
                    m.d.comb += shifted.eq(value << shift)
                with m.Else():
                    m.d.comb += shifted.eq(value)
                value = shifted
                bits.insert(0, clear)
            # Later stages find the lower bits of the number of shifts.
            bits = Cat(*bits) if found is None else Cat(*bits, found)
            normal = Signal(self.width, name=f"normal_{number}", reset_less=True)
            found = Signal(len(bits), name=f"shifts_{number}", reset_less=True)
            m.d.sync += [normal.eq(value), found.eq(bits)]
        m.d.comb += [self.o.eq(normal), self.o_shifts.eq(found)]
        return m
