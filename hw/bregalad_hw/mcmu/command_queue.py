"""Keep the words of commands until the controller takes them."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ..members import drive


class CommandQueue(wiring.Component):
    """A queue whose ``i.ready`` and ``o.valid`` come from registers.

    The words lie in distributed RAM: that one is taken moves an address, and nothing wide.

    Parameters
    ----------
    width : int
        Bits of a word.
    depth : int
        Words that may wait, at least 3.

    Members
    -------
    i : In(stream of width)
    open : In(1)
        Words may come in the next clock.
    o : Out(stream of width)

    Latency: 1 cycle. Throughput: 1 transfer per cycle.
    """

    def __init__(self, width, depth):
        self.depth = depth
        super().__init__({"i": In(stream.Signature(width)), "open": In(1), "o": Out(stream.Signature(width))})

    def elaborate(self, platform):
        m = Module()
        m.submodules.words = words = SyncFIFO(width=len(self.i.payload), depth=self.depth)
        # Of room the other end hears a clock late, so one place is kept free.
        m.d.sync += [
            self.i.ready.eq((words.level < self.depth - 1) & self.open),
            self.o.valid.eq(words.w_en | (words.level > (self.o.valid & words.r_en))),
        ]
        m.d.comb += [
            *drive(words, w_data=self.i.payload, w_en=self.i.valid & self.i.ready),
            self.o.payload.eq(words.r_data),
            words.r_en.eq(self.o.ready),
        ]
        return m
