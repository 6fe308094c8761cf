"""Reports of what leaf rows tell, among all others."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.tree import TREE_REPORTS, TreeKind

from ..layout import words_of
from ..mcmu.report import REPORT_WORD
from .leaf_rows import result_layout


class ResultWriter(wiring.Component):
    """Write LABEL, MARK and ROW reports.

    Members
    -------
    i : In(stream of result_layout)
    o : Out(stream of {data: 32, last})

    Latency: 0 cycles from a result to its first word. Throughput: a word per cycle.

    Source: host/bregalad/protocol/tree.py.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        super().__init__(
            {"i": In(stream.Signature(result_layout(g, g.nodes))), "o": Out(stream.Signature(REPORT_WORD))}
        )

    def elaborate(self, platform):
        m = Module()
        result, o = self.i.p, self.o
        label = words_of(TREE_REPORTS[TreeKind.LABEL], kind=TreeKind.LABEL, label=result.label, node=result.node)
        marks = words_of(TREE_REPORTS[TreeKind.MARK], kind=TreeKind.MARK, instances=result.instances, hits=result.hits)
        row = words_of(TREE_REPORTS[TreeKind.ROW], kind=TreeKind.ROW, node=result.node, value=result.hits)
        index, end = Signal(range(4)), Signal()
        m.d.comb += [o.valid.eq(self.i.valid), o.p.last.eq(end), self.i.ready.eq(end & o.ready)]
        for reported, words in ((result.reported, label), (result.mark, marks), (result.read, row)):
            with m.If(reported):
                m.d.comb += end.eq(index == len(words) - 1)
                with m.Switch(index):
                    for place, word in enumerate(words):
                        with m.Case(place):
                            m.d.comb += o.p.data.eq(word)
        with m.If(o.valid & o.ready):
            m.d.sync += index.eq(Mux(end, 0, index + 1))
        return m


class ReportMerge(wiring.Component):
    """One stream of reports out of two: whole reports, in turns where both have one.

    Members
    -------
    first, second : In(stream of {data: 32, last})
    o : Out(stream of {data: 32, last})

    Latency: 0 cycles. Throughput: a word per cycle.
    """

    first: In(stream.Signature(REPORT_WORD))
    second: In(stream.Signature(REPORT_WORD))
    o: Out(stream.Signature(REPORT_WORD))

    def elaborate(self, platform):
        m = Module()
        # Whose report is written, or was the last; and that it is not at its end.
        turn, within, chosen = Signal(), Signal(), Signal()
        m.d.comb += chosen.eq(Mux(within, turn, Mux(turn, ~self.first.valid, self.second.valid)))
        with m.If(chosen):
            connect(m, flipped(self.second), flipped(self.o))
        with m.Else():
            connect(m, flipped(self.first), flipped(self.o))
        with m.If(self.o.valid):
            m.d.sync += [turn.eq(chosen), within.eq(~(self.o.ready & self.o.p.last))]
        return m
