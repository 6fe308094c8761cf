"""Shift a number's leading one to the top."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


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
        self._stages = [counts[i : i + 2] for i in range(0, len(counts), 2)]
        self.latency = len(self._stages)
        super().__init__({"i": In(width), "o": Out(width), "o_shifts": Out(len(counts))})

    def elaborate(self, platform):
        m = Module()
        normal = self.i
        found = None
        for number, counts in enumerate(self._stages):
            # Every group of as many bits as the shorter shift has is looked at by itself: a search
            # that looks at what it has shifted has twice as many gates one after the other.
            step = counts[-1] * self.by
            last = (1 << len(counts)) - 1
            clear = Signal(last, name=f"clear_{number}")  # the highest groups
            times = Signal(range(last + 1), name=f"times_{number}")
            after = Signal(self.width, name=f"normal_{number}", reset_less=True)
            m.d.comb += clear.eq(
                Cat(
                    normal[max(0, self.width - (group + 1) * step) : self.width - group * step] == 0
                    for group in range(last)
                )
            )
            if last == 1:
                m.d.comb += times.eq(clear)
            else:
                m.d.comb += times.eq(Cat(clear[0] & (~clear[1] | clear[2]), clear[0] & clear[1]))
            with m.Switch(times):
                for shifts in range(last + 1):
                    with m.Case(shifts):
                        m.d.sync += after.eq(normal << shifts * step)
            # Later stages find the lower bits of the number of shifts.
            bits = times if found is None else Cat(times, found)
            normal, found = after, Signal(len(bits), name=f"shifts_{number}", reset_less=True)
            m.d.sync += found.eq(bits)
        m.d.comb += [self.o.eq(normal), self.o_shifts.eq(found)]
        return m
