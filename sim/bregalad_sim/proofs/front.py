"""What is claimed of the blocks before the array in a core that holds the tree."""

from amaranth import Assert, Assume, Mux, Signal
from amaranth.lib import data
from bregalad.geometry import NONE, Geometry
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.nodes import KIND_LOW, NodeKind
from bregalad_hw.front.blocks import Blocks, DueSlots
from bregalad_hw.front.decider import Decider
from bregalad_hw.front.leaf_rows import LeafRows
from bregalad_hw.front.walker import Walker
from bregalad_hw.repeat import WEIGHT, Repeat

from .watched import Proof, Watched, steady

_GEOMETRY = Geometry(lanes=2, passes=1, bins=4, classes=2, slots=4, count_width=12, bus_width=32)


def _decision_and_attempt(m, block):
    """The registers stay as they are."""
    steady(m, *(value for _, _, value in block.configuration.signature.flatten(block.configuration)))
    m.d.comb += Assert(
        (block.i.valid & block.i.ready) == (block.o.valid & block.o.ready), "an attempt is taken as its decision is"
    )


def _copies_of_each(m, block):
    """As many as an item weighs, or one with ``zero``; the first, and the last, with which it is taken, are marked."""
    item, copy = block.i.p, block.o.p
    given, passed, wanted = block.o.valid & block.o.ready, Signal(WEIGHT), Signal(WEIGHT)
    m.d.comb += [
        Assume(item.weight < 8),  # heavier ones only take longer
        wanted.eq(Mux(item.weight == 0, 1, item.weight)),
        Assert((block.i.valid & block.i.ready) == (given & (passed + 1 == wanted)), "taken with the last copy"),
        Assert(~given | (copy.again == (passed != 0)), "again"),
        Assert(~given | (copy.more == (passed + 1 != wanted)), "more"),
        Assert(~given | (copy.zero == (item.weight == 0)), "zero"),
        Assert(~given | ((copy.label == item.label) & (copy.weight == item.weight)), "a copy of another"),
    ]
    with m.If(given):
        m.d.sync += passed.eq(Mux(block.i.ready, 0, passed + 1))


def _no_count_is_lost(m, block, weighs=False):
    """Of one leaf and one class: a READ, any one, tells what the records before it and the last WRITE have made of it.

    Records that are told, or make attempts due, would only add results. All weigh 1, or all the same, 0 to 3.
    """
    item, rule = block.i.p, block.configuration
    word = len(RowWord) + 1  # the count of class 1
    taken, here = block.i.valid & block.i.ready, item.node == 1
    steady(m, rule.leaf_predictor.by)
    learns, reads, writes = (item.op == op for op in (RowOp.RECORD, RowOp.READ, RowOp.WRITE))
    m.d.comb += [
        Assume(~rule.leaf_predictor.reported),
        Assume(learns & ~item.test | reads | writes & (item.word >= len(RowWord))),
        # The predictor is bits that this block does not look at.
        Assume(item.weight == (Mux(learns, rule.leaf_predictor.by, 1) if weighs else 1)),
        Assume(item.word <= word),
        Assume(~item.value[4:].any()),  # no count comes to its end within the depth of the proof
    ]
    count = Signal(block.width)
    asked, told, chosen, wanted = Signal(8), Signal(8), Signal(8), Signal(8)
    armed = Signal()
    m.d.sync += [asked.eq(asked + (taken & reads)), told.eq(told + (block.o.valid & block.o.ready))]
    with m.If(taken & here & learns):
        m.d.sync += count.eq(count + Mux(item.label == 1, item.weight, 0))
    with m.If(taken & here & writes & (item.word == word)):
        m.d.sync += count.eq(item.value)
    with m.If(taken & here & reads & (item.word == word) & item.test & ~armed):  # a bit that a READ leaves free
        m.d.sync += [armed.eq(1), chosen.eq(asked), wanted.eq(count)]
    m.d.comb += Assert(
        ~(armed & block.o.valid & (told == chosen)) | (block.o.p.hits[: len(wanted)] == wanted), "nothing is lost"
    )


def _none_is_beyond_the_end(m, block):
    """Records are handed over as the walker does it, and counted any time later.

    The next block begins some clocks after all are counted, as the sequencer takes them.
    """
    handed, counted, end = Signal(8), Signal(8), Signal(8, init=1)
    waits, rests = Signal(init=1), Signal(2)
    # Of what the block does not look at, bits that decide whether it happens.
    hands, counts = Signal(), Signal()
    m.d.comb += [
        Assume(~block.turns),
        Assume(block.counted == counted),
        Assume(~block.length[4:].any()),
        hands.eq(block.turn.number[0] & ~waits),
        counts.eq(block.turn.number[1] & (counted < handed)),
        Assume(~block.next | (block.ended & rests.all())),
        Assert(handed <= end, "a record is beyond the end"),
        Assert(~block.ended | (counted == end), "some are to be counted"),
        Assert((end != counted) | ~rests.all() | block.ended, "nobody knows that all are counted"),
    ]
    length = Signal(4)
    m.d.sync += [
        handed.eq(handed + hands),
        counted.eq(counted + counts),
        waits.eq(handed + hands == block.limit),
        rests.eq(Mux(counts | block.next, 0, rests + ~rests.all())),
    ]
    with m.If(block.go):
        m.d.sync += length.eq(block.length)
    with m.If(block.next):
        m.d.sync += end.eq(end + length + 1)


