"""Registers of one reader for what many are told."""

from amaranth import Module, ResetInserter, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Replica", "add_with_reset"]


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
        kept = Signal(len(value))
        m.d.sync += kept.eq(value)
        m.d.comb += Value.cast(self.o).eq(kept)
        return m


def add_with_reset(m, name, block, reset):
    """Add a block to a module; ``reset`` comes to it by a register of its own, a clock late."""
    m.submodules[f"replica_{name}_reset"] = replica = Replica(1)
    m.d.comb += replica.i.eq(reset)
    m.submodules[name] = ResetInserter(replica.o)(block)
