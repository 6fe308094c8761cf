"""What becomes of attempts: the decider keeps most of their nodes as they are, and the others are candidates."""

from amaranth import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.decider import DECIDER
from bregalad.protocol.reports import AttemptFlag

from ..array.merge import summary_layout
from ..mcmu.scheduler import head_layout
from ..members import assign
from ..registers import configuration_signature
from .decider import Decider

_COUNTS, _RANKS = ("n", "inherited", "all_up_to"), ("best", "second", "current")


class Decisions(wiring.Component):
    """Let each attempt be decided; report those that may change the tree.

    Attempts are decided one by one, in order. One that changes nothing is dropped, summary and all. Of a candidate the
    report writer gets both, and the next is looked at when it is written. With ``report.all`` all are candidates:
    GAINS are not decided.

    Parameters
    ----------
    geometry : Geometry
    attempts : int
        That may wait for their report: ``heads`` of the scheduler.

    Members
    -------
    configuration : In(configuration_signature())
        Its ``report.all``.
    rule : In(configuration_signature(DECIDER))
        Steady while an attempt is under way.
    pushed : In(1)
        The scheduler takes an attempt.
    head : In(stream of head_layout), summary : In(stream of summary_layout)
        From scheduler and array: attempts, in order.
    candidate : Out(stream of head_layout), outcome : Out(stream of summary_layout)
        To the report writer.
    written : In(1), reported : Out(1)
        An attempt's report is written, as the writer says; or it needs none, for the scheduler.
    candidate_found : Out(1)
        For a clock: an attempt is a candidate.
    undecided : Out(1)
        There are attempts that are not decided, or whose report is not written; from the clock after ``pushed`` on.

    Latency: 5 cycles from ``head.valid``, and the decider's, to the next attempt where a node is kept.

    Source: sim/bregalad_sim/golden/tree.py.
    """

    def __init__(self, geometry, *, attempts=16):
        self.geometry = g = geometry
        self.attempts = attempts
        super().__init__(
            {
                "configuration": In(configuration_signature()),
                "rule": In(configuration_signature(DECIDER)),
                **dict.fromkeys(("pushed", "written"), In(1)),
                "head": In(stream.Signature(head_layout(g))),
                "summary": In(stream.Signature(summary_layout(g))),
                "candidate": Out(stream.Signature(head_layout(g))),
                "outcome": Out(stream.Signature(summary_layout(g))),
                **dict.fromkeys(("reported", "candidate_found", "undecided"), Out(1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        head, summary = self.head.p, self.summary.p
        m.submodules.decider = decider = Decider(self.geometry)
        connect(m, flipped(self.rule), decider.configuration)

        # Head and summary are there for some clocks before they are decided: from registers the way is short.
        passes, there = Signal(), Signal()
        ranked = Signal(data.StructLayout({name: summary[name].shape() for name in _RANKS}))
        known = Signal(data.StructLayout({**dict.fromkeys(_COUNTS, self.geometry.count_width), "inner": 1}))
        m.d.sync += [
            passes.eq(self.configuration.report.all | ~self.rule.decider.decides),
            *assign(known, head, *_COUNTS),
            known.inner.eq((head.flags & int(AttemptFlag.INNER)) != 0),
            there.eq(self.summary.valid),
            *assign(ranked, summary, *_RANKS),
        ]
        m.d.comb += [
            *assign(decider.i.p, known, *_COUNTS, "inner"),
            *assign(decider.i.p, ranked, *_RANKS),
            self.candidate.payload.eq(self.head.payload),
            self.outcome.payload.eq(self.summary.payload),
        ]

        passed = Signal()  # the writer has the candidate's outcome
        with m.FSM(name="state"):
            with m.State("LOOK"):
                m.d.sync += passed.eq(0)
                with m.If(self.head.valid):
                    m.next = "SORT"
            with m.State("SORT"):
                m.next = "DECIDE"
                with m.If(passes):
                    m.d.comb += self.candidate_found.eq(1)
                    m.next = "REPORT"
            with m.State("DECIDE"):
                m.d.comb += [decider.i.valid.eq(there), decider.o.ready.eq(1)]
                with m.If(decider.o.valid):
                    m.d.comb += self.candidate_found.eq(decider.o.payload)
                    m.next = "DROP"
                    with m.If(decider.o.payload):
                        m.next = "REPORT"
            with m.State("DROP"):
                m.d.comb += [self.head.ready.eq(1), self.summary.ready.eq(1), self.reported.eq(1)]
                m.next = "LOOK"
            with m.State("REPORT"):
                m.d.comb += [self.candidate.valid.eq(1), self.head.ready.eq(self.candidate.ready)]
                with m.If(self.candidate.ready):
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

        left = Signal(range(self.attempts + 3))
        m.d.sync += left.eq(left + self.pushed - self.reported)
        m.d.comb += self.undecided.eq(left != 0)
        return m