def _all_that_is_due_is_offered(m, block):
    """Of one slot, any one: once it is due it is offered before nothing more comes. None comes while they are taken."""
    owed, chosen, quiet, taking = Signal(), block.first[0], Signal(2), Signal()
    nothing = ~block.o.valid & ~block.incoming & quiet.all()
    steady(m, chosen)
    m.d.comb += [
        Assume(~block.turns),
        Assume(~(block.i.valid | block.mark) | ~(block.o.ready | taking)),
        Assume(~block.o.ready | quiet.all()),
        Assume(~block.done | nothing),
        Assert(~(owed & nothing), "a slot is lost"),
    ]
    m.d.sync += [
        quiet.eq(Mux(block.i.valid | block.mark, 0, quiet + ~quiet.all())),
        taking.eq((taking | block.o.ready) & ~block.done),
    ]
    with m.If(block.i.valid & (block.i.payload == chosen)):
        m.d.sync += owed.eq(1)
    with m.Elif(block.o.valid & block.o.ready & (block.o.payload == chosen)):
        m.d.sync += owed.eq(0)


def _between_edits(m, block):
    """Records go by the root's row as the last edit left it; none is handed over that has to wait.

    The root is a leaf, or compares its only attribute, whose code is 1, and leads to nodes 1 and 2.
    """
    record, edit, item = block.i.p, block.edit.p, block.o.p
    edited = block.edit.valid & block.edit.ready
    where, kind = Signal(2), edit.test[KIND_LOW:]
    waits, limit = Signal(), Signal(32)
    stood, before = Signal(), Signal(32)  # nothing is handed over in this clock
    m.d.comb += [
        Assume(~block.renumber & (block.limit >= block.handed) & (block.limit >= limit) & (block.limit < 4)),
        Assume((record.codes[0] == 1) & (record.root == 0) & record.last),
        Assume((edit.node == 0) & (edit.test[:KIND_LOW] == 0) & (edit.child == 1) & (edit.default == 0)),
        Assume((kind <= NodeKind.NUMERIC) & (edit.slot == NONE)),
        Assert(~block.o.valid | ((item.node == where) & ~item.lost), "a walk of another tree"),
        Assert(~edited | block.quiet, "an edit before a record that was handed over"),
        Assert(~stood | (block.quiet & (block.handed == before)), "a record does not wait"),
    ]
    m.d.sync += [
        waits.eq(block.hold | block.edit.valid),
        limit.eq(block.limit),
        stood.eq(block.quiet & (waits | edited | (block.handed == limit))),
        before.eq(block.handed),
    ]
    with m.If(edited):
        m.d.sync += where.eq(Mux(kind == NodeKind.LEAF, 0, Mux(edit.value <= 1, 2, 1)))


FRONT = {
    "repeat": Proof(
        "copies are held until taken; as many as an item weighs, the first and the last of them marked",
        lambda: Watched(Repeat(data.StructLayout({"label": 3, "weight": WEIGHT})), _copies_of_each),
        "bmc",
        20,
    ),
    "walker": Proof(
        "items are held until taken; a record is walked between the same two edits; none is handed over at the limit, "
        "under `hold`, or as an edit is carried out",
        lambda: Watched(Walker(3, 1, 1, 1, records=2, alternates=0), _between_edits),
        "bmc",
        30,
    ),
    "leaf rows": Proof(
        "results are held until taken, and there is room for them; a read tells what all before it have made of a "
        "count, and of a word of the row",
        lambda: Watched(LeafRows(_GEOMETRY, 2, width=6), _no_count_is_lost),
        "bmc",
        16,
    ),
    "leaf rows, instances that weigh": Proof(
        "the same where each record is counted as often as it weighs",
        lambda: Watched(LeafRows(_GEOMETRY, 2, width=6), lambda m, block: _no_count_is_lost(m, block, weighs=True)),
        "bmc",
        12,
    ),
    "blocks": Proof(
        "no record is handed over beyond the end of its block; and it is known when all are counted",
        lambda: Watched(Blocks(), _none_is_beyond_the_end),
        "bmc",
        32,
    ),
    "due slots": Proof(
        "a slot that is due is offered at the block's end, however many are",
        lambda: Watched(DueSlots(_GEOMETRY, depth=2), _all_that_is_due_is_offered, but=("o",)),
        "bmc",
        16,
    ),
    "decider": Proof(
        "decisions are held until taken, each together with its attempt",
        lambda: Watched(Decider(_GEOMETRY), _decision_and_attempt),
    ),
}
