"""What is claimed of the core's blocks in a system on chip: the rules of AXI, and that nothing is lost."""

from amaranth import Assert, Assume, Cat, Signal
from bregalad.protocol.fields import Access, Field, Register
from bregalad.protocol.soc import REPORT_RING
from bregalad_hw.mcmu.axi import BOUNDARY
from bregalad_hw.soc.commands import CommandRing
from bregalad_hw.soc.lite import RegisterPort
from bregalad_hw.soc.reports import ReportRing
from bregalad_hw.soc.shared import SharedReads, SharedWrites

from .watched import Proof, Watched, steady

_COUNT = 6  # bits of how many transfers there were


def _channel(m, check, port, kind, *payload):
    """What a channel offers stays until it is taken."""
    valid, ready = getattr(port, f"{kind}valid"), getattr(port, f"{kind}ready")
    told = Cat(getattr(port, name) for name in payload)
    stays, before = Signal(), Signal(len(told))
    m.d.sync += [stays.eq(valid & ~ready), before.eq(told)]
    m.d.comb += check(~stays | (valid & (told == before)), f"{kind} is held")
    return valid & ready


def _count(m, event):
    """How often there was an event."""
    count = Signal(_COUNT)
    m.d.sync += count.eq(count + event)
    return count


def _access_is_answered_once(m, block):
    """Whatever waits: no more answers than accesses, and no more than one access more than answers."""
    axi = block.axi
    to = _count(m, _channel(m, Assume, axi, "aw", "awaddr"))
    words = _count(m, _channel(m, Assume, axi, "w", "wdata", "wstrb"))
    asked = _count(m, _channel(m, Assume, axi, "ar", "araddr"))
    answered = _channel(m, Assert, axi, "b", "bresp")
    done, good = _count(m, answered), _count(m, answered & (axi.bresp == 0))
    told = _count(m, _channel(m, Assert, axi, "r", "rdata", "rresp"))
    written = _count(m, block.csr.w_en | block.core_csr.w_en)
    for requests, answers, valid in ((to, done, axi.bvalid), (words, done, axi.bvalid), (asked, told, axi.rvalid)):
        ahead = (requests - answers)[:_COUNT]
        m.d.comb += Assert((ahead <= 2) & (~valid | (ahead != 0)), "each access is answered once")
    m.d.comb += [
        Assert(~(block.csr.w_en & block.core_csr.w_en), "one register at a time"),
        Assert((written - good)[:_COUNT] <= 1, "a write that is answered so is done once"),
    ]


def _registers():
    return [Register("one", 0, Field("value", 32, Access.RW, ""))]


def _reads_are_shared(m, block):
    """Of managers whose bursts are of a word: the bus sees the rules, and each manager its own words."""
    o = block.o
    taken = _channel(m, Assert, o, "ar", "araddr", "arlen", "arid", "arsize", "arburst")
    steady(m, block.base, block.pages)
    m.d.comb += [
        Assume((block.base[:12] == 0) & (block.base[44:] == 0)),
        Assert(~o.arvalid | (o.araddr[:12] + ((o.arlen + 1) << 2) <= BOUNDARY), "within 4 KiB"),
        Assert(~o.arvalid | ((o.araddr - block.base)[12:64] < block.pages), "inside the window"),
        Assert(o.rready, "words are taken at once"),
        Assume(o.rlast),
    ]
    inside = []
    for number in range(block.managers):
        i = block.i[number]
        asked = _channel(m, Assume, i, "ar", "araddr", "arlen")
        m.d.comb += [
            Assume((i.araddr[:2] == 0) & (i.araddr[44:] == 0) & (i.arsize == 2) & (i.arburst == 1)),
            Assume(i.arlen == 0),
            Assume(i.araddr[:12] + ((i.arlen + 1) << 2) <= BOUNDARY),
        ]
        owed = Signal(_COUNT, name=f"owed_{number}")  # words
        bus = Signal(_COUNT, name=f"bus_{number}")  # of them, those that the bus owes
        comes = o.rvalid & (o.rid == number)
        m.d.sync += [
            owed.eq(owed + (i.arlen + 1) * asked - i.rvalid),
            bus.eq(bus + (o.arlen + 1) * (taken & (o.arid == number)) - comes),
        ]
        m.d.comb += [
            Assume(~comes | (bus != 0)),
            Assert(~i.rvalid | (owed != 0), "no word that nobody has asked for"),
            Assert(~comes | i.rvalid, "no word is lost"),
        ]
        inside.append(owed == 0)
    stopped, long = Signal(), Signal()
    m.d.sync += [stopped.eq(block.stop), long.eq(stopped & block.stop)]
    m.d.comb += Assert(~(block.quiet & long & block.stop) | Cat(inside).all(), "quiet when all is answered")


