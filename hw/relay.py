"""Two places in a stream, so that neither payload nor ready has to cross in a clock."""

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
        # Two places in turn: the far end's ready moves two bits, and no payload.
        places = [Signal(len(i), reset_less=True, name=f"place_{index}") for index in range(2)]
        get, full = Signal(), Signal()
        taken, given = Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq(~full),
            taken.eq(self.i.valid & ~full),
            given.eq(self.o.valid & self.o.ready),
            o.eq(Mux(get, places[1], places[0])),
        ]
        m.d.sync += [
            get.eq(get ^ given),
            self.o.valid.eq(taken | full | (self.o.valid & ~given)),
            full.eq(~given & (full | (self.o.valid & taken))),
        ]
        for index, place in enumerate(places):
            with m.If(~full & ((get ^ self.o.valid) == index)):  # behind what is there
                m.d.sync += place.eq(i)
        return m
