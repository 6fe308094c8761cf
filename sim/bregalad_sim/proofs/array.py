"""What is claimed of the memory controller's blocks and of the merge."""

from amaranth import Array, Assert, Assume, Cat, Mux, Signal
from bregalad.geometry import Geometry
from bregalad_hw.array.bayes import lead
from bregalad_hw.array.merge import Merge
from bregalad_hw.delay import delay
from bregalad_hw.mcmu.axi import BOUNDARY
from bregalad_hw.mcmu.command_queue import CommandQueue
from bregalad_hw.mcmu.dma import ReadDMA
from bregalad_hw.mcmu.editor import SlotEditor
from bregalad_hw.mcmu.events import EventCounters
from bregalad_hw.mcmu.predictor import Predictor
from bregalad_hw.mcmu.report import ReportWriter
from bregalad_hw.mcmu.scheduler import AttemptScheduler

from .watched import Proof, Watched, hold, steady

_GEOMETRY = Geometry(lanes=2, passes=2, bins=4, classes=2, slots=4, count_width=12, bus_width=32, nodes=4)
_ONE_PASS = _GEOMETRY.replace(passes=1)
_BAYES = _ONE_PASS.replace(naive_bayes=True)
_RANGE = 6  # bits of the words of a range that a DMA reads
_WAY = 3  # clocks from an ask to its sums; the array takes more


def _bursts_are_in_order(m, block):
    """The rules of one burst, that it stays until it is taken."""
    axi = block.axi
    size = block.data_width // 8
    aligned = block.burst * size
    length = (axi.arlen + 1) << (size.bit_length() - 1)
    stays, before = Signal(), Signal(len(axi.araddr) + len(axi.arlen))
    told = Cat(axi.araddr, axi.arlen)
    m.d.sync += [stays.eq(axi.arvalid & ~axi.arready), before.eq(told)]
    m.d.comb += [
        Assert(~stays | (axi.arvalid & (before == told)), "a burst is asked for until it is taken"),
        *(
            Assert(
                ~axi.arvalid | (axi.araddr[: bound.bit_length() - 1] + length <= bound), f"within {bound} aligned bytes"
            )
            for bound in (aligned, BOUNDARY)
        ),
        Assert(~axi.arvalid | ~axi.araddr[: size.bit_length() - 1].any(), "of whole words"),
        Assert((axi.arsize == size.bit_length() - 1) & (axi.arburst == 0b01), "upwards"),
        Assert(axi.rready, "its words are taken at once"),
    ]


