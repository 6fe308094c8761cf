"""What is claimed of the blocks before the array in a core that holds the tree."""

from amaranth import Array, Assert, Assume, Cat, Mux, Signal
from amaranth.lib import data
from bregalad.geometry import NONE, Geometry
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.nodes import KIND_LOW, NodeKind
from bregalad.protocol.reports import SuggestionFlag
from bregalad_hw.front.judge import Judge
from bregalad_hw.front.leaf_rows import LeafRows
from bregalad_hw.front.verdicts import Verdicts
from bregalad_hw.front.walker import Walker
from bregalad_hw.repeat import WEIGHT, Repeat

from .watched import Proof, Watched, steady

__all__ = ["FRONT"]

_GEOMETRY = Geometry(lanes=2, passes=1, bins=4, classes=2, slots=4, count_width=12, bus_width=32)


def _verdict_and_trial(m, block):
    """The registers stay as they are."""
    steady(m, *(value for _, _, value in block.configuration.signature.flatten(block.configuration)))
    m.d.comb += Assert(
        (block.i.valid & block.i.ready) == (block.o.valid & block.o.ready), "a trial is taken as its verdict is"
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

    Records that are told, or make trials or marks due, would only add results. All weigh 1, or all the same, 0 to 3.
    """
    item, rule = block.i.p, block.configuration
    word = len(RowWord) + 1  # the count of class 1
    taken, here = block.i.valid & block.i.ready, item.node == 1
    steady(m, rule.leaf_predictor.by)
    learns, reads, writes = (item.op == op for op in (RowOp.RECORD, RowOp.READ, RowOp.WRITE))
    m.d.comb += [
        Assume(~rule.leaf_predictor.told & (rule.leaf_marks.every == 0)),
        Assume(learns & ~item.test | reads | writes & ((item.word >= len(RowWord)) | (item.word == RowWord.ARRIVALS))),
        # The predictor is bits that this block does not look at.
        Assume(item.weight == (Mux(learns, rule.leaf_predictor.by, 1) if weighs else 1)),
        Assume(item.word <= word),
        Assume(~item.value[4:].any()),  # no count comes to its end within the depth of the proof
    ]
    count, arrivals = Signal(block.width), Signal(8)
    asked, told, chosen, wanted = Signal(8), Signal(8), Signal(8), Signal(8)
    armed = Signal()
    m.d.sync += [asked.eq(asked + (taken & reads)), told.eq(told + (block.o.valid & block.o.ready))]
    with m.If(taken & here & learns):
        m.d.sync += [count.eq(count + Mux(item.label == 1, item.weight, 0)), arrivals.eq(arrivals + 1)]
    with m.If(taken & here & writes):
        with m.If(item.word == word):
            m.d.sync += count.eq(item.value)
        with m.If(item.word == RowWord.ARRIVALS):
            m.d.sync += arrivals.eq(item.value)
    which = (item.word == word) | (item.word == RowWord.ARRIVALS)
    with m.If(taken & here & reads & which & item.test & ~armed):  # a bit that a READ leaves free
        m.d.sync += [armed.eq(1), chosen.eq(asked), wanted.eq(Mux(item.word == word, count, arrivals))]
    m.d.comb += Assert(
        ~(armed & block.o.valid & (told == chosen)) | (block.o.p.hits[: len(wanted)] == wanted), "nothing is lost"
    )


def _no_lock_is_late(m, block):
    """Of one trial, any one: its node is locked before any record is handed over that must find it so.

    Records are handed over whenever they may be, and counted any time later; a record's trials are pushed before it
    is counted. TRIALs and EDITs come while none is handed over and all are counted. The node is number 5, and no other
    trial's. Trials have counts by which the judge decides at once. There are no more of them than locks have room.
    Where there has been no trial, or none since all locks were dropped, numbers may go on from any other.
    """
    head, lock, told = block.head.p, block.lock.p, block.configuration.report
    delay = block.tree.delay.records
    taken, cancels = block.head.valid & block.head.ready, block.cancel.valid & block.cancel.ready
    # Of what the block does not look at, bits that decide whether it happens.
    hand, count, choose = told.neighbours, told.predictions[0], block.configuration.cells.count[0]
    jump, other = block.configuration.classes.count[0], block.configuration.grace.leaf[:4]
    steady(m, delay, told.all, *(value for _, _, value in block.rule.signature.flatten(block.rule)))

    handed, counted, pushes, heads, out = Signal(5), Signal(5), Signal(3), Signal(3), Signal(2)
    numbers = Array(Signal(5, name=f"number_{index}") for index in range(4))  # of the trials that are pushed
    asked = Array(Signal(name=f"asked_{index}") for index in range(4))
    hands, counts, paused = Signal(), Signal(), Signal()
    number, chooses = Signal(5), Signal()
    none, jumps, jumped = Signal(init=1), Signal(), Signal(2)
    due = block.lock.valid & ~block.turning & (lock.at <= handed)
    m.d.comb += [
        hands.eq(hand & ~due & ~block.cancel.valid & ~block.turning & ~paused & (handed <= block.decided + delay)),
        counts.eq(count & (counted < handed)),
        jumps.eq(jump & none & ~hand & ~block.pushed & (handed == counted)),
        number.eq(counted + ~block.requested),
        Assume(block.counted == counted),
        Assume(~delay[2:].any()),
        Assume((head.n == 0) | head.ask_up_to.all()),
        Assume(~(told.all & block.summary.valid)),
        Assume(~(block.written & block.outcome.valid & ~block.outcome.ready)),
        Assume(~block.pushed | ((pushes < 4) & (out < block.trials) & ~block.cancel.valid)),
        Assume(~block.pushed | Mux(block.requested, (handed == counted) & ~hand, counted < handed)),
        Assume(~block.cancel.valid | (handed == counted)),
        Assume(~block.lock.ready | due),
        Assume(~block.head.valid | (heads < pushes)),
        Assume(~block.head.valid | (head.number == numbers[heads[:2]])),
        Assume(~block.head.valid | (asked[heads[:2]] == (head.flags & int(SuggestionFlag.REQUESTED)).any())),
    ]
    m.d.sync += [
        handed.eq(Mux(jumps, other, handed + hands)),
        counted.eq(Mux(jumps, other, counted + counts)),
        jumped.eq(Cat(jumps, jumped)),
        none.eq(~block.pushed & (none | (cancels & block.cancel.p.all))),
        pushes.eq(pushes + block.pushed),
        heads.eq(heads + taken),
        out.eq(out + block.pushed - block.reported),
        paused.eq(block.hold | (block.pushed & block.requested) | jumps),
    ]
    with m.If(block.pushed):
        m.d.sync += [numbers[pushes[:2]].eq(number), asked[pushes[:2]].eq(block.requested)]

    armed, chosen, at = Signal(), Signal(2), Signal(5)
    settled, decided = Signal(), Signal(32)  # the node is locked, or need not be
    m.d.comb += chooses.eq(block.pushed & choose & ~armed)
    with m.If(chooses):
        m.d.sync += [armed.eq(1), chosen.eq(pushes), at.eq(number + delay)]
    is_chosen = armed & (heads == chosen)
    dropped = taken & is_chosen & ~block.proposal.valid
    cancelled = cancels & ((block.cancel.p.node == 5) | block.cancel.p.all)
    with m.If(dropped | (block.lock.ready & (lock.node == 5)) | (cancelled & armed)):
        m.d.sync += settled.eq(1)
    m.d.sync += decided.eq(block.decided)
    m.d.comb += [
        Assume(~block.head.valid | ((head.node == 5) == is_chosen)),
        Assert(~chooses | (handed <= number + delay), "a record is ahead of a trial"),
        Assert(~(hands & armed & (handed >= at)) | settled, "a lock is late"),
        Assert(~(block.lock.valid & (lock.node == 5)) | (armed & ~settled & (lock.at == at)), "a lock of nothing"),
        Assert((block.decided >= decided) | jumped[1], "fewer are decided"),
    ]


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
    "verdicts": Proof(
        "a proposal's node is locked before any record that must find it so, but never if its lock was cancelled",
        lambda: Watched(Verdicts(_GEOMETRY.replace(nodes=9), trials=2), _no_lock_is_late, but=("lock",)),
        "bmc",
        12,
    ),
    "judge": Proof(
        "verdicts are held until taken, each together with its trial",
        lambda: Watched(Judge(_GEOMETRY), _verdict_and_trial),
    ),
}
