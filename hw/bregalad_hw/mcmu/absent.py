"""The memory of a board without one."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .axi import Response
from .dma import descriptor_layout, fetched_layout

__all__ = ["AbsentMemory"]


class AbsentMemory(wiring.Component):
    """Answer every byte range with DECERR at its first bus word, as `ReadDMA` does where nothing is.

    Parameters
    ----------
    data_width : int
        Bits of a bus word.

    Members
    -------
    descriptor : In(stream of {address: 64, length: 48})
    o : Out(stream of {data, last, error: 2, address: 64})

    Latency: 1 clock.
    """

    def __init__(self, data_width):
        self.data_width = data_width
        super().__init__(
            {
                "descriptor": In(stream.Signature(descriptor_layout())),
                "o": Out(stream.Signature(fetched_layout(data_width))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        word_bits = (self.data_width // 8 - 1).bit_length()
        address = Signal.like(self.o.p.address[word_bits:])
        m.d.comb += [
            self.descriptor.ready.eq(~self.o.valid),
            self.o.p.last.eq(1),
            self.o.p.error.eq(Response.DECERR),
            self.o.p.address.eq(address << word_bits),
        ]
        with m.If(~self.o.valid):
            m.d.sync += [self.o.valid.eq(self.descriptor.valid), address.eq(self.descriptor.p.address[word_bits:])]
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        return m
