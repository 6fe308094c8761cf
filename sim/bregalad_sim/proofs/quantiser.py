"""What is claimed of the quantiser's blocks."""

from amaranth import Assert, Assume, Module, Signal
from bregalad.geometry import CODE_WIDTH, Geometry
from bregalad.protocol.rows import RowOpcode
from bregalad_hw.front.cutter import Cutter
from bregalad_hw.front.search import Search
from bregalad_hw.front.steps import StepTable

from .watched import Proof, Watched

_GEOMETRY = Geometry(lanes=2, passes=1, bins=4, classes=2, slots=4, count_width=12, bus_width=32)
_STRIDE = 3  # bytes of a row, so that rows begin at any byte of a word
_LEVELS = 3


class _OneStep(StepTable):
    """A row's only step, which reads it from its first byte on."""

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [
            self.o.advance.eq(_STRIDE),
            self.o.uses.eq(_STRIDE),
            self.o.end.eq(2),
            self.o.beat.eq(1),
            self.o.last.eq(1),
        ]
        return m


class _OneStepCutter(Cutter):
    table = _OneStep


def _rows_come_once_in_order(m, block):
    """After a layout a command of rows; each byte of a word is the word's number."""
    command = block.command
    told, count, offset = Signal(), Signal(4), Signal(2)
    rows_told = Signal()
    words, steps = Signal(6), Signal(6)
    layout = command.p.opcode == RowOpcode.LAYOUT
    m.d.comb += [
        Assume(~block.stop),
        Assume(~command.valid | ~rows_told),
        Assume(layout == ~told),
        Assume(layout | (command.p.opcode == RowOpcode.RECORDS)),
        Assume((command.p.stride == _STRIDE) & (command.p.need == _STRIDE)),
        Assume(command.p.count == command.p.count[: len(count)]),
        Assume(~layout | (command.p.count == 0)),
        *(Assume(block.i.payload.word_select(byte, 8) == words) for byte in range(4)),
    ]
    with m.If(command.valid & command.ready):
        m.d.sync += [told.eq(1), rows_told.eq(told), count.eq(command.p.count), offset.eq(command.p.offset)]
    with m.If(block.i.valid & block.i.ready):
        m.d.sync += words.eq(words + 1)
    step = block.o.beside.step
    with m.If(step):
        m.d.sync += steps.eq(steps + 1)
    # Those that the words so far complete, and all of them when nothing is under way.
    whole, idle = Signal(8), Signal(range(block.latency + 2))
    at = offset + _STRIDE * steps
    m.d.sync += idle.eq(0)
    with m.If(~block.busy & (idle <= block.latency)):
        m.d.sync += idle.eq(idle + 1)
    m.d.comb += [
        whole.eq((words << 2) - offset),
        Assert(~step | (steps < count), "no row too many"),
        Assert(~step | (at + _STRIDE <= words << 2), "of words that have come"),
        *(Assert(~step | (block.o.window[byte] == (at + byte) >> 2), "each row, in order") for byte in range(_STRIDE)),
        Assert(~rows_told | ((words << 2) < offset + _STRIDE * count + 4), "no word too many"),
        Assert(~rows_told | block.busy | (idle <= block.latency) | (steps == count), "no row too few"),
        Assert(~rows_told | block.busy | (count == 0) | ((words << 2) >= offset + _STRIDE * count), "all words"),
    ]


class _FewLevels(Search):
    levels = _LEVELS


def _keys_see_the_edges_before_them(m, block):
    """Beside each edge its value where keys enter, and on with them."""
    top = CODE_WIDTH - _LEVELS
    clocks = 2 * _LEVELS
    given = block.i
    m.d.comb += [
        Assume(given.path[:top] == 0),
        Assume(given.write | (given.path == 0)),
    ]
    entered = given
    write, missing = given.write, given.out
    for clock in range(clocks):
        after = Signal.like(given, name=f"entered_{clock}")
        m.d.sync += after.eq(entered)
        entered = after
    m.d.comb += Assert(
        (block.o.key == entered.key) & (block.o.out == entered.out) & (block.o.write == entered.write), "in order"
    )
    for number in range(1, 1 << _LEVELS):  # an edge's path, without what is below
        lowest = (number & -number).bit_length() - 1
        written, none = Signal(name=f"written_{number}"), Signal(name=f"none_{number}")
        key = Signal(32, name=f"key_{number}")
        with m.If(write & (given.path >> top == number)):
            m.d.sync += [written.eq(1), key.eq(given.key), none.eq(missing)]
        below, known = (given.key >= key) & ~none, written
        for clock in range(clocks):
            after, known_after = Signal(name=f"below_{number}_{clock}"), Signal(name=f"known_{number}_{clock}")
            m.d.sync += [after.eq(below), known_after.eq(known)]
            below, known = after, known_after
        path = block.o.path >> top
        here = (path >> (lowest + 1)) == number >> (lowest + 1)
        m.d.comb += Assert(
            entered.write | ~known | ~here | (path[lowest] == below), "a key is compared with the edge before it"
        )


QUANTISER = {
    "cutter": Proof(
        "each row is cut once, in order, of words that have come; no word is taken too many or too few",
        lambda: Watched(_OneStepCutter(_GEOMETRY, 2), _rows_come_once_in_order),
        "bmc",
        24,
    ),
    "search": Proof(
        "keys come in order, each compared with the edges that came before it and with none behind it",
        lambda: Watched(_FewLevels(1), _keys_see_the_edges_before_them),
        "bmc",
        16,
    ),
}
