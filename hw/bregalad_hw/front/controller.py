"""The controller of a board that holds trees: records from memory to the array, proposals to the host."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, connect, flipped
from bregalad.protocol.judge import JUDGE
from bregalad.protocol.leaf_rows import LEAF_ROWS
from bregalad.protocol.tree import TREE

from ..array.bayes import partial_latency
from ..configuration import configuration_signature
from ..mcmu.common import add_memory, controller_members, count_events, issue, share_table
from ..mcmu.editor import SlotEditor
from ..mcmu.loader import Loader
from ..mcmu.predictor import Predictor
from ..mcmu.report import ReportWriter, word_layout
from ..mcmu.scheduler import TRIALS, TrialScheduler
from ..mcmu.slots import SlotTable
from ..mcmu.tracker import Tracker
from ..optional import optional
from ..relay import Relay
from ..replica import add_with_reset
from .blocks import Blocks, DueSlots
from .front import Front
from .results import ReportMerge, ResultWriter
from .sequencer import TreeSequencer
from .verdicts import Verdicts

__all__ = ["TreeController"]


class TreeController(wiring.Component):
    """All of the accelerator but its registers and the attribute processor array, if the board walks.

    ::

        memory -> ReadDMA -> Front (Quantiser -> Walker -> leaf rows) -> Tracker -> array
                                        ^ limit              counted, due |           | gains, summary
                                        +-------- Blocks <----------------+           v
                                           TreeSequencer <-- DueSlots <---+       Verdicts
                                                | at the block's end                  | proposals
                                                v                                     v
                                      SlotEditor -> TrialScheduler              ReportWriter

    Parameters
    ----------
    geometry : Geometry
        With ``nodes``.
    trials, memory, outstanding, burst
        As of `MemoryController`.
    **front
        Of `Front`.

    Members
    -------
    rule, tree, rows : In(configuration_signature(JUDGE, TREE, LEAF_ROWS))
        Steady while anything is under way.
    The others are those of `MemoryController`.

    Latency: that of `Front` and of the tracker, one after the other; of commands see `TreeSequencer`.
    Throughput: a record takes as many clocks as its bytes' bus words, its steps in the quantiser, its beats, or its
    walk divided by the rings; whichever are most, and no less than 17 clocks for `AHEAD` records.

    Source: docs/front.md.
    """

    def __init__(self, geometry, *, trials=TRIALS, memory=True, outstanding=4, burst=16, **front):
        self.geometry = g = geometry
        self.trials = trials
        self.memory = memory
        self.outstanding = outstanding
        self.burst = burst
        self.front = front
        super().__init__(
            {
                **controller_members(g, memory),
                "rule": In(configuration_signature(JUDGE)),
                "tree": In(configuration_signature(TREE)),
                "rows": In(configuration_signature(LEAF_ROWS)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry

        def add(name, block):
            add_with_reset(m, name, block, self.reset)
            return block

        sequencer = add("sequencer", TreeSequencer(g))
        editor = add("editor", SlotEditor(g))
        loader = add("loader", Loader(g.bus_width, memory=self.memory))
        front = add("front", Front(g, **self.front))
        memory = add_memory(m, self, add, loader)
        tracker = add("tracker", Tracker(g))
        m.submodules.slots = slots = SlotTable(g)
        scheduler = add("scheduler", TrialScheduler(g, depth=self.trials))
        verdicts = add("verdicts", Verdicts(g))
        blocks = add("blocks", Blocks())
        due = add("due", DueSlots(g))
        writer = add("writer", ReportWriter(g))
        results = add("results", ResultWriter(g))
        merge = add("merge", ReportMerge())

        connect(m, flipped(self.commands), sequencer.commands)
        connect(m, sequencer.descriptor, memory.descriptor)
        connect(m, sequencer.slots, editor.edit)
        connect(m, sequencer.load, loader.load)
        connect(m, sequencer.row_command, front.command)
        connect(m, sequencer.edit, front.edit)
        connect(m, sequencer.row, front.row)
        connect(m, front.header, tracker.i)
        connect(m, front.result, results.i)
        connect(m, due.o, sequencer.due)
        connect(m, scheduler.head, verdicts.head)
        connect(m, flipped(self.summary), verdicts.summary)
        connect(m, verdicts.proposal, writer.head)
        connect(m, verdicts.outcome, writer.summary)
        connect(m, sequencer.job, writer.job)
        connect(m, editor.counts, writer.counts)
        connect(m, flipped(self.gains), writer.gains)
        report_relay = add("report_relay", Relay(word_layout()))
        connect(m, writer.o, merge.first)
        connect(m, results.o, merge.second)
        connect(m, merge.o, report_relay.i)
        connect(m, report_relay.o, flipped(self.reports))
        for block in (tracker, writer, verdicts):
            connect(m, flipped(self.configuration), block.configuration)
        connect(m, flipped(self.tree), tracker.tree)
        connect(m, flipped(self.rule), verdicts.rule)
        connect(m, flipped(self.rows), front.configuration)

        cells = self.configuration.cells.count
        passes = Signal(range(g.passes + 1))
        m.d.sync += passes.eq(1 + sum((cells > p * g.lanes) for p in range(1, g.passes)))

        # The quantiser's words: what follows a command, or rows from memory, up to an error, which stays until it is
        # told.
        words = front.i
        failed = memory.o.valid & (memory.o.p.error != 0)
        with m.If(sequencer.memory):
            m.d.comb += [
                words.valid.eq(memory.o.valid & ~failed),
                words.payload.eq(memory.o.p.data),
                memory.o.ready.eq(Mux(failed, ~sequencer.learning, words.ready)),
            ]
        with m.Else():
            m.d.comb += memory.o.ready.eq(failed & ~sequencer.learning)
            connect(m, sequencer.inline, words)

        # As many records are on their way through the array, and some in the queue itself.
        predictor = optional(g.naive_bayes, Predictor(g, waiting=partial_latency(g) + 4))
        add("predictor", predictor)
        connect(m, tracker.prediction, predictor.i)
        connect(m, flipped(self.partial), predictor.partial)
        if g.naive_bayes:
            m.d.comb += [
                front.bayes.valid.eq(predictor.o.valid),
                front.bayes.p.label.eq(predictor.o.p.label),
                front.bayes.p.known.eq(predictor.o.p.known),
                predictor.o.ready.eq(front.bayes.ready),
            ]
        m.d.comb += [
            tracker.predict.eq(predictor.wanted),
            predictor.neighbours.eq(self.configuration.report.neighbours),
            predictor.classes_in_use.eq(self.configuration.classes.count),
            predictor.kind.eq(self.rows.leaf_predictor.by != 0),
            scheduler.asked.eq(0),
            scheduler.given.eq(0),
        ]

        idle, idle_now = Signal(init=1), Signal()
        m.d.comb += [
            idle_now.eq(tracker.idle & front.quiet),
            front.read_at.eq(tracker.read_at),
            front.free.eq(tracker.free),
            front.root.eq(sequencer.root),
            front.abort.eq(failed & sequencer.learning),
            front.limit.eq(blocks.limit),
            *(port.renumber.eq(sequencer.turns) for port in (front, tracker)),
            *(port.last_number.eq(sequencer.turn.number) for port in (front, tracker)),
            blocks.turn.eq(sequencer.turn),
            *(port.turns.eq(sequencer.turns) for port in (blocks, due)),
            blocks.go.eq(sequencer.go),
            blocks.length.eq(sequencer.length),
            blocks.next.eq(sequencer.next),
            blocks.counted.eq(tracker.counted),
            blocks.overdue.eq(tracker.overdue),
            blocks.overdue_at.eq(tracker.overdue_at),
            tracker.begun.eq(blocks.begun),
            due.i.valid.eq(tracker.trial.valid),
            due.i.payload.eq(tracker.trial.p.head.slot),
            due.mark.eq(editor.mark),
            due.first.eq(sequencer.first),
            due.slots.eq(sequencer.slots_of),
            sequencer.due_comes.eq(due.comes),
            due.done.eq(sequencer.due_done),
            *(getattr(sequencer, name).eq(getattr(blocks, name)) for name in ("ended", "since", "left", "steady")),
            sequencer.proposed.eq(verdicts.proposed),
            sequencer.undecided.eq(verdicts.undecided),
            sequencer.at_once.eq(self.tree.block.at_once),
            sequencer.waits.eq(self.tree.block.waits),
            verdicts.pushed.eq(scheduler.i.valid & scheduler.i.ready),
            tracker.passes.eq(passes),
            tracker.locked.eq(scheduler.locked_a),
            tracker.next_locked.eq(scheduler.locked_c),
            tracker.grant.eq(~scheduler.hold),
            scheduler.rows_a.eq(tracker.rows),
            scheduler.slot_b.eq(0),
            scheduler.rows_c.eq(tracker.next_rows),
            scheduler.passes.eq(passes),
            scheduler.snap_ready.eq(self.snap_ready),
            sequencer.flowing.eq(front.busy),
            sequencer.idle.eq(idle_now),
            sequencer.number.eq(tracker.counted),
            sequencer.refused.eq(front.error != 0),
            sequencer.row_refused.eq(front.refused),
            sequencer.failed.eq(failed),
            sequencer.error.eq(memory.o.p.error),
            sequencer.address.eq(memory.o.p.address),
            editor.grant.eq(~scheduler.held),
            editor.answer.eq(self.count_out),
            editor.answer_valid.eq(self.count_valid),
            editor.number.eq(tracker.counted),
            verdicts.written.eq(writer.reported),
            sequencer.quiet.eq(
                scheduler.quiet & predictor.quiet & ~verdicts.undecided & ~results.i.valid & writer.idle
            ),
            self.halted.eq(sequencer.halted),
            self.busy.eq(~(sequencer.waiting & idle & sequencer.quiet & writer.idle & ~self.reports.valid)),
        ]
        m.d.sync += [
            idle.eq(idle_now),
            scheduler.reported.eq(verdicts.reported),
        ]

        share_table(m, g, idle, editor, tracker, slots, scheduler)
        issue(m, self, idle, editor, tracker, scheduler, front.codes)
        count_events(
            m,
            self,
            sequencer.learning,
            editor,
            tracker,
            scheduler,
            records=front.good,
            bad_records=front.bad,
            predictions=front.result.valid & front.result.ready & front.result.p.told,
        )
        return m
