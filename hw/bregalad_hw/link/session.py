"""Who has the board."""

from amaranth import Assert, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.link import HEADER, LAPSE_SECONDS, LINK_VERSION, FrameType, HelloFlag, Refusal

from ..layout import struct
from ..members import drive
from .words import reply_layout

_TICKS = 1000  # per second


class Session(wiring.Component):
    """Begin and end sessions; answer every HELLO.

    Parameters
    ----------
    peer_width : int
        Bits of what tells where a frame comes from.

    Members
    -------
    good, same : In(1), header, version, from_peer : In
        Frames as of `FrameReceiver`, at least 4 clocks apart.
    tick : In(1)
        Once in a millisecond.
    session : Out(32)
        The one that lives, 0: none.
    peer : Out(peer_width)
        Where it spoke from last.
    lapsed : Out(1)
        It was silent for ten seconds, so another one may begin.
    begin : Out(1)
        For a clock: one begins.
    reply : Out(stream of {reason, resumed, session, owner, peer})
        What HELLO is answered with. While one waits, another HELLO is not looked at: it will be repeated.

    Latency: 2 clocks from ``good`` to ``begin`` and ``reply.valid``.
    """

    def __init__(self, peer_width=0):
        self.peer_width = peer_width
        super().__init__(
            {
                **dict.fromkeys(("good", "same", "tick"), In(1)),
                "header": In(struct(HEADER)),
                "version": In(16),
                "from_peer": In(peer_width),
                "session": Out(32),
                "peer": Out(peer_width),
                "lapsed": Out(1),
                "begin": Out(1),
                "reply": Out(stream.Signature(reply_layout(peer_width))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        header, reply = self.header, self.reply

        silence = Signal(range(LAPSE_SECONDS * _TICKS + 1))
        m.d.sync += self.lapsed.eq(silence >= LAPSE_SECONDS * _TICKS)
        with m.If(self.begin | (self.good & self.same)):
            m.d.sync += silence.eq(0)
        with m.Elif(self.tick & ~self.lapsed):
            m.d.sync += silence.eq(silence + 1)

        requested, same, spoken = Signal(), Signal(), Signal()
        alive = Signal()
        m.d.sync += [
            requested.eq(self.good & (header.type == FrameType.HELLO) & ~reply.valid),
            same.eq(self.same),
            spoken.eq(self.version == LINK_VERSION),
            alive.eq(self.session != 0),
            self.begin.eq(0),
            Assert(~(requested & reply.valid), "an answer is lost"),
        ]
        with m.If(self.good & self.same):
            m.d.sync += self.peer.eq(self.from_peer)
            with m.If(header.type == FrameType.BYE):
                m.d.sync += self.session.eq(0)

        with m.If(reply.ready):
            m.d.sync += reply.valid.eq(0)
        with m.If(requested):
            m.d.sync += [
                reply.valid.eq(1),
                *drive(reply.p, reason=0, resumed=same, session=header.session, owner=self.session),
                reply.p.peer.eq(self.from_peer),
            ]
            with m.If(~spoken):
                m.d.sync += reply.p.reason.eq(Refusal.VERSION)
            with m.Elif(same):
                pass
            with m.Elif((header.flags & int(HelloFlag.RESUME)) != 0):
                m.d.sync += reply.p.reason.eq(Refusal.GONE)
            with m.Elif(alive & ~self.lapsed & ((header.flags & int(HelloFlag.TAKE_OVER)) == 0)):
                m.d.sync += reply.p.reason.eq(Refusal.BUSY)
            with m.Else():
                m.d.sync += [self.begin.eq(1), self.session.eq(header.session), self.peer.eq(self.from_peer)]
        return m
