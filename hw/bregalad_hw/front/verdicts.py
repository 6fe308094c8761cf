"""What becomes of trials: the judge keeps most of their nodes as they are, and the others are proposals."""

from amaranth import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.judge import JUDGE
from bregalad.protocol.reports import SuggestionFlag

from ..array.merge import summary_layout
from ..configuration import configuration_signature
from ..mcmu.scheduler import head_layout
from ..members import assign
from .judge import Judge

__all__ = ["Verdicts"]

_COUNTS, _CANDIDATES = ("n", "base", "ask_up_to"), ("best", "second", "current")


class Verdicts(wiring.Component):
    """Let each trial be judged; report those that may change the tree.

    Trials are judged one by one, in order. One that changes nothing is dropped, summary and all. Of a proposal the
    report writer gets both, and the next is looked at when it is written. With ``report.all`` all are proposals:
    GAINS are not judged.

    Parameters
    ----------
    geometry : Geometry
    trials : int
        That may wait for their report: ``heads`` of the scheduler.

    Members
    -------
    configuration : In(configuration_signature())
        Its ``report.all``.
    rule : In(configuration_signature(JUDGE))
        Steady while a trial is under way.
    pushed : In(1)
        The scheduler takes a trial.
    head : In(stream of head_layout), summary : In(stream of summary_layout)
        From scheduler and array: trials, in order.
    proposal : Out(stream of head_layout), outcome : Out(stream of summary_layout)
        To the report writer.
    written : In(1), reported : Out(1)
        A trial's report is written, as the writer says; or it needs none, for the scheduler.
    proposed : Out(1)
        For a clock: a trial is a proposal.
    undecided : Out(1)
        There are trials that are not judged, or whose report is not written; from the clock after ``pushed`` on.

    Latency: 5 cycles from ``head.valid``, and the judge's, to the next trial where a node is kept.

    Source: sim/bregalad_sim/golden/tree.py.
    """

    def __init__(self, geometry, *, trials=16):
        self.geometry = g = geometry
        self.trials = trials
        super().__init__(
            {
                "configuration": In(configuration_signature()),
                "rule": In(configuration_signature(JUDGE)),
                **dict.fromkeys(("pushed", "written"), In(1)),
                "head": In(stream.Signature(head_layout(g))),
                "summary": In(stream.Signature(summary_layout(g))),
                "proposal": Out(stream.Signature(head_layout(g))),
                "outcome": Out(stream.Signature(summary_layout(g))),
                **dict.fromkeys(("reported", "proposed", "undecided"), Out(1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        head, summary = self.head.p, self.summary.p
        m.submodules.judge = judge = Judge(self.geometry)
        connect(m, flipped(self.rule), judge.configuration)

        # Head and summary are there for some clocks before they are judged: from registers the way is short.
        asks, there = Signal(), Signal()
        candidates = Signal(data.StructLayout({name: summary[name].shape() for name in _CANDIDATES}))
        known = Signal(data.StructLayout({**dict.fromkeys(_COUNTS, self.geometry.count_width), "inner": 1}))
        m.d.sync += [
            asks.eq(self.configuration.report.all | ~self.rule.judge.decides),
            *assign(known, head, *_COUNTS),
            known.inner.eq((head.flags & int(SuggestionFlag.INNER)) != 0),
            there.eq(self.summary.valid),
            *assign(candidates, summary, *_CANDIDATES),
        ]
        m.d.comb += [
            *assign(judge.i.p, known, *_COUNTS, "inner"),
            *assign(judge.i.p, candidates, *_CANDIDATES),
            self.proposal.payload.eq(self.head.payload),
            self.outcome.payload.eq(self.summary.payload),
        ]

        passed = Signal()  # the writer has the proposal's outcome
        with m.FSM(name="state"):
            with m.State("LOOK"):
                m.d.sync += passed.eq(0)
                with m.If(self.head.valid):
                    m.next = "SORT"
            with m.State("SORT"):
                m.next = "JUDGE"
                with m.If(asks):
                    m.d.comb += self.proposed.eq(1)
                    m.next = "REPORT"
            with m.State("JUDGE"):
                m.d.comb += [judge.i.valid.eq(there), judge.o.ready.eq(1)]
                with m.If(judge.o.valid):
                    m.d.comb += self.proposed.eq(judge.o.payload)
                    m.next = "DROP"
                    with m.If(judge.o.payload):
                        m.next = "REPORT"
            with m.State("DROP"):
                m.d.comb += [self.head.ready.eq(1), self.summary.ready.eq(1), self.reported.eq(1)]
                m.next = "LOOK"
            with m.State("REPORT"):
                m.d.comb += [self.proposal.valid.eq(1), self.head.ready.eq(self.proposal.ready)]
                with m.If(self.proposal.ready):
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += [
                    self.outcome.valid.eq(self.summary.valid & ~passed),
                    self.summary.ready.eq(self.outcome.ready & ~passed),
                    self.reported.eq(self.written),
                ]
                m.d.sync += passed.eq(passed | (self.outcome.valid & self.outcome.ready))
                with m.If(self.written):
                    m.next = "LOOK"

        left = Signal(range(self.trials + 3))
        m.d.sync += left.eq(left + self.pushed - self.reported)
        m.d.comb += self.undecided.eq(left != 0)
        return m
