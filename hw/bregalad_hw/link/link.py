"""The board's end of the link, between words of frames and the accelerator."""

from amaranth import Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect
from bregalad.protocol.link import LINK_VERSION, AckFlag, FrameType
from bregalad.protocol.registers import identity

from ..members import assign, drive, members_of, pass_on
from .bridge import Bridge
from .intake import Intake
from .sender import FrameSender
from .session import Session
from .window import Window

_BEHIND_RESET = 2  # clocks until a reset has ended everywhere

_TICKS = 1000  # per second


class Link(wiring.Component):
    """Take frames, answer them, and hand on what they carry, nothing lost and nothing twice.

    Parameters
    ----------
    geometry : Geometry
        Of the accelerator behind it.
    clock_hz : int
        Frequency of the clock domain, at least 1000; what counts milliseconds.
    ring_words : int
        Of the ring that frames wait in, a power of two.
    frame_bytes : int
        Largest payload that is taken.
    up_frames, up_frame_bytes : int
        Frames to the host that are kept until acknowledged, and their largest payload, powers of two.
    timeout : int
        Milliseconds without an acknowledgement after which frames are sent again.
    peer_width : int
        Bits of what tells where frames come from and go to, an address in a network.
    reset_clocks : int
        That `reset` lasts, at least 1.

    Members
    -------
    i : In(stream of {data: 32, last, bad}), peer : In(peer_width)
        Frames from the host, and where each of them comes from.
    o : Out(stream of {data: 32, last}), to_peer : Out(peer_width)
        Frames to the host, and where each of them goes.
    commands : Out(stream of words of ``geometry.bus_width``)
    reports : In(stream of {data: 32, last})
    csr : Out(CSR)
    reset : Out(1)
        A session begins: the accelerator's reset. Commands and accesses wait, reports are dropped.
    tick : Out(1)
        Once in a millisecond.
    alive : Out(1)
        A session lives.
    taken, dropped : Out(1)
        For a clock: a frame came that was good, or not.

    Latency, if nothing else is under way: from a frame's last word 10 clocks to the answer's first word
    (HELLO), 12 to the first command of a bus of 32 bits and one more for each further 32 bits
    (COMMANDS); 8 from a report's last word to its frame's first.
    """

    def __init__(
        self,
        geometry,
        *,
        clock_hz,
        ring_words=2048,
        frame_bytes=1024,
        up_frames=8,
        up_frame_bytes=256,
        timeout=100,
        peer_width=0,
        reset_clocks=1,
    ):
        if clock_hz < _TICKS:
            raise ValueError(f"clock_hz must be at least {_TICKS}, not {clock_hz!r}")
        self.clock_hz = clock_hz
        self.reset_clocks = reset_clocks
        self.peer_width = peer_width
        self.intake = Intake(ring_words, frame_bytes, peer_width)
        self.bridge = Bridge(geometry.bus_width)
        self.window = Window(up_frames, up_frame_bytes, timeout)
        self.sender = FrameSender(
            {
                "version": LINK_VERSION,
                "frame_bytes": frame_bytes,
                "ring_words": ring_words,
                "up_frame_bytes": up_frame_bytes,
                "up_frames": up_frames,
                **identity(geometry),
            },
            ring_words,
            peer_width,
        )
        super().__init__(
            {
                **members_of(self.intake, "i", "peer", "dropped"),
                **members_of(self.sender, "o", "to_peer"),
                **members_of(self.bridge, "commands", "csr"),
                **members_of(self.window, "reports"),
                **dict.fromkeys(("reset", "tick", "alive", "taken"), Out(1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.intake = intake = self.intake
        m.submodules.session = session = Session(self.peer_width)
        begins = ResetInserter(session.begin)
        m.submodules.bridge = begins(self.bridge)
        m.submodules.window = begins(self.window)
        m.submodules.sender = sender = self.sender
        bridge, window = self.bridge, self.window

        pass_on(m, intake, self, "i", "peer", "dropped")
        pass_on(m, sender, self, "o", "to_peer")
        pass_on(m, bridge, self, "commands", "csr")
        # While the accelerator is reset nothing goes down to it, and nothing comes up.
        left = Signal(range(self.reset_clocks + _BEHIND_RESET))
        silent = Signal()
        m.d.sync += [silent.eq(session.begin | (left != 0)), self.reset.eq(session.begin | (left > _BEHIND_RESET))]
        with m.If(session.begin):
            m.d.sync += left.eq(self.reset_clocks + _BEHIND_RESET - 1)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        m.d.comb += [
            *drive(bridge.i, payload=intake.o.payload, valid=intake.o.valid & ~silent),
            intake.o.ready.eq(bridge.i.ready & ~silent),
            *drive(window.reports, payload=self.reports.payload, valid=self.reports.valid & ~silent),
            self.reports.ready.eq(window.reports.ready),
        ]
        connect(m, bridge.values, window.values)
        connect(m, window.head, sender.head)
        connect(m, window.words, sender.words)
        connect(m, session.reply, sender.reply)

        ticks = Signal(range(self.clock_hz // _TICKS), init=self.clock_hz // _TICKS - 1)
        m.d.sync += [ticks.eq(ticks - 1), self.tick.eq(ticks == 0)]
        with m.If(ticks == 0):
            m.d.sync += ticks.eq(ticks.init)

        m.d.comb += [
            *assign(intake, session, "session", "begin"),
            *assign(session, intake, "good", "same", "header", "version", "from_peer"),
            session.tick.eq(self.tick),
            *drive(window, idle=sender.idle, acknowledge=intake.header.acknowledge),
            *drive(window, acknowledged=intake.good & intake.same, tick=self.tick, patient=session.lapsed),
            window.nak.eq((intake.header.type == FrameType.ACK) & ((intake.header.flags & int(AckFlag.NAK)) != 0)),
            *assign(sender, session, "begin", "session", "peer"),
            *assign(sender, intake, "expected", "room", "answer", "nak"),
            self.alive.eq(session.session != 0),
            self.taken.eq(intake.good),
        ]
        return m
