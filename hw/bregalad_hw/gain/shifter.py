"""Shift right by a number of bits that is known at run time only."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..delay import delay


class Shifter(wiring.Component):
    """``i >> i_distance``, two bits of the distance per register stage.

    Parameters
    ----------
    width : int
        Bits of the number, at least those that are kept.
    kept : int
        Bits of the result; higher ones are dropped.
    distance_width : int
        Bits of the distance, at least 1.

    Members
    -------
    i : In(width)
    i_distance : In(distance_width)
    o : Out(kept)

    Latency: ``latency`` clocks. Throughput: 1 result per clock, no stalls.
    """

    def __init__(self, width, kept, distance_width):
        self.width = width
        self.kept = kept
        self.distance_width = distance_width
        self.latency = (distance_width + 1) // 2
        super().__init__({"i": In(width), "i_distance": In(distance_width), "o": Out(kept)})

    def elaborate(self, platform):
        m = Module()
        value, distance = self.i, self.i_distance
        for number in range(self.latency):
            # The long distances first: they leave the fewest bits that may still come down.
            low = 2 * (self.latency - 1 - number)
            part = distance[low:]
            after = Signal(min(self.width, self.kept + (1 << low) - 1), name=f"value_{number}")
            with m.Switch(part):
                for times in range(1 << len(part)):
                    with m.Case(times):
                        m.d.sync += after.eq(value >> (times << low))
            value, distance = after, delay(m, distance[:low], 1, f"distance_{number}")
        m.d.comb += self.o.eq(value)
        return m
