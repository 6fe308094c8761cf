"""Registers of one reader for what many are told."""

from amaranth import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Replica"]


class Replica(wiring.Component):
    """Repeat a value for one reader.

    All replicas of a value are the same, and synthesis would make one of them, and of whatever
    each reader works out of it: one gate for readers all over the chip. The build keeps the
    registers of this component apart (``hw.build.SCRIPT``).

    Parameters
    ----------
    shape : ShapeLike

    Members
    -------
    i : In(shape)
    o : Out(shape)

    Latency: ``latency`` clocks.
    """

    latency = 1

    def __init__(self, shape):
        super().__init__({"i": In(shape), "o": Out(shape)})

    def elaborate(self, platform):
        m = Module()
        value = Value.cast(self.i)
        kept = Signal(len(value), reset_less=True)
        m.d.sync += kept.eq(value)
        m.d.comb += Value.cast(self.o).eq(kept)
        return m
