"""Which frames are taken."""

from amaranth import Assert, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.link import HEADER, OVERHEAD, AckFlag, FrameType

from ..layout import struct
from ..members import drive
from .crc import Crc32
from .ring import ENTRY
from .words import FRAME

_WORDS = HEADER.size // 4
_TAKEN = (FrameType.HELLO, FrameType.BYE, FrameType.ACK, FrameType.COMMANDS, FrameType.REGISTERS)
_NUMBERED = (FrameType.COMMANDS, FrameType.REGISTERS)
_PAUSE = 5  # clocks for the session to begin before the next frame's first word


class FrameReceiver(wiring.Component):
    """Check frames; hand the payload of those that are taken, after their first word, to a ring.

    Parameters
    ----------
    frame_bytes : int
        Largest payload that is taken, whole words, 16 to 32768 bytes.
    peer_width : int
        Bits of what tells where a frame comes from.

    Members
    -------
    i : In(stream of {data: 32, last, bad})
    peer : In(peer_width)
        Of the frame; looked at with its first word.
    ring : Out(ENTRY)
    session : In(32)
        The session that lives, 0: none.
    begin : In(1)
        A session begins: numbers go to 0.
    header : Out, version : Out(16), from_peer : Out(peer_width)
        Of the last frame; the version if it is a HELLO, 0 if it does not tell.
    good : Out(1)
        For a clock: that frame is whole and of a type that a board takes.
    same : Out(1)
        With ``good``: it is the session's.
    expected : Out(16)
        Number of the next frame to be taken.
    answer, nak : Out(1)
        For a clock: an ACK is due; a frame came out of turn.
    dropped : Out(1)
        For a clock: a frame was dropped without an answer.

    Latency: 5 clocks from the last word to ``good`` and ``ring.commit``; 11 to the next frame.
    Throughput: a word per clock within a frame.
    """

    def __init__(self, frame_bytes, peer_width=0):
        if frame_bytes % 4 or not 16 <= frame_bytes <= 32768:
            raise ValueError(f"frame_bytes must be whole words, 16 to 32768, not {frame_bytes!r}")
        self.frame_bytes = frame_bytes
        super().__init__(
            {
                "i": In(stream.Signature(FRAME)),
                "peer": In(peer_width),
                "ring": Out(ENTRY),
                "session": In(32),
                "begin": In(1),
                "header": Out(struct(HEADER)),
                "version": Out(16),
                "from_peer": Out(peer_width),
                "expected": Out(16),
                **dict.fromkeys(("good", "same", "answer", "nak", "dropped"), Out(1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.crc = check = Crc32()
        most = (OVERHEAD + self.frame_bytes) // 4 + 1
        count = Signal(range(most + 1))  # words so far; stays at `most`
        header = self.header
        whole = Signal()
        moved = Signal()
        m.d.comb += [moved.eq(self.i.valid & self.i.ready), check.data.eq(self.ring.data)]
        # CRC and ring get a word a clock late: each has a long way to go with it.
        m.d.sync += [
            *drive(check, start=count == 0, valid=moved),
            self.ring.data.eq(self.i.p.data),
            self.ring.en.eq(moved & ((count == 0) | ((count >= _WORDS) & ~self.i.p.last))),
        ]

        # What the header says is compared step by step, so that nothing needs a long clock.
        words = Signal(15)
        right = Signal()  # CRC
        complete, short = Signal(), Signal()
        known, numbered, hello, probe = Signal(), Signal(), Signal(), Signal()
        same, some = Signal(), Signal()  # the session's; any session's
        ahead = Signal(16)
        next_one, early = Signal(), Signal()
        kind = header.type
        m.d.sync += [
            words.eq((header.length >> 2) + OVERHEAD // 4),
            short.eq(header.length <= self.frame_bytes),
            known.eq(0),
            numbered.eq(0),
            hello.eq(kind == FrameType.HELLO),
            probe.eq((kind == FrameType.ACK) & ((header.flags & int(AckFlag.PROBE)) != 0)),
            same.eq(header.session == self.session),
            some.eq(header.session != 0),
            ahead.eq(header.sequence - self.expected),
            next_one.eq(ahead == 0),
            early.eq((ahead != 0) & ~ahead[15]),
            *(flag.eq(0) for flag in (self.good, self.answer, self.nak, self.dropped)),
            *(flag.eq(0) for flag in (self.ring.commit, self.ring.rollback)),
        ]
        with m.Switch(kind):
            with m.Case(*_TAKEN):
                m.d.sync += known.eq(1)
        with m.Switch(kind):
            with m.Case(*_NUMBERED):
                m.d.sync += numbered.eq(1)

        acceptable, takes = Signal(), Signal()
        pause = Signal(range(_PAUSE))
        with m.FSM() as fsm:
            with m.State("WORDS"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(moved):
                    m.d.sync += count.eq(Mux(count == most, most, count + 1))
                    with m.Switch(count):
                        for index in range(_WORDS):
                            with m.Case(index):
                                m.d.sync += header.as_value().word_select(index, 32).eq(self.i.p.data)
                        with m.Case(_WORDS):
                            with m.If(~self.i.p.last):
                                m.d.sync += self.version.eq(self.i.p.data[:16])
                    with m.If(count == 0):
                        m.d.sync += [self.version.eq(0), self.from_peer.eq(self.peer)]
                    with m.If(self.i.p.last):
                        m.d.sync += whole.eq(~self.i.p.bad)
                        m.next = "SETTLE"
            with m.State("SETTLE"):
                m.next = "COMPARE"
            with m.State("COMPARE"):
                m.d.sync += [right.eq(check.right), complete.eq((count == words) & (header.length[:2] == 0))]
                m.next = "JOIN"
            with m.State("JOIN"):
                m.d.sync += [
                    acceptable.eq(right & complete & whole & short & known & some & (hello | same)),
                    takes.eq(numbered & next_one & ~self.ring.overflow),
                ]
                m.next = "DECIDE"
            with m.State("DECIDE"):
                m.d.sync += [
                    self.good.eq(acceptable),
                    self.same.eq(same),
                    self.dropped.eq(~acceptable),
                    *drive(self.ring, commit=acceptable & takes, rollback=~(acceptable & takes)),
                    self.answer.eq(acceptable & (numbered | probe)),
                    self.nak.eq(acceptable & numbered & early),
                    count.eq(0),
                    pause.eq(_PAUSE - 1),
                ]
                m.next = "PAUSE"
            with m.State("PAUSE"):
                m.d.sync += pause.eq(pause - 1)
                with m.If(pause == 0):
                    m.next = "WORDS"

        states = [fsm.ongoing(name) for name in ("WORDS", "SETTLE", "COMPARE", "JOIN", "DECIDE", "PAUSE")]
        m.d.sync += [
            Assert(sum(states) == 1, "no state"),
            Assert(~states[-1] | ((count == 0) & (pause < _PAUSE)), "a frame begins half-way"),
        ]

        # With the ring's room, so that both are always told as of the same frame.
        with m.If(self.ring.commit):
            m.d.sync += self.expected.eq(self.expected + 1)
        with m.If(self.begin):
            m.d.sync += self.expected.eq(0)
        return m
