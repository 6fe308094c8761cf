"""Registers in streams, so that neither payload nor ready has to cross a border of blocks in a clock."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .duplicate import duplicated

_ENABLED = 64  # registers that one duplicate enables


class SkidBuffer(wiring.Component):
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
        next_get, next_full, next_valid = Signal(), Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq(~full),
            taken.eq(self.i.valid & ~full),
            given.eq(self.o.valid & self.o.ready),
            o.eq(Mux(get, places[1], places[0])),
            next_get.eq(get ^ given),
            next_valid.eq(taken | full | (self.o.valid & ~given)),
            next_full.eq(~given & (full | (self.o.valid & taken))),
        ]
        m.d.sync += [get.eq(next_get), self.o.valid.eq(next_valid), full.eq(next_full)]
        # Which place is next, after what is there, is known a clock ahead: many depend on it.
        for index, place in enumerate(places):
            enabled = ~next_full & ((next_get ^ next_valid) == index)
            for begin in range(0, len(i), _ENABLED):
                part = slice(begin, begin + _ENABLED)
                with m.If(duplicated(m, f"{index}_{begin}", enabled, init=index == 0)):
                    m.d.sync += place[part].eq(i[part])
        return m


class HalfRateBuffer(SkidBuffer):
    """A register for payload and valid, one for ready: for what is rare.

    What is offered at ``i`` stays there until it has been taken at ``o``, so nothing is ever in here alone. Parameters
    and members as of `SkidBuffer`.

    Latency: 1 cycle, and 1 back. Throughput: a transfer in 3 cycles.
    """

    def elaborate(self, platform):
        m = Module()
        taken = Signal()
        i, o = Value.cast(self.i.payload), Value.cast(self.o.payload)
        kept = Signal(len(i), reset_less=True)
        m.d.comb += [taken.eq(self.o.valid & self.o.ready), o.eq(kept)]
        m.d.sync += [kept.eq(i), self.o.valid.eq(self.i.valid & ~taken & ~self.i.ready), self.i.ready.eq(taken)]
        return m
