"""What is claimed of the link's blocks."""

from operator import attrgetter

from amaranth import Assert, Assume, ClockDomain, Elaboratable, Module, Signal, Value
from bregalad_hw.link.bridge import Bridge
from bregalad_hw.link.cobs import CobsDecoder, CobsEncoder
from bregalad_hw.link.intake import Intake
from bregalad_hw.link.receiver import FrameReceiver
from bregalad_hw.link.ring import Ring, StreamMemory
from bregalad_hw.link.sender import FrameSender
from bregalad_hw.link.session import Session
from bregalad_hw.link.uart import UartReceiver, UartTransmitter
from bregalad_hw.link.window import Window
from bregalad_hw.skid_buffer import HalfRateBuffer, SkidBuffer

from .watched import Proof, Watched, ports_of, soon


def _receiver_is_free(m, block):
    soon(m, block.i, 9)


def _decoder_is_free(m, block):
    soon(m, block.i, 3, block.o.ready)


def _ring_is_used_properly(m, block):
    w = block.w
    m.d.comb += [
        Assume(w.en + w.commit + w.rollback <= 1),
        Assume(~(w.commit & w.overflow)),
    ]


def _skid_has_room_or_words(m, block):
    m.d.comb += Assert(block.i.ready | block.o.valid)


def _border_keeps_nothing(m, block):
    """What is given in a clock is taken in the next one."""
    given, before = Signal(), Signal(2)
    m.d.sync += [given.eq(block.o.valid & block.o.ready), before.eq(block.o.payload)]
    m.d.comb += [
        Assert(block.i.ready == given, "taken once"),
        Assert(~given | (block.i.valid & (block.i.payload == before)), "what was given"),
    ]


def _skid_keeps_the_order(m, block):
    """Beside a queue of two places that shifts."""
    first, second, count = Signal(2), Signal(2), Signal(range(3))
    put, get = Signal(), Signal()
    m.d.comb += [
        put.eq(block.i.valid & block.i.ready),
        get.eq(block.o.valid & block.o.ready),
        Assert((block.o.valid == (count != 0)) & (block.i.ready == (count != 2))),
        Assert(~block.o.valid | (block.o.payload == first)),
    ]
    m.d.sync += count.eq(count + put - get)
    with m.If(get):
        m.d.sync += first.eq(second)
    with m.If(put & (count == get)):
        m.d.sync += first.eq(block.i.payload)
    with m.Elif(put):
        m.d.sync += second.eq(block.i.payload)


def _no_session_begins(m, block):
    """When one does, the ring and who reads it are reset in the same clock."""
    m.d.comb += Assume(~block.begin)


def _frames_come_apart(m, event, told):
    """Between two frames there are some clocks, and what they tell stays (`FrameReceiver`)."""
    since, before = Signal(3), Signal(len(told))
    m.d.sync += before.eq(told)
    with m.If(event):
        m.d.sync += since.eq(5)
    with m.Elif(since != 0):
        m.d.sync += since.eq(since - 1)
    with m.If(since != 0):
        m.d.comb += Assume(~event & (told == before))


class Apart(Elaboratable):
    """Two equal blocks: one begins fresh when the other, after anything, is between two frames.

    From then on both get the same, and must give the same.

    Parameters
    ----------
    make : callable
        Gives a block with a stream ``i``.
    boundary : callable
        ``boundary(block)``: a transfer on ``i`` that ends a frame.
    same : tuple of str
        Inputs that both get.
    compare : callable
        ``compare(old, new)``: pairs that must be equal.
    settle : int
        Clocks after the boundary in which nothing comes.
    """

    def __init__(self, make, boundary, same, compare, settle):
        self.old, self.new = make(), make()
        self.boundary, self.same, self.compare, self.settle = boundary, same, compare, settle
        self.stop = Signal()
        self.sync = ClockDomain(reset_less=True)

    def elaborate(self, platform):
        m = Module()
        m.domains.sync = self.sync
        m.submodules.old, m.submodules.new = old, new = self.old, self.new
        began = Signal()
        left = Signal(range(self.settle + 1))
        with m.If(self.boundary(old) & old.i.valid & old.i.ready & self.stop & ~began):
            m.d.sync += [began.eq(1), left.eq(self.settle)]
        with m.If(left != 0):
            m.d.sync += left.eq(left - 1)
            m.d.comb += Assume(~old.i.valid)
        m.d.comb += Value.cast(new.i.payload).eq(old.i.payload)
        m.d.comb += new.i.valid.eq(old.i.valid & began & (left == 0))
        for name in self.same:
            m.d.comb += attrgetter(name)(new).eq(attrgetter(name)(old))
        with m.If(began & (left == 0)):
            for one, another in self.compare(old, new):
                m.d.comb += Assert(one == another, "what came before matters")
        return m

    def ports(self):
        """The clock, when to begin, and the old block's inputs and outputs."""
        return [self.sync.clk, self.stop, *ports_of(self.old)]


