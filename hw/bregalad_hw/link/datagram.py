"""Between the datagrams of a UDP core and the link's frames, each in its own clock domain."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.link import OVERHEAD

from ..mcmu.report import REPORT_WORD
from ..members import drive
from .words import FRAME

PEER = data.StructLayout({"port": 16, "ip": 32})  # where a frame comes from or goes to
_WHOLE = 0b1000  # ``last_be`` of a datagram of whole words
# A word of a datagram that has come; ``last_be`` is one bit, at the last byte of the last.
RECEIVED = data.StructLayout({"data": 32, "last": 1, "last_be": 4, "error": 1, "peer": PEER})
# A word of a datagram that goes out, of ``length`` bytes.
SENT = data.StructLayout({"data": 32, "last": 1, "length": 16, "peer": PEER})


class DatagramReceiver(wiring.Component):
    """Datagrams to words of frames.

    Members
    -------
    i : In(stream of RECEIVED)
        In domain ``network``.
    o : Out(stream of {data: 32, last, bad}), peer : Out(PEER)
        A frame that was damaged or is not whole words ends with ``bad``.

    Latency: 4 to 5 clocks of domain ``sync`` and 1 of ``network``. Throughput: a word per clock of the slower one.
    """

    i: In(stream.Signature(RECEIVED))
    o: Out(stream.Signature(FRAME))
    peer: Out(PEER)

    def elaborate(self, platform):
        m = Module()
        # Deep enough for the words that come while the link thinks about the frame before.
        m.submodules.words = words = fifo.AsyncFIFOBuffered(
            width=FRAME.size + PEER.size, depth=33, w_domain="network", r_domain="sync"
        )
        frame = data.View(FRAME, Signal(FRAME.size))
        m.d.comb += [
            *drive(frame, data=self.i.p.data, last=self.i.p.last),
            frame.bad.eq(self.i.p.last & (self.i.p.error | (self.i.p.last_be != _WHOLE))),
            *drive(words, w_data=Cat(frame, self.i.p.peer), w_en=self.i.valid),
            self.i.ready.eq(words.w_rdy),
            Cat(self.o.payload, self.peer).eq(words.r_data),
            self.o.valid.eq(words.r_rdy),
            words.r_en.eq(self.o.ready),
        ]
        return m


class DatagramTransmitter(wiring.Component):
    """Words of frames to datagrams, each let go once it is whole.

    So its length is known when it begins, and it comes without a gap, which Ethernet has no word for.

    Parameters
    ----------
    frame_bytes : int
        Largest payload of a frame.

    Members
    -------
    i : In(stream of {data: 32, last}), peer : In(PEER)
        Frames, and where each goes.
    o : Out(stream of SENT)
        In domain ``network``.

    Latency: 4 to 5 clocks of domain ``network`` and 1 of ``sync`` after the frame's last word.
    Throughput: a word per clock of the slower one.
    """

    def __init__(self, frame_bytes):
        self.frame_words = (frame_bytes + OVERHEAD) // 4
        super().__init__({"i": In(stream.Signature(REPORT_WORD)), "peer": In(PEER), "o": Out(stream.Signature(SENT))})

    def elaborate(self, platform):
        m = Module()
        # One frame goes out while the next comes in.
        m.submodules.words = words = fifo.AsyncFIFOBuffered(
            width=REPORT_WORD.size, depth=2 * self.frame_words, w_domain="sync", r_domain="network"
        )
        m.submodules.heads = heads = fifo.AsyncFIFOBuffered(
            width=16 + PEER.size, depth=9, w_domain="sync", r_domain="network"
        )

        count = Signal(14, init=1)  # words, with the one that comes
        moved = Signal()
        m.d.comb += [
            self.i.ready.eq(words.w_rdy & heads.w_rdy),
            moved.eq(self.i.valid & self.i.ready),
            *drive(words, w_data=self.i.payload, w_en=moved),
            *drive(heads, w_data=Cat(Const(0, 2), count, self.peer), w_en=moved & self.i.p.last),
        ]
        with m.If(moved):
            m.d.sync += count.eq(count + 1)
            with m.If(self.i.p.last):
                m.d.sync += count.eq(1)

        word = data.View(REPORT_WORD, words.r_data)
        gone = Signal()
        m.d.comb += [
            *drive(self.o.p, data=word.data, last=word.last),
            Cat(self.o.p.length, self.o.p.peer).eq(heads.r_data),
            self.o.valid.eq(words.r_rdy & heads.r_rdy),
            gone.eq(self.o.valid & self.o.ready),
            words.r_en.eq(gone),
            heads.r_en.eq(gone & word.last),
        ]
        return m
