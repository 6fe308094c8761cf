"""What becomes of trials: most stay untold, the others are proposals and lock their node in time."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.geometry import NONE
from bregalad.protocol.judge import JUDGE
from bregalad.protocol.reports import SuggestionFlag
from bregalad.protocol.tree import MANY, TREE

from ..array.merge import summary_layout
from ..configuration import configuration_signature
from ..mcmu.scheduler import head_layout
from ..relay import Relay
from .judge import Judge
from .walker import lock_layout

__all__ = ["Verdicts", "cancel_layout"]


def cancel_layout():
    """Whose locks are dropped: a node's, or all."""
    return data.StructLayout({"node": 16, "all": 1})


class Verdicts(wiring.Component):
    """Let each trial be judged; tell those that may change the tree, and have their nodes locked after the delay.

    Trials are judged one by one, in order. One that stays is dropped, summary and all. A proposal's
    lock is queued, then the report writer gets it, and the next is looked at when it is written.
    What TRIAL has asked for is a proposal, and so are all with ``report.all``: GAINS are not judged.

    There is room for a lock of every slot, so that no verdict has to wait for records to come. More
    than that only TRIALs can make; such a proposal has no lock.

    Parameters
    ----------
    geometry : Geometry
        With ``nodes``.
    trials : int
        That may wait for their report: ``heads`` of the scheduler.

    Members
    -------
    configuration : In(configuration_signature())
        Its ``report.all``.
    rule : In(configuration_signature(JUDGE)); tree : In(configuration_signature(TREE))
        Steady while a trial is under way.
    pushed, requested : In(1)
        The scheduler takes a trial; TRIAL has asked for it.
    counted : In(32)
        Of the `Tracker`. It may become any other number when no trial is undecided and no lock left, and
        nothing handed over in that clock.
    head : In(stream of head_layout), summary : In(stream of summary_layout)
        From scheduler and array: trials, in order.
    proposal : Out(stream of head_layout), outcome : Out(stream of summary_layout)
        To the report writer.
    written : In(1), reported : Out(1)
        A trial's report is written, as the writer says; or it needs none, for the scheduler.
    lock : Out(stream of {node, at})
        To the walker, in the order of ``at``.
    turning : Out(1)
        Something is cancelled: none is to be taken, and each is offered in turn.
    cancel : In(stream of cancel_layout)
        Drop the locks of a node that are queued, before its EDIT is carried out, or ``all``. Taken when
        no trial is undecided, so none of before the EDIT can lock the node. Nothing must be handed over
        meanwhile, nor in the clock after it.
    decided : Out(32)
        Of so many records all trials are judged, and their locks are offered or queued. It only grows,
        but where ``counted`` becomes another number, a clock after it.
    undecided : Out(1)
        There are trials that are not judged.
    hold : Out(1)
        One that TRIAL has asked for is among them. It is no record's, so ``decided`` does not know of
        it: nothing must be handed over from the next clock on, as with ``hold`` of the walker.

    Latency: 4 cycles from ``head.valid``, and the judge's, to the next trial where one stays. A trial
    is decided up to 4 cycles later.

    Source: sim/bregalad_sim/golden/tree.py.
    """

    def __init__(self, geometry, *, trials=16):
        self.geometry = g = geometry
        self.trials = trials
        super().__init__(
            {
                "configuration": In(configuration_signature()),
                "rule": In(configuration_signature(JUDGE)),
                "tree": In(configuration_signature(TREE)),
                "pushed": In(1),
                "requested": In(1),
                "counted": In(32),
                "head": In(stream.Signature(head_layout(g))),
                "summary": In(stream.Signature(summary_layout(g))),
                "proposal": Out(stream.Signature(head_layout(g))),
                "outcome": Out(stream.Signature(summary_layout(g))),
                "written": In(1),
                "reported": Out(1),
                "lock": Out(stream.Signature(lock_layout())),
                "turning": Out(1),
                "cancel": In(stream.Signature(cancel_layout())),
                "decided": Out(32),
                "undecided": Out(1),
                "hold": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        head, summary = self.head.p, self.summary.p
        m.submodules.judge = judge = Judge(self.geometry)
        connect(m, flipped(self.rule), judge.configuration)

        # What is known of a trial as it waits: two clocks later whether it is mixed.
        requested, asks = Signal(), Signal()
        before, lock = Signal(32), Signal(lock_layout())
        m.d.comb += requested.eq((head.flags & int(SuggestionFlag.REQUESTED)) != 0)
        m.d.sync += [
            asks.eq(self.configuration.report.all | ~self.rule.judge.decides | requested),
            before.eq(head.number - ~requested),
            lock.node.eq(head.node),
            lock.at.eq(head.number + self.tree.delay.records),
        ]
        # The head stands for two clocks before it is judged: from registers the way to the judge is short.
        width = self.geometry.count_width
        known = Signal(data.StructLayout({"n": width, "base": width, "ask_up_to": width, "inner": 1}))
        m.d.sync += [known[name].eq(head[name]) for name in ("n", "base", "ask_up_to")]
        m.d.sync += known.inner.eq((head.flags & int(SuggestionFlag.INNER)) != 0)
        m.d.comb += [
            *(judge.i.p[name].eq(known[name]) for name in ("n", "base", "ask_up_to", "inner")),
            *(judge.i.p[name].eq(summary[name]) for name in ("best", "second", "current")),
            judge.i.p.mixed.eq(self._mixed(m, head)),
            self.proposal.payload.eq(self.head.payload),
            self.outcome.payload.eq(self.summary.payload),
        ]

        told, queues, open_ = Signal(), Signal(), Signal()  # `open_`: locks may be queued
        passed = Signal()  # the writer has the proposal's outcome
        with m.FSM(name="state"):
            with m.State("LOOK"):
                m.d.sync += passed.eq(0)
                with m.If(self.head.valid):
                    m.next = "SORT"
            with m.State("SORT"):
                m.d.sync += self.decided.eq(before)
                m.next = "JUDGE"
                with m.If(asks):
                    m.next = "LOCK"
            with m.State("JUDGE"):
                m.d.comb += [judge.i.valid.eq(self.summary.valid), judge.o.ready.eq(1)]
                with m.If(judge.o.valid):
                    m.next = "DROP"
                    with m.If(judge.o.payload):
                        m.next = "LOCK"
            with m.State("DROP"):
                m.d.comb += [self.head.ready.eq(1), self.summary.ready.eq(1), told.eq(1), self.reported.eq(1)]
                m.next = "LOOK"
            with m.State("LOCK"):
                m.d.comb += [queues.eq(open_), told.eq(open_)]
                with m.If(open_):
                    m.next = "TELL"
            with m.State("TELL"):
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

        # A trial is decided as its lock is offered, or follows another without a gap: three clocks after it is queued.
        left, decides = Signal(range(self.trials + 3)), Signal()
        m.d.sync += [decides.eq(told), left.eq(left + self.pushed - decides)]
        m.d.comb += self.undecided.eq(left != 0)
        with m.If(~self.undecided):
            m.d.sync += [self.decided.eq(self.counted), self.hold.eq(0)]
        with m.If(self.pushed & self.requested):
            m.d.sync += self.hold.eq(1)
        self._locks(m, lock, queues, open_)
        return m

    def _mixed(self, m, head):
        """Two clocks after the head has come: the node's instances have several classes, as far as that is known."""
        g = self.geometry
        there, other, mixed = Signal(g.classes), Signal(g.classes), Signal()
        none, many, halved = Signal(), Signal(), Signal()
        m.d.sync += [
            there.eq(Cat(count.any() for count in head.class_counts)),
            other.eq(Cat(head.only != k for k in range(g.classes))),
            none.eq(head.only == NONE),
            many.eq(head.only == MANY),
            halved.eq((head.flags & int(SuggestionFlag.HALVED)) != 0),
            mixed.eq(halved | many | Mux(none, (there & (there - 1)).any(), (there & other).any())),
        ]
        return mixed

    def _locks(self, m, lock, queues, open_):
        """The queue of locks, a block RAM and a relay; to cancel some they go round once."""
        layout, most = lock_layout(), max(2, self.geometry.slots)
        m.submodules.locks = locks = fifo.SyncFIFOBuffered(width=layout.size, depth=most)
        m.submodules.first = first = Relay(layout)
        stored, left = Signal(range(most + 1)), Signal(range(most + 1))
        room, settle = Signal(init=1), Signal(3)
        held, holds, rounds, moves = Signal(layout, reset_less=True), Signal(), Signal(), Signal()
        m.d.comb += [
            first.i.payload.eq(locks.r_data),
            first.i.valid.eq(locks.r_rdy),
            locks.r_en.eq(first.i.ready),
            self.lock.payload.eq(first.o.payload),
            self.lock.valid.eq(first.o.valid),
            open_.eq(~rounds),
            locks.w_en.eq(Mux(rounds, holds, queues & room)),
            locks.w_data.eq(Mux(rounds, held, lock)),
            first.o.ready.eq(Mux(rounds, left != 0, self.lock.valid & self.lock.ready)),
            moves.eq(first.o.valid & first.o.ready),
        ]
        m.d.sync += [
            self.turning.eq(self.cancel.valid),
            held.eq(first.o.payload),
            holds.eq(rounds & moves & (first.o.p.node != self.cancel.p.node) & ~self.cancel.p.all),
            stored.eq(stored + locks.w_en - moves),
            room.eq(stored != most),
        ]
        with m.If(rounds):
            with m.If(left != 0):
                m.d.sync += left.eq(left - moves)
            with m.Elif(settle != 0):  # what was written last is offered by then
                m.d.sync += settle.eq(settle - 1)
            with m.Else():
                m.d.comb += self.cancel.ready.eq(1)
                m.d.sync += rounds.eq(0)
        with m.Elif(self.cancel.valid & self.turning & ~self.undecided):
            m.d.sync += [rounds.eq(1), left.eq(stored), settle.eq(4)]
