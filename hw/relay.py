"""A register in a stream, for its payload and for its ready."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Relay"]


class Relay(wiring.Component):
    """Cut every path from one end of a stream to the other.

    Parameters
    ----------
    shape : ShapeLike
        Of the payload.

    Members
    -------
    i : In(stream of shape)
    o : Out(stream of shape)

    Latency: 1 cycle. Throughput: 1 transfer per cycle.
    """

    latency = 1

    def __init__(self, shape):
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):
        m = Module()
        i, o = (Value.cast(port.payload) for port in (self.i, self.o))
        # What came in the clock in which the far end stopped.
        kept, kept_valid = Signal(len(i), reset_less=True), Signal()
        out = Signal(len(i), reset_less=True)
        m.d.comb += [self.i.ready.eq(~kept_valid), o.eq(out)]
        with m.If(~kept_valid):
            m.d.sync += kept.eq(i)
        with m.If(~self.o.valid | self.o.ready):
            m.d.sync += [self.o.valid.eq(kept_valid | self.i.valid), kept_valid.eq(0),
                         out.eq(Mux(kept_valid, kept, i))]
        with m.Elif(self.i.valid):
            m.d.sync += kept_valid.eq(1)
        return m
