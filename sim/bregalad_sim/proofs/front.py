"""What is claimed of the blocks before the array in a core that holds the tree."""

from amaranth import Assert, Assume, Mux, Signal
from bregalad.geometry import Geometry
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad_hw.front.judge import Judge
from bregalad_hw.front.leaf_rows import LeafRows

from .watched import Proof, Watched, steady

__all__ = ["FRONT"]

_GEOMETRY = Geometry(lanes=2, passes=1, bins=4, classes=2, slots=4, count_width=12, bus_width=32)


def _verdict_and_trial(m, block):
    """The registers stay as they are."""
    steady(m, *(value for _, _, value in block.configuration.signature.flatten(block.configuration)))
    m.d.comb += Assert(
        (block.i.valid & block.i.ready) == (block.o.valid & block.o.ready), "a trial is taken as its verdict is"
    )


def _no_count_is_lost(m, block):
    """Of one leaf and one class: a READ, any one, tells what the records before it and the last WRITE have made of it.

    Records that are told, or make trials or marks due, would only add results.
    """
    item, rule = block.i.p, block.configuration
    word = len(RowWord) + 1  # the count of class 1
    taken, here = block.i.valid & block.i.ready, item.node == 1
    learns, reads, writes = (item.op == op for op in (RowOp.RECORD, RowOp.READ, RowOp.WRITE))
    m.d.comb += [
        Assume(~rule.leaf_predictor.told & (rule.leaf_marks.every == 0)),
        Assume(learns & ~item.test | reads | writes & ((item.word >= len(RowWord)) | (item.word == RowWord.ARRIVALS))),
        Assume(item.word <= word),
        Assume(~item.value[4:].any()),  # no count comes to its end within the depth of the proof
    ]
    count, arrivals = Signal(block.width), Signal(8)
    asked, told, chosen, wanted = Signal(8), Signal(8), Signal(8), Signal(8)
    armed = Signal()
    m.d.sync += [asked.eq(asked + (taken & reads)), told.eq(told + (block.o.valid & block.o.ready))]
    with m.If(taken & here & learns):
        m.d.sync += [count.eq(count + (item.label == 1)), arrivals.eq(arrivals + 1)]
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


FRONT = {
    "leaf rows": Proof(
        "results are held until taken, and there is room for them; a read tells what all before it have made of a "
        "count, and of a word of the row",
        lambda: Watched(LeafRows(_GEOMETRY, 2, width=6), _no_count_is_lost),
        "bmc",
        16,
    ),
    "judge": Proof(
        "verdicts are held until taken, each together with its trial",
        lambda: Watched(Judge(_GEOMETRY), _verdict_and_trial),
    ),
}
