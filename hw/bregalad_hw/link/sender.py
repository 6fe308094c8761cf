"""Frames to the host, word by word."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.link import HEADER, REFUSED, WELCOME, AckFlag, FrameType, WelcomeFlag

from ..layout import struct
from ..mcmu.report import REPORT_WORD
from ..members import assign, drive
from .crc import Crc32
from .words import HEAD, reply_layout


class _Payload(enum.Enum, shape=2):
    NONE = 0
    WELCOME = 1
    REFUSED = 2
    WINDOW = 3


class FrameSender(wiring.Component):
    """Answers to HELLO first, then NAK, numbered frames, and ACK if none of them told the number.

    Parameters
    ----------
    welcome : dict
        The fields of WELCOME.
    ring_words : int
        Of the receiver's ring; when a quarter of it has become free, the host is told.
    peer_width : int
        Bits of what tells where a frame goes to.

    Members
    -------
    reply : In(stream of {reason, resumed, session, owner, peer})
    head : In(stream of {type, flags, words, sequence}), words : In(stream of 32)
        A numbered frame and its payload.
    begin : In(1)
        A session begins: the payload of a head that was taken does not come any more.
    session : In(32), peer : In(peer_width), expected : In(16), room : In(16)
        What all frames tell.
    answer, nak : In(1)
        For a clock: an ACK is due, one with NAK.
    idle : Out(1)
        Nothing is being sent.
    o : Out(stream of {data: 32, last})
    to_peer : Out(peer_width)
        Of the frame, stable from its first word to its last.

    Latency: 2 clocks from a request to ``o.valid``. Throughput: a word per clock; 4 clocks more for each frame.
    """

    def __init__(self, welcome, ring_words, peer_width=0):
        self.welcome = WELCOME.pack(**welcome)
        self.ring_words = ring_words
        super().__init__(
            {
                "reply": In(stream.Signature(reply_layout(peer_width))),
                "head": In(stream.Signature(HEAD)),
                "words": In(stream.Signature(32)),
                **dict.fromkeys(("begin", "answer", "nak"), In(1)),
                "session": In(32),
                "peer": In(peer_width),
                "expected": In(16),
                "room": In(16),
                "idle": Out(1),
                "o": Out(stream.Signature(REPORT_WORD)),
                "to_peer": Out(peer_width),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.crc = check = Crc32()
        reply, head, o = self.reply, self.head, self.o

        header = Signal(struct(HEADER))
        payload = Signal(_Payload)
        owner, reason = Signal(32), Signal(2)
        count, at = Signal(14), Signal(3)  # words of payload to come; of all so far
        fresh = Signal()  # `o` has a word that the CRC has not
        starts = Signal()  # a frame, a clock ago; its first word comes to the CRC later
        free, put = Signal(), Signal()
        word = Signal(32)
        m.d.comb += [
            free.eq(~o.valid | o.ready),
            *drive(check, data=o.p.data, valid=fresh, start=starts),
        ]
        m.d.sync += fresh.eq(put)
        with m.If(o.ready):
            m.d.sync += o.valid.eq(0)
        with m.If(put):
            m.d.sync += [o.valid.eq(1), o.p.data.eq(word), o.p.last.eq(0)]

        announced = Signal(17)
        alive, grown, wants, wants_nak = Signal(), Signal(), Signal(), Signal()
        m.d.sync += [alive.eq((self.session != 0) & ~self.begin), grown.eq(self.room >= announced)]

        start = Signal()
        void = Signal()  # the payload does not come any more
        with m.If(self.begin):
            m.d.sync += void.eq(1)
        with m.FSM() as fsm:
            m.d.sync += starts.eq(fsm.ongoing("IDLE"))
            with m.State("IDLE"):
                m.d.comb += self.idle.eq(1)
                m.d.sync += [
                    at.eq(0),
                    void.eq(0),
                    count.eq(0),
                    payload.eq(_Payload.NONE),
                    owner.eq(reply.p.owner),
                    reason.eq(reply.p.reason),
                    header.session.eq(self.session),
                    self.to_peer.eq(self.peer),
                    *drive(header, sequence=0, acknowledge=self.expected, room=self.room, flags=0, type=FrameType.ACK),
                ]
                # The numbers that all frames tell are not yet the new session's while it begins.
                with m.If(self.begin):
                    pass
                with m.Elif(reply.valid):
                    m.d.comb += [start.eq(1), reply.ready.eq(1)]
                    m.d.sync += [header.session.eq(reply.p.session), self.to_peer.eq(reply.p.peer)]
                    with m.If(reply.p.reason == 0):
                        m.d.sync += [
                            header.type.eq(FrameType.WELCOME),
                            payload.eq(_Payload.WELCOME),
                            header.flags.eq(Mux(reply.p.resumed, int(WelcomeFlag.RESUMED), 0)),
                            count.eq(WELCOME.size // 4),
                        ]
                    with m.Else():
                        m.d.sync += [
                            header.type.eq(FrameType.REFUSED),
                            payload.eq(_Payload.REFUSED),
                            *drive(header, acknowledge=0, room=0),
                            count.eq(REFUSED.size // 4),
                        ]
                with m.Elif(wants_nak & alive):
                    m.d.comb += start.eq(1)
                    m.d.sync += header.flags.eq(AckFlag.NAK)
                with m.Elif(head.valid & alive):
                    m.d.comb += [start.eq(1), head.ready.eq(1)]
                    m.d.sync += [
                        *assign(header, head.p, "type", "flags", "sequence"),
                        payload.eq(_Payload.WINDOW),
                        count.eq(head.p.words),
                    ]
                with m.Elif((wants | grown) & alive):
                    m.d.comb += start.eq(1)
                with m.If(start):
                    m.next = "HEADER"
            with m.State("HEADER"):
                m.d.comb += put.eq(free)
                with m.If(at == 0):
                    m.d.comb += word.eq(Cat(header.type, header.flags, count << 2))
                with m.Else():
                    m.d.comb += word.eq(header.as_value().word_select(at[:2], 32))
                with m.If(put):
                    m.d.sync += at.eq(at + 1)
                    with m.If(at == 3):
                        m.d.sync += at.eq(0)
                        m.next = "PAYLOAD"
            with m.State("PAYLOAD"):
                with m.If((count == 0) | ((payload == _Payload.WINDOW) & void)):
                    m.next = "CHECK"
                with m.Else():
                    with m.Switch(payload):
                        with m.Case(_Payload.WELCOME):
                            m.d.comb += [put.eq(free), word.eq(_select(m, self.welcome, at))]
                        with m.Case(_Payload.REFUSED):
                            refused = Signal(struct(REFUSED))
                            m.d.comb += [
                                *drive(refused, reason=reason, owner=owner),
                                refused.version.eq(WELCOME.unpack(self.welcome)["version"].item()),
                                put.eq(free),
                                word.eq(refused.as_value().word_select(at[0], 32)),
                            ]
                        with m.Default():
                            m.d.comb += [
                                self.words.ready.eq(free),
                                put.eq(free & self.words.valid),
                                word.eq(self.words.payload),
                            ]
                with m.If(put):
                    m.d.sync += [at.eq(at + 1), count.eq(count - 1)]
            with m.State("CHECK"):
                # The last word, put in the clock before, reaches the CRC in this one.
                m.next = "CRC"
            with m.State("CRC"):
                with m.If(free):
                    m.d.sync += [o.valid.eq(1), o.p.data.eq(check.value), o.p.last.eq(1)]
                    m.next = "IDLE"

        # What comes in the clock of a start is not told by that frame.
        with m.If(start):
            m.d.sync += announced.eq(self.room + self.ring_words // 4)
            with m.If(~reply.valid):
                m.d.sync += [wants.eq(0), wants_nak.eq(0)]
        with m.If(self.answer):
            m.d.sync += wants.eq(1)
        with m.If(self.nak):
            m.d.sync += wants_nak.eq(1)
        with m.If(self.begin):
            m.d.sync += [wants.eq(0), wants_nak.eq(0)]
        return m


def _select(m, data, at):
    """Word ``at`` of constant bytes."""
    word = Signal(32)
    with m.Switch(at):
        for index in range(len(data) // 4):
            with m.Case(index):
                m.d.comb += word.eq(int.from_bytes(data[4 * index : 4 * index + 4], "little"))
    return word
