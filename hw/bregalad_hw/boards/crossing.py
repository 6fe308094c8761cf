"""A queue from LiteEth's clock to the transceiver's, in Migen as LiteEth is."""

from litex.soc.interconnect.stream import Endpoint
from migen import ClockDomainsRenamer, If, Memory, Module, Signal
from migen.genlib.cdc import GrayCounter, MultiReg

DEPTH = 16  # words; a distributed RAM's, so that no multiplexer follows


class TransmitCrossing(Module):
    """Words from domain ``sys`` to domain ``eth_tx``, at most every second of its clocks.

    LiteEth's own queue finds out whether it has a word, counts and reads the next in one clock,
    for which 8 ns are short in an ECP5 of grade 6. A word of four bytes may take two of them.

    Parameters
    ----------
    layout : EndpointDescription
        Of both streams; the framing is kept.

    Members
    -------
    sink, source : Endpoint
    """

    def __init__(self, layout):
        self.sink, self.source = sink, source = Endpoint(layout), Endpoint(layout)
        bits = DEPTH.bit_length()
        produce = ClockDomainsRenamer("sys")(GrayCounter(bits))
        consume = ClockDomainsRenamer("eth_tx")(GrayCounter(bits))
        self.submodules += produce, consume
        consumed, produced = Signal(bits), Signal(bits)
        self.specials += [MultiReg(consume.q, consumed, "sys"), MultiReg(produce.q, produced, "eth_tx")]
        produce.q.attr.add("no_retiming")
        consume.q.attr.add("no_retiming")

        words = [*sink.payload.flatten(), sink.first, sink.last]
        taken = [*source.payload.flatten(), source.first, source.last]
        width = sum(map(len, words))
        memory = Memory(width, DEPTH)
        write = memory.get_port(write_capable=True, clock_domain="sys")
        read = memory.get_port(clock_domain="eth_tx")
        self.specials += memory, write, read
        # Full: all of a round apart, which turns the upper two bits of a Gray code.
        self.comb += [
            sink.ready.eq(produce.q != consumed ^ (3 << bits - 2)),
            produce.ce.eq(sink.valid & sink.ready),
            write.adr.eq(produce.q_binary[:-1]),
            write.we.eq(produce.ce),
        ]
        at = 0
        for word in words:
            self.comb += write.dat_w[at : at + len(word)].eq(word)
            at += len(word)

        take = Signal()
        self.comb += [consume.ce.eq(take), read.adr.eq(consume.q_next_binary[:-1])]
        self.sync.eth_tx += [
            take.eq((consume.q != produced) & ~take & (~source.valid | source.ready)),
            If(source.ready, source.valid.eq(0)),
            If(take, source.valid.eq(1)),
        ]
        at = 0
        for word in taken:
            self.sync.eth_tx += If(take, word.eq(read.dat_r[at : at + len(word)]))
            at += len(word)