def _range_is_read(m, block):
    """Beside a memory that answers when it likes: each word of the range, once, in order."""
    _bursts_are_in_order(m, block)
    axi, o = block.axi, block.o
    # Bursts that are not answered, the oldest first, and where the memory is in that.
    lengths = [Signal(8, name=f"length_{i}") for i in range(block.outstanding)]
    bursts, at = Signal(range(block.outstanding + 2)), Signal(8)
    asked, ended = Signal(), Signal()
    m.d.comb += [
        asked.eq(axi.arvalid & axi.arready),
        ended.eq(axi.rvalid & axi.rlast),
        Assume(~axi.rvalid | (bursts != 0)),
        Assume(~axi.rvalid | (axi.rlast == (at == lengths[0]))),
        Assert(bursts + axi.arvalid <= block.outstanding, "bursts under way"),
    ]
    m.d.sync += bursts.eq(bursts + asked - ended)
    with m.If(axi.rvalid):
        m.d.sync += at.eq(Mux(axi.rlast, 0, at + 1))
    with m.If(ended):
        m.d.sync += [one.eq(other) for one, other in zip(lengths, lengths[1:], strict=False)]
    with m.If(asked):
        m.d.sync += Array(lengths)[(bursts - ended)[: max(1, (len(lengths) - 1).bit_length())]].eq(axi.arlen)

    # Words; no more of them than the depth of the proof allows for.
    first, words, told, given = (Signal(_RANGE) for _ in range(4))
    reading, failed = Signal(), Signal()
    bits = (block.data_width // 8).bit_length() - 1
    with m.If(block.descriptor.valid & block.descriptor.ready):
        start, length = block.descriptor.p.address, block.descriptor.p.length
        m.d.comb += [
            Assert(~axi.arvalid & (bursts == 0), "begins when nothing is under way"),
            Assert(~reading | failed | (given == words), "begins when all is given"),
        ]
        m.d.sync += [
            first.eq(start >> bits),
            words.eq((start[:bits] + length + (1 << bits) - 1) >> bits),
            reading.eq(1),
            told.eq(0),
            given.eq(0),
            failed.eq(0),
        ]
    m.d.comb += [
        Assume(block.descriptor.p.address < 1 << _RANGE + bits - 1),
        Assume(block.descriptor.p.length < 1 << _RANGE + bits - 1),
        Assume(block.descriptor.p.length != 0),
        Assert(
            ~axi.arvalid | ((axi.araddr >> bits == first + told) & (told + axi.arlen < words)),
            "the range's words, in order",
        ),
        Assert(
            ~o.valid
            | (
                (o.p.address >> bits == first + given)
                & ~failed
                & (o.p.last == ((o.p.error != 0) | (given + 1 == words)))
                & (given < words)
            ),
            "given in order, none after the last",
        ),
    ]
    with m.If(asked):
        m.d.sync += told.eq(told + axi.arlen + 1)
    with m.If(o.valid & o.ready):
        m.d.sync += given.eq(given + 1)
        with m.If(o.p.error != 0):
            m.d.sync += failed.eq(1)


def _attempt_locks_its_slot(m, block):
    """Any slot, the same at both places that ask; reports come as they were asked."""
    g = block.geometry
    slot, locked = block.slot_a, block.locked_a
    locks, out, reporting = Signal(8), Signal(8), Signal(8)
    pushed, ended, taken = Signal(), Signal(), Signal()
    m.d.comb += [
        pushed.eq(block.i.valid & block.i.ready),
        ended.eq(block.valid & (block.op.bin == g.bins - 1) & (block.op.pass_ + 1 == block.passes)),
        taken.eq(block.head.valid & block.head.ready),
        Assume(slot == block.slot_c),
        Assume((block.passes != 0) & (block.passes <= g.passes)),
        Assume(~block.reported | (reporting != 0)),
        Assert(locked == (locks - (ended & (block.op.slot == slot)) != 0), "locked"),
        Assert(locked == block.locked_c, "the same of both"),
        Assert(~pushed | ~block.held, "a push is in a clock for operations"),
        Assert(out <= block.heads, "attempts under way"),
        Assert(block.quiet == (out == 0)),
    ]
    steady(m, slot, block.passes)
    m.d.sync += [
        locks.eq(locks + (pushed & (block.i.p.head.slot == slot)) - (ended & (block.op.slot == slot))),
        out.eq(out + pushed - block.reported),
        reporting.eq(reporting + taken - block.reported),
    ]


def _predictions_have_room(m, block):
    """Every ask's sums come, sooner or later, and are told of `lead` clocks ahead."""
    g = block.geometry
    asked, given = Signal(8), Signal(8)
    coming = block.partial.incoming
    ask = delay(m, block.i.valid & block.i.ready, _WAY, "ask")  # the least that lies between an ask and its last sums
    m.d.comb += Assume(~coming | (asked != 0))
    m.d.sync += asked.eq(asked + ask - coming)
    m.d.comb += [
        Assume(block.partial.valid == delay(m, coming, lead(g), "coming")),
        Assume(block.partial.p.last),
        Assume((block.classes_in_use != 0) & (block.classes_in_use <= g.classes)),
        Assert(given <= block.depth, "room for them"),
    ]
    steady(m, block.classes_in_use)
    m.d.sync += given.eq(given + (block.i.valid & block.i.ready) - (block.o.valid & block.o.ready))


def _command_is_steady(m, block):
    """A command stays until it is done, and no records come meanwhile."""
    edit = block.edit
    given = Cat(edit.head, block.number)
    editing, before = Signal(), Signal(len(given))
    m.d.sync += [editing.eq((editing | edit.start) & ~edit.done), before.eq(given)]
    m.d.comb += [Assume(~(editing | edit.start) | (before == given)), Assume(~edit.start | ~editing)]
    hold(m, edit.payload, Assume)
    hold(m, edit.job, Assert)
    steady(m, block.decides)


def _queue_knows_its_words(m, block):
    count = Signal(range(block.depth + 2))
    put, get = block.i.valid & block.i.ready, block.o.valid & block.o.ready
    m.d.sync += count.eq(count + put - get)
    m.d.comb += Assert((block.o.valid == (count != 0)) & (count <= block.depth))


def _no_event_is_lost(m, block):
    """Eight clocks after the last event, clear or other counter, the value is the number of events."""
    totals = {name: Signal(8, name=f"total_{name}") for name in block.most}
    quiet, before = Signal(range(9)), Signal.like(block.read)
    m.d.sync += before.eq(block.read)
    events = [getattr(block, name) for name in block.most]
    m.d.comb += Assume(block.read < len(block.most))
    with m.If(block.clear | Cat(events).any() | (before != block.read)):
        m.d.sync += quiet.eq(0)
    with m.Elif(quiet < 8):
        m.d.sync += quiet.eq(quiet + 1)
    for index, (total, event) in enumerate(zip(totals.values(), events, strict=True)):
        m.d.sync += total.eq(Mux(block.clear, 0, total + event))
        looked_at = (block.read == index) & (before == index) & (quiet == 8)
        m.d.comb += Assert(~looked_at | (block.value == total), "an event was lost")


ARRAY = {
    "event counters": Proof(
        "no event is lost, whichever counter is read",
        lambda: Watched(EventCounters({"single": 1, "many": 3, "rare": 1}), _no_event_is_lost),
        "bmc",
        20,
    ),
    "merge": Proof("results are held until taken", lambda: Watched(Merge(_GEOMETRY))),
    "dma bursts": Proof(
        "a burst is held until taken, and lies within a block of its size and within 4 KiB",
        lambda: Watched(ReadDMA(32, outstanding=2, burst=4), _bursts_are_in_order),
        trusted="block",
    ),
    "dma": Proof(
        "every word of the range is asked for and given once, in order; never more bursts under "
        "way, nor words, than there is room for",
        lambda: Watched(ReadDMA(32, outstanding=2, burst=2), _range_is_read),
        "bmc",
        18,
    ),
    "command queue": Proof(
        "words are held until taken; it has one where it says so, and never more than places",
        lambda: Watched(CommandQueue(4, 4), _queue_knows_its_words),
        "bmc",
        24,
    ),
    "attempt scheduler": Proof(
        "heads are held until taken; a slot is locked from its attempt's push to its last SNAP",
        lambda: Watched(AttemptScheduler(_ONE_PASS, depth=2, heads=3), _attempt_locks_its_slot),
        "bmc",
        20,
    ),
    "predictor": Proof(
        "predictions are held until taken; never more under way than there is room for",
        lambda: Watched(Predictor(_BAYES, depth=4, waiting=4), _predictions_have_room),
        "bmc",
        20,
    ),
    "report writer": Proof(
        "words are held until taken",
        lambda: Watched(ReportWriter(_GEOMETRY), lambda m, block: steady(m, block.configuration.report.all)),
    ),
    "editor": Proof(
        "attempts, jobs, counts are held until taken",
        lambda: Watched(SlotEditor(_GEOMETRY), _command_is_steady),
        "bmc",
        20,
    ),
}
