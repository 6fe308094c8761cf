"""Add up many numbers."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out


class AdderTree(wiring.Component):
    """The sum of ``count`` unsigned numbers, one addition between two registers.

    Parameters
    ----------
    width : int
        Bits of a number, at least 1.
    count : int
        Numbers, at least 1.

    Members
    -------
    i : In(ArrayLayout(width, count))
    o : Out(sum_width)

    Latency: ``latency`` clocks, log2 of ``count``. Throughput: 1 sum per clock, no stalls.
    """

    def __init__(self, width, count):
        self.count = count
        self.sum_width = (((1 << width) - 1) * count).bit_length()
        self.latency = (count - 1).bit_length()
        super().__init__({"i": In(data.ArrayLayout(width, count)), "o": Out(self.sum_width)})

    def elaborate(self, platform):
        m = Module()
        numbers = [self.i[index] for index in range(self.count)]
        for level in range(self.latency):
            sums = []
            for left, right in zip(numbers[::2], [*numbers[1::2], None], strict=False):
                total = left if right is None else left + right
                sums.append(Signal(len(total), name=f"sum_{level}_{len(sums)}"))
                m.d.sync += sums[-1].eq(total)
            numbers = sums
        m.d.comb += self.o.eq(numbers[0])
        return m