def _writes_are_shared(m, block):
    o = block.o
    steady(m, block.base)
    begun = _channel(m, Assert, o, "aw", "awaddr", "awlen", "awid", "awsize", "awburst")
    moved = _channel(m, Assert, o, "w", "wdata", "wstrb", "wlast")
    begins, ends = _count(m, begun), _count(m, moved & o.wlast)
    answers = _count(m, o.bvalid)
    m.d.comb += [
        Assert(o.bready, "answers are taken at once"),
        Assert((ends - begins + 1)[:_COUNT] <= 2, "one burst after the other"),
        Assume(~o.bvalid | ((ends - answers)[:_COUNT] != 0) & ((begins - answers)[:_COUNT] != 0)),
    ]
    for number in range(block.managers):
        i = block.i[number]
        asked = _channel(m, Assume, i, "aw", "awaddr", "awlen")
        given = _channel(m, Assume, i, "w", "wdata", "wstrb", "wlast")
        # Who offers a burst has its words, and offers no others.
        wanted, sent = Signal(2, name=f"wanted_{number}"), Signal(2, name=f"sent_{number}")
        m.d.comb += [
            Assume(i.awlen < 2),
            Assume(i.wvalid == (i.awvalid | (sent != wanted))),
            Assume(i.wlast == Cat(sent + 1 == wanted).any()),
        ]
        with m.If(asked):
            m.d.sync += [wanted.eq(i.awlen + 1), sent.eq(0)]
        with m.Elif(given):
            m.d.sync += sent.eq(sent + 1)
        m.d.comb += [Assume(~i.awvalid | (sent == wanted)), Assert(~(given & asked), "a word comes after its address")]


def _report_is_written(m, block):
    """Of any one word: memory gets it at its place before it is produced."""
    axi = block.axi
    steady(m, block.page, block.size, block.pages)
    begun = _channel(m, Assert, axi, "aw", "awaddr", "awlen", "awsize", "awburst")
    moved = _channel(m, Assert, axi, "w", "wdata", "wstrb", "wlast")
    begins, ends, answers = _count(m, begun), _count(m, moved & axi.wlast), _count(m, axi.bvalid)
    taken, word = Signal(32), Signal(32)
    steady(m, block.clear)
    m.d.sync += taken.eq(taken + (block.i.valid & block.i.ready))
    number = block.pages[:4]  # of the word, any one
    with m.If((taken == number) & block.i.valid & block.i.ready):
        m.d.sync += word.eq(block.i.p.data)
    beat, written = Signal(8), Signal()
    with m.If(moved):
        m.d.sync += beat.eq(beat + 1)
        with m.If(axi.wlast):
            m.d.sync += beat.eq(0)
    place = (block.page << 12) + (number << 2)
    now = (axi.awaddr + (beat << 2))[:32] == place[:32]
    m.d.comb += [
        Assume((block.size == REPORT_RING[0]) & ~block.clear & (block.consumed == 0)),
        Assume(~axi.bvalid | ((ends - answers)[:_COUNT] != 0) & ((begins - answers)[:_COUNT] != 0)),
        Assert(~axi.awvalid | (axi.awaddr[:12] + ((axi.awlen + 1) << 2) <= BOUNDARY), "within 4 KiB"),
        Assert(~(moved & axi.wlast) | (beat == axi.awlen), "as many words as were told"),
        Assert(~(moved & axi.wstrb.any() & now) | (axi.wdata == word), "the word that came"),
        Assert(block.produced <= taken, "no more than came"),
        Assert(~(block.produced > number) | written, "not before memory has it"),
    ]
    with m.If(moved & now & axi.wstrb.all()):
        m.d.sync += written.eq(1)


def _descriptors_are_done_once(m, block):
    """Of a ring that the host adds to, and never more than it has."""
    steady(m, block.page, block.size, block.clear)
    consumed, produced = Signal(32), Signal(32)
    began = Signal()
    m.d.sync += [began.eq(1), consumed.eq(block.consumed), produced.eq(block.produced)]
    m.d.comb += [
        Assume(~block.clear & (block.size == 2) & (block.produced <= 4) & (block.produced >= produced)),
        Assert(~began | ((block.consumed - consumed)[:32] <= 1), "one after the other"),
        Assert(~began | (block.consumed <= block.produced), "no more than there are"),
    ]


SOC = {
    "register port": Proof(
        "answers are held until taken; each access has one, and each write is done at most once",
        lambda: Watched(RegisterPort(_registers(), _registers(), patience=2), _access_is_answered_once),
        "bmc",
        18,
    ),
    "shared reads": Proof(
        "a burst, here of a word, is held until taken, inside the window and within 4 KiB; what comes goes to who has "
        "asked for it, once",
        lambda: Watched(SharedReads(32, 3), _reads_are_shared),
        "bmc",
        7,
    ),
    "shared writes": Proof(
        "bursts and words are held until taken; one burst after the other",
        lambda: Watched(SharedWrites(32, 3), _writes_are_shared),
        "bmc",
        12,
    ),
    "report ring": Proof(
        "a burst is held until taken, within 4 KiB, of as many words as it tells; any word is in memory, at its place, "
        "before it is produced",
        lambda: Watched(ReportRing(32, burst=2), _report_is_written),
        "bmc",
        17,
    ),
    "command ring": Proof(
        "commands are held until taken; descriptors are done one after the other",
        lambda: Watched(CommandRing(128, outstanding=1, burst=2), _descriptors_are_done_once),
        "bmc",
        12,
        trusted="block.*",
    ),
}
