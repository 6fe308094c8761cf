"""Write words to memory and go on; what it does not take is written again."""

from amaranth import Module, Signal
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from ..members import drive
from .axi import Response, write_signature, write_words

_OUTSTANDING = 16


class PostedWriter(wiring.Component):
    """Bus words to memory, each a burst of its own, many under way.

    A word that memory refuses is written again, until it is taken. So words of one address must not be under way
    together.

    Parameters
    ----------
    data_width : int
        Bits of a bus word.

    Members
    -------
    i : In(stream of {address: 32, data})
    axi : Out(AXI4 write)
    empty : Out(1)
        All words are in memory.
    failed : Out(1)
        Memory has refused the word that it answered last.

    Latency: a clock to ``awvalid`` and ``wvalid``. Throughput: a word per clock.
    """

    def __init__(self, data_width):
        self._word = data.StructLayout({"address": 32, "data": data_width})
        super().__init__(
            {
                "i": In(stream.Signature(self._word)),
                "axi": Out(write_signature(data_width)),
                "empty": Out(1),
                "failed": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        axi = self.axi
        m.submodules.sent = sent = fifo.SyncFIFOBuffered(width=self._word.size, depth=_OUTSTANDING)
        again, refused = Signal(self._word), Signal()  # a word to be written once more
        word = Signal(self._word)
        under_way = Signal(range(_OUTSTANDING + 1))
        free = write_words(m, axi) & sent.w_rdy
        put, answered = Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq(free & ~refused),
            put.eq(free & (refused | self.i.valid)),
            word.eq(self.i.p),
            axi.bready.eq(sent.r_rdy & ~refused),
            answered.eq(axi.bvalid & axi.bready),
            *drive(sent, w_en=put, w_data=word, r_en=answered),
            self.empty.eq((under_way == 0) & ~refused),
            axi.wstrb.eq(~0),
        ]
        m.d.sync += under_way.eq(under_way + put - answered)
        with m.If(refused):
            m.d.comb += word.eq(again)
        with m.If(put):
            m.d.sync += [refused.eq(0), axi.awvalid.eq(1), axi.wvalid.eq(1)]
            m.d.sync += [axi.awaddr.eq(word.address), axi.wdata.eq(word.data)]
        with m.If(answered):
            fails = axi.bresp >= Response.SLVERR
            m.d.sync += [self.failed.eq(fails), again.eq(sent.r_data), refused.eq(fails)]
        return m
