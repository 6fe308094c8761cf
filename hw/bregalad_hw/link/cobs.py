"""Frames on a byte stream: COBS blocks, a zero byte after each frame."""

from amaranth import Assert, Cat, Module, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from ..mcmu.report import REPORT_WORD
from ..members import drive
from .words import FRAME

_BLOCK = 254  # bytes of the longest block


class CobsDecoder(wiring.Component):
    """Bytes to the words of frames.

    Members
    -------
    i : In(stream of 8)
    o : Out(stream of {data: 32, last, bad})
        Little endian. A frame that is not whole words or whose blocks do not add up ends with
        ``bad``, its last word means nothing; between two zeros there is no frame.

    Latency: 3 clocks from the byte that ends a word's successor, or the frame, to ``o.valid``.
    Throughput: four bytes in five clocks while ``o`` is ready.

    Source: Cheshire and Baker, "Consistent overhead byte stuffing", 1999.
    """

    i: In(stream.Signature(8))
    o: Out(stream.Signature(FRAME))

    def elaborate(self, platform):
        m = Module()

        # First stage: blocks to bytes.
        left = Signal(8)  # bytes to come of this block
        zero = Signal()  # the next block begins with a zero that the code stands for
        some = Signal()  # a byte has come since the last zero
        byte, has_byte = Signal(8), Signal()
        end, torn = Signal(), Signal()  # the frame is over, within a block
        free = Signal()  # the second stage takes what is in the first
        moved = Signal()
        m.d.comb += [self.i.ready.eq(free), moved.eq(self.i.valid & free)]
        with m.If(free):
            m.d.sync += [has_byte.eq(0), end.eq(0)]
        with m.If(moved):
            m.d.sync += [byte.eq(self.i.payload), some.eq(1)]
            with m.If(self.i.payload == 0):
                m.d.sync += [
                    end.eq(some),
                    torn.eq(left != 0),
                    some.eq(0),
                    left.eq(0),
                    zero.eq(0),
                ]
            with m.Elif(left == 0):
                m.d.sync += [
                    has_byte.eq(zero),
                    byte.eq(0),
                    left.eq(self.i.payload - 1),
                    zero.eq(self.i.payload != _BLOCK + 1),
                ]
            with m.Else():
                m.d.sync += [has_byte.eq(1), left.eq(left - 1)]

        # Second stage: bytes to words. A word is held until it is known whether it is the last.
        word, held = Signal(32), Signal(32)
        count = Signal(2)
        full, holds = Signal(), Signal()  # `word` and `held` are there
        out = Signal()
        m.d.comb += [out.eq(~self.o.valid | self.o.ready), free.eq(~full & (out | ~end))]
        with m.If(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(full & (out | ~holds)):
            m.d.sync += [full.eq(0), held.eq(word), holds.eq(1)]
            with m.If(holds):
                m.d.sync += [
                    self.o.valid.eq(1),
                    *drive(self.o.p, data=held, last=0, bad=0),
                ]
        with m.If(free & has_byte):
            m.d.sync += [word.eq(Cat(word[8:], byte)), count.eq(count + 1), full.eq(count == 3)]
        with m.If(free & end):
            m.d.sync += [
                self.o.valid.eq(1),
                *drive(self.o.p, data=held, last=1, bad=torn | (count != 0) | ~holds),
                holds.eq(0),
                count.eq(0),
            ]
        return m


class CobsEncoder(wiring.Component):
    """Words of frames to bytes.

    Members
    -------
    i : In(stream of {data: 32, last})
    o : Out(stream of 8)

    A block is collected before its first byte, the code, is known.

    Latency: 7 clocks from a frame's last word to its first byte, if the frame is one block.
    Throughput: bytes come in runs of up to 255, one in 4 clocks, with up to 320 clocks between. A
    serial line at 128 clocks and more per byte does not notice.

    Source: Cheshire and Baker, "Consistent overhead byte stuffing", 1999.
    """

    i: In(stream.Signature(REPORT_WORD))
    o: Out(stream.Signature(8))

    def elaborate(self, platform):
        m = Module()
        m.submodules.block = block = memory.Memory(shape=8, depth=256, init=[])
        write, read = block.write_port(), block.read_port()

        word, last = Signal(32), Signal()
        count = Signal(range(5))  # bytes left in `word`
        size, full = Signal(8), Signal()  # bytes in the block; whether there is room for no more
        sent, all_sent = Signal(8), Signal()  # a clock late, and never asked that soon
        final = Signal()  # the block is the frame's last
        zero = Signal()
        taken = Signal()
        m.d.comb += [
            zero.eq(word[:8] == 0),
            *drive(write, addr=size, data=word[:8]),
            read.addr.eq(sent),
            self.i.ready.eq((count == 0) & ~last),
            taken.eq(self.o.valid & self.o.ready),
        ]
        m.d.sync += all_sent.eq(sent == size)
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [word.eq(self.i.p.data), last.eq(self.i.p.last), count.eq(4)]

        with m.FSM() as fsm:
            with m.State("FILL"):
                with m.If(full):
                    m.next = "CODE"
                with m.Elif(count != 0):
                    m.d.sync += [word.eq(word >> 8), count.eq(count - 1)]
                    with m.If(zero):
                        m.next = "CODE"
                    with m.Else():
                        m.d.comb += write.en.eq(1)
                        m.d.sync += [size.eq(size + 1), full.eq(size == _BLOCK - 1)]
                with m.Elif(last):
                    m.d.sync += final.eq(1)
                    m.next = "CODE"
            with m.State("CODE"):
                m.d.sync += [self.o.valid.eq(1), self.o.payload.eq(size + 1), sent.eq(0)]
                m.next = "READ"
            with m.State("READ"):
                # The memory has the byte at `sent` by the time that the one before is taken.
                with m.If(taken):
                    m.d.sync += self.o.valid.eq(0)
                    m.next = "NEXT"
            with m.State("NEXT"):
                with m.If(~all_sent):
                    m.d.sync += [self.o.valid.eq(1), self.o.payload.eq(read.data), sent.eq(sent + 1)]
                    m.next = "READ"
                with m.Elif(final):
                    m.d.sync += [self.o.valid.eq(1), self.o.payload.eq(0)]
                    m.next = "ZERO"
                with m.Else():
                    m.d.sync += [size.eq(0), full.eq(0)]
                    m.next = "FILL"
            with m.State("ZERO"):
                with m.If(taken):
                    m.d.sync += [self.o.valid.eq(0), final.eq(0), last.eq(0), size.eq(0), full.eq(0)]
                    m.next = "FILL"
        m.d.sync += Assert((fsm.ongoing("READ") | fsm.ongoing("ZERO")) == self.o.valid, "a byte is offered out of turn")
        return m
