"""Numbered frames, kept until they are acknowledged."""

from amaranth import Assert, Cat, Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.link import FrameType, ReportsFlag

from ..mcmu.report import REPORT_WORD
from ..members import drive
from .ring import StreamMemory
from .words import HEAD, VALUE


class Window(wiring.Component):
    """Gather reports and values into frames; offer each until it is acknowledged.

    A frame is closed when it is full, when a value has to follow, or at a report's end when
    nothing else waits to be sent. So frames are short on an idle link and long on a busy one.

    Parameters
    ----------
    frames : int
        Frames kept at most, a power of two, 2 to 64.
    frame_bytes : int
        Of a frame's payload, a power of two, 16 to 1024.
    timeout : int
        Ticks without an acknowledgement after which frames are offered again, at least 1.

    Members
    -------
    reports : In(stream of {data: 32, last})
    values : In(stream of {address: 16, value: 32})
    head : Out(stream of {type, flags, words, sequence})
        A frame to be sent now. An acknowledgement that comes while it is offered, or sent, does
        not take it back; it is one that the host drops.
    words : Out(stream of 32)
        The payload of the head that was taken.
    idle : In(1)
        Nothing is being sent.
    acknowledge : In(16), acknowledged, nak : In(1)
        The number that the host expects, for a clock; with ``nak``, frames from there on are
        missing. At least 4 clocks apart.
    tick : In(1)
    patient : In(1)
        No time-out: the host is silent.

    Latency: 7 clocks from a report's last word to ``head.valid``, if idle. Throughput: a word per
    clock, a clock more for each frame.
    """

    def __init__(self, frames, frame_bytes, timeout):
        for name, value, low, high in (("frames", frames, 2, 64), ("frame_bytes", frame_bytes, 16, 1024)):
            if not isinstance(value, int) or value & (value - 1) or not low <= value <= high:
                raise ValueError(f"{name} must be a power of two, {low} to {high}, not {value!r}")
        if timeout < 1:
            raise ValueError(f"timeout must be at least 1 tick, not {timeout!r}")
        self.frames = frames
        self.frame_words = frame_bytes // 4
        self.timeout = timeout
        super().__init__(
            {
                "reports": In(stream.Signature(REPORT_WORD)),
                "values": In(stream.Signature(VALUE)),
                "head": Out(stream.Signature(HEAD)),
                "words": Out(stream.Signature(32)),
                "acknowledge": In(16),
                **dict.fromkeys(("idle", "acknowledged", "nak", "tick", "patient"), In(1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        slot_bits = self.frames.bit_length() - 1
        word_bits = self.frame_words.bit_length() - 1
        m.submodules.payload = payload = StreamMemory(self.frames * self.frame_words)
        connect(m, payload.o, flipped(self.words))
        m.submodules.table = table = memory.Memory(
            shape=data.StructLayout({"value": 1, "last": 1, "words": word_bits + 1}), depth=self.frames, init=[]
        )
        entry, lookup = table.write_port(), table.read_port()

        # Frames from `oldest` on are kept, the first `offset` of them are sent.
        oldest = Signal(16)
        kept, offset = Signal(range(self.frames + 1)), Signal(range(self.frames + 1))
        closing, picking, freed = Signal(), Signal(), Signal(range(self.frames + 1))
        offering = Signal()

        # Gathering
        slot = Signal(slot_bits)
        size = Signal(range(self.frame_words + 1))
        at_end, pressed = Signal(), Signal()  # after a report's last word; nothing else to send
        is_value = Signal()
        full = Signal()
        reports, values = self.reports, self.values
        m.d.sync += [
            pressed.eq(self.idle & (offset == kept) & ~offering),
            full.eq((kept == self.frames) | ((kept == self.frames - 1) & closing)),
        ]
        m.d.comb += [
            payload.w_addr.eq(Cat(size[:word_bits], slot)),
            entry.addr.eq(slot),
            *drive(entry.data, value=is_value, last=at_end, words=size),
            entry.en.eq(closing),
        ]
        with m.FSM(name="gather"):
            with m.State("REPORTS"):
                m.d.sync += is_value.eq(0)
                m.d.comb += payload.w_data.eq(reports.p.data)
                with m.If(full):
                    pass
                with m.Elif((size == self.frame_words) | ((size != 0) & (values.valid | (at_end & pressed)))):
                    m.next = "CLOSE"
                with m.Elif(values.valid):
                    m.next = "ADDRESS"
                with m.Else():
                    m.d.comb += [reports.ready.eq(1), payload.w_en.eq(reports.valid)]
                    with m.If(reports.valid):
                        m.d.sync += [size.eq(size + 1), at_end.eq(reports.p.last)]
            with m.State("ADDRESS"):
                m.d.comb += [payload.w_data.eq(values.p.address), payload.w_en.eq(1)]
                m.d.sync += [size.eq(1), is_value.eq(1), at_end.eq(0)]
                m.next = "VALUE"
            with m.State("VALUE"):
                m.d.comb += [payload.w_data.eq(values.p.value), payload.w_en.eq(1), values.ready.eq(1)]
                m.d.sync += size.eq(2)
                m.next = "CLOSE"
            with m.State("CLOSE"):
                m.d.comb += closing.eq(1)
                m.d.sync += [size.eq(0), slot.eq(slot + 1)]
                m.next = "REPORTS"

        # Acknowledgements, in three steps
        ahead = Signal(16)
        step = Signal(2)
        inside, requested = Signal(), Signal()
        m.d.sync += [
            step.eq(Cat(self.acknowledged, step)),
            ahead.eq(self.acknowledge - oldest),
            inside.eq(ahead <= kept),
        ]
        with m.If(self.acknowledged):
            m.d.sync += requested.eq(self.nak)
        gone_back, gone_back_to = Signal(), Signal(16)  # the last time
        again = Signal()
        late = Signal()
        with m.If(step[1] & inside):
            m.d.comb += freed.eq(ahead)
            m.d.comb += again.eq(requested & ~(gone_back & (gone_back_to == self.acknowledge)))
        m.d.sync += [
            oldest.eq(oldest + freed),
            kept.eq(kept + closing - freed),
            offset.eq(Mux(offset > freed, offset - freed, 0) + picking),
            Assert(kept <= self.frames, "a frame was closed without room"),
            Assert(offset <= kept, "a frame was sent that is not there"),
        ]
        with m.If(freed != 0):
            m.d.sync += gone_back.eq(0)
        with m.If(again | late):
            m.d.sync += [offset.eq(0), gone_back.eq(1), gone_back_to.eq(Mux(late, oldest, self.acknowledge))]

        waited = Signal(range(self.timeout + 1))
        with m.If((offset == 0) | (freed != 0) | offering | self.patient):
            m.d.sync += waited.eq(0)
        with m.Elif(waited == self.timeout):
            m.d.comb += late.eq(step == 0)
        with m.Elif(self.tick):
            m.d.sync += waited.eq(waited + 1)

        # Offering
        head = self.head
        sequence = Signal(16)
        left, at = Signal(word_bits + 1), Signal(word_bits)
        m.d.comb += [lookup.addr.eq(sequence[:slot_bits]), payload.i.payload.eq(Cat(at, head.p.sequence[:slot_bits]))]
        with m.FSM(name="offer") as offer:
            with m.State("IDLE"):
                m.d.sync += sequence.eq(oldest + offset)
                with m.If((offset != kept) & ~self.acknowledged & (step == 0) & ~late):
                    m.d.comb += picking.eq(1)
                    m.next = "LOOK"
            with m.State("LOOK"):
                m.next = "TAKE"
            with m.State("TAKE"):
                m.d.sync += [
                    head.valid.eq(1),
                    *drive(head.p, words=lookup.data.words, sequence=sequence),
                    head.p.type.eq(Mux(lookup.data.value, FrameType.VALUE, FrameType.REPORTS)),
                    head.p.flags.eq(Mux(lookup.data.last, int(ReportsFlag.LAST), 0)),
                    left.eq(lookup.data.words),
                    at.eq(0),
                ]
                m.next = "OFFER"
            with m.State("OFFER"):
                with m.If(head.ready):
                    m.d.sync += head.valid.eq(0)
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += payload.i.valid.eq(1)
                with m.If(payload.i.ready):
                    m.d.sync += [at.eq(at + 1), left.eq(left - 1)]
                    with m.If(left == 1):
                        m.next = "IDLE"
        m.d.comb += offering.eq(~offer.ongoing("IDLE"))
        return m
