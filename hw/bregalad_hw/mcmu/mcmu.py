"""The memory controller and management unit: commands in, array operations and reports out."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import connect, flipped

from ..array.bayes import partial_latency
from ..optional import optional
from ..relay import Relay
from ..replica import add_with_reset, replicate
from .buffer import RecordBuffer
from .common import add_memory, controller_members, count_events, issue, share_table
from .dispenser import Dispenser
from .editor import SlotEditor
from .loader import Loader
from .predictor import Predictor
from .report import ReportWriter, word_layout
from .scheduler import TRIALS, TrialScheduler
from .sequencer import Sequencer
from .slots import SlotTable
from .tracker import Tracker

__all__ = ["MemoryController"]


class MemoryController(wiring.Component):
    """All of the accelerator but its registers and the attribute processor array.

    Parameters
    ----------
    geometry : Geometry
    trials : int
        Trials that may wait for their snapshot.
    memory : bool
        Whether there is one to fetch records from. If not, LEARN with MEMORY ends with a DECODE error,
        LOAD with a COMMAND error.
    outstanding, burst : int
        Of the DMA.

    Members
    -------
    commands : In(stream of bus words)
    reports : Out(stream of {data: 32, last})
    m_axi : Out(AXI4); memory_size : In(32)
        The memory, and its bytes; with ``memory`` only.
    configuration : In(configuration_signature())
        Within the board's limits; steady while anything is under way.
    halted, busy : Out(1)
    op, snap, codes, count, trial_current : Out
        To the array; codes a clock after COUNT, count beside WRITE, trial_current beside SNAP.
    snap_ready, count_out, count_valid, clamped, gains, summary, partial : In
        From the array.
    clear : In(1)
        Counters return to 0.
    reset : In(1)
        Forget whatever is under way; the slot table stays.
    counter : In(range(len(COUNTERS))), counted : Out(32)
        A counter by its number in COUNTERS, and what it says: as of `EventCounters`.

    Latency, if nothing is under way: 7 clocks from the last word of a FENCE to its report, 13 from a
    record's last word to ``op``.
    Throughput: one beat per clock, but for the clocks that trials and paths take. Predictions do
    not change that, as long as the report stream has a word per clock for each; with ``neighbours``
    a beat of a record's own slot takes three.

    Source: design, sections 2, 5 and 6.
    """

    def __init__(self, geometry, *, trials=TRIALS, memory=True, outstanding=4, burst=16):
        self.geometry = g = geometry
        self.trials = trials
        self.memory = memory
        self.outstanding = outstanding
        self.burst = burst
        super().__init__(controller_members(g, memory))

    def elaborate(self, platform):
        m = Module()
        g = self.geometry

        def add(name, block):
            add_with_reset(m, name, block, self.reset)
            return block

        sequencer = add("sequencer", Sequencer(g))
        editor = add("editor", SlotEditor(g))
        loader = add("loader", Loader(g.bus_width, memory=self.memory))
        memory = add_memory(m, self, add, loader)
        dispenser = add("dispenser", Dispenser(g))
        buffer = add("buffer", RecordBuffer(g))
        tracker = add("tracker", Tracker(g))
        m.submodules.slots = slots = SlotTable(g)
        scheduler = add("scheduler", TrialScheduler(g, depth=self.trials))
        writer = add("writer", ReportWriter(g))

        connect(m, flipped(self.commands), sequencer.commands)
        connect(m, sequencer.descriptor, memory.descriptor)
        connect(m, sequencer.edit, editor.edit)
        connect(m, sequencer.load, loader.load)
        connect(m, dispenser.o, buffer.i)
        connect(m, buffer.o, tracker.i)
        connect(m, scheduler.head, writer.head)
        connect(m, sequencer.job, writer.job)
        connect(m, editor.counts, writer.counts)
        report_relay = add("report_relay", Relay(word_layout()))
        connect(m, writer.o, report_relay.i)
        connect(m, report_relay.o, flipped(self.reports))
        connect(m, flipped(self.gains), writer.gains)
        connect(m, flipped(self.summary), writer.summary)
        connect(m, sequencer.start, dispenser.start)
        for block in (tracker, writer):
            connect(m, flipped(self.configuration), block.configuration)

        cells = self.configuration.cells.count
        passes = Signal(range(g.passes + 1))
        m.d.sync += passes.eq(1 + sum((cells > p * g.lanes) for p in range(1, g.passes)))

        # Words of records come from the command stream or from memory.
        inline, words = sequencer.inline, dispenser.i
        m.d.comb += [words.valid.eq(inline.valid), words.p.data.eq(inline.payload), inline.ready.eq(dispenser.lack)]
        with m.If(sequencer.memory):
            if self.memory:
                connect(m, memory.o, words)
            else:
                m.d.comb += [
                    words.valid.eq(memory.o.valid),
                    words.p.error.eq(memory.o.p.error),
                    memory.o.ready.eq(words.ready),
                ]
        if not self.memory:
            m.d.comb += words.p.address.eq(memory.o.p.address)

        # As many records are on their way through the array, and some in the queue itself.
        predictor = optional(g.naive_bayes, Predictor(g, waiting=partial_latency(g) + 4))
        add("predictor", predictor)
        connect(m, tracker.prediction, predictor.i)
        connect(m, flipped(self.partial), predictor.partial)
        connect(m, predictor.o, writer.prediction)
        m.d.comb += [
            tracker.predict.eq(predictor.wanted),
            predictor.neighbours.eq(self.configuration.report.neighbours),
            predictor.classes_in_use.eq(self.configuration.classes.count),
            predictor.kind.eq(self.configuration.report.predictions),
            writer.scores.eq(predictor.scores),
            scheduler.asked.eq(predictor.asked),
            scheduler.given.eq(predictor.given),
        ]

        # The sequencer may know a clock late that the tracker is idle: it looks at it clocks after
        # the last record was handed over.
        idle, idle_now = Signal(init=1), Signal()
        m.d.comb += [
            idle_now.eq(buffer.empty & tracker.idle & ~dispenser.busy),
            dispenser.cells.eq(cells),
            dispenser.room.eq(buffer.room),
            buffer.discard.eq(sequencer.discard),
            buffer.rewind.eq(dispenser.failed & ~dispenser.busy),
            buffer.passes.eq(passes),
            buffer.read_at.eq(tracker.read_at),
            buffer.free.eq(tracker.free),
            tracker.passes.eq(passes),
            tracker.locked.eq(scheduler.locked_a),
            tracker.next_locked.eq(scheduler.locked_c),
            tracker.grant.eq(~scheduler.hold),
            scheduler.rows_a.eq(tracker.rows),
            scheduler.slot_b.eq(sequencer.slot),
            scheduler.rows_c.eq(tracker.next_rows),
            scheduler.passes.eq(passes),
            scheduler.snap_ready.eq(self.snap_ready),
            sequencer.cells.eq(cells),
            # Where a run has failed, its last beats come before the error.
            sequencer.dispensing.eq(dispenser.active | (dispenser.failed & dispenser.busy)),
            sequencer.failed.eq(dispenser.failed),
            sequencer.error.eq(dispenser.error),
            sequencer.address.eq(dispenser.address),
            sequencer.counted.eq(dispenser.counted),
            sequencer.idle.eq(replicate(m, "idle", idle_now, init=1)),
            editor.grant.eq(~scheduler.held),
            editor.answer.eq(self.count_out),
            editor.answer_valid.eq(self.count_valid),
            self.halted.eq(sequencer.halted),
            self.busy.eq(~(sequencer.waiting & idle & sequencer.quiet & writer.idle & ~self.reports.valid)),
        ]
        m.d.sync += [
            idle.eq(idle_now),
            scheduler.reported.eq(writer.reported),
            sequencer.quiet.eq(scheduler.quiet & predictor.quiet),
            sequencer.locked.eq(scheduler.locked_b),
        ]

        share_table(m, g, idle, editor, tracker, slots, scheduler)
        issue(m, self, idle, editor, tracker, scheduler, buffer.codes)
        count_events(
            m,
            self,
            sequencer.learning | ~idle_now,
            editor,
            tracker,
            scheduler,
            records=buffer.good,
            bad_records=buffer.bad,
            predictions=tracker.prediction.valid & tracker.prediction.ready,
        )
        return m