def _decoders():
    def compare(old, new):
        # The last word of a damaged frame means nothing.
        told = (old.o.valid & ~old.o.p.bad).replicate(32)
        return [
            (old.o.valid, new.o.valid),
            (old.i.ready, new.i.ready),
            (old.o.p.data & told, new.o.p.data & told),
            (old.o.p.bad & old.o.valid, new.o.p.bad & old.o.valid),
        ]

    class Drained(Apart):
        def elaborate(self, platform):
            m = super().elaborate(platform)
            m.d.comb += Assume(self.old.o.ready)
            return m

    return Drained(CobsDecoder, lambda block: block.i.payload == 0, ("o.ready",), compare, 5)


LINK = {
    "skid buffer": Proof(
        "values are held until taken; never without both room and values",
        lambda: Watched(SkidBuffer(8), _skid_has_room_or_words),
    ),
    "skid buffer in order": Proof(
        "gives what it took, in order, and takes two before it gives one",
        lambda: Watched(SkidBuffer(2), _skid_keeps_the_order),
        "bmc",
        24,
    ),
    "border": Proof(
        "values are held until taken; each is given once, before it is taken",
        lambda: Watched(HalfRateBuffer(2), _border_keeps_nothing),
        "bmc",
        24,
    ),
    "uart receiver": Proof("bytes are held until taken", lambda: Watched(UartReceiver(800, 100))),
    "uart transmitter": Proof(
        "is ready again after 10 bits and 4 clocks",
        lambda: Watched(UartTransmitter(800, 100), lambda m, block: soon(m, block.i, 85)),
        "bmc",
        180,
    ),
    "cobs decoder": Proof(
        "words are held until taken; ready again within 3 clocks",
        lambda: Watched(CobsDecoder(), _decoder_is_free),
        depth=8,
    ),
    "cobs decoder in step": Proof("after any bytes and a zero it gives what a fresh one gives", _decoders, "bmc", 24),
    "cobs encoder": Proof("bytes are held until taken", lambda: Watched(CobsEncoder())),
    "memory": Proof("words are held until taken, none is read without room", lambda: Watched(StreamMemory(16))),
    "ring": Proof(
        "room and space are what is not stored; words are held until taken",
        lambda: Watched(Ring(16), _ring_is_used_properly),
    ),
    "receiver": Proof(
        "whatever comes, it is ready again within 9 clocks, and the next frame begins as the first one did",
        lambda: Watched(FrameReceiver(64), _receiver_is_free),
        depth=12,
    ),
    "intake": Proof(
        "nothing uncommitted is stored for good, no frame is half taken",
        lambda: Watched(Intake(16, 16, 1), _no_session_begins),
        depth=5,
    ),
    "window": Proof(
        "heads and words are held until taken; never more frames than there is room",
        lambda: Watched(
            Window(2, 16, 1), lambda m, block: _frames_come_apart(m, block.acknowledged, block.acknowledge)
        ),
        "bmc",
        24,
    ),
    "sender": Proof(
        "words are held until taken, whatever session begins meanwhile", lambda: Watched(FrameSender({}, 16))
    ),
    "session": Proof(
        "answers are held until taken",
        lambda: Watched(Session(1), lambda m, block: _frames_come_apart(m, block.good, block.version)),
    ),
    "bridge": Proof("commands and values are held until taken", lambda: Watched(Bridge(64))),
}
