"""The memory controller and management unit: rows from memory to the array, candidates to the host."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.decider import DECIDER
from bregalad.protocol.leaf_rows import LEAF_ROWS
from bregalad.protocol.pages import page_bytes
from bregalad.protocol.registers import COUNTERS
from bregalad.protocol.tree import TREE

from .array.bayes import partial_latency, partial_signature
from .array.merge import summary_layout
from .array.operation import Op, candidate_layout, operations_signature
from .duplicate import add_with_reset
from .front.blocks import Blocks, DueSlots
from .front.decisions import Decisions
from .front.front import Front
from .front.results import ReportMerge, ResultWriter
from .front.sequencer import Sequencer
from .mcmu.axi import BOUNDARY, axi_signature
from .mcmu.dma import ReadDMA
from .mcmu.editor import SlotEditor
from .mcmu.events import EventCounters
from .mcmu.loader import Loader
from .mcmu.pager import Pager, chip_geometry
from .mcmu.predictor import Predictor
from .mcmu.report import REPORT_WORD, ReportWriter
from .mcmu.scheduler import ATTEMPTS, AttemptScheduler
from .mcmu.slots import SlotTable
from .mcmu.tracker import Tracker
from .mcmu.turns import MemoryTurns
from .members import assign, drive, join, optional
from .registers import configuration_signature
from .skid_buffer import HalfRateBuffer, SkidBuffer


class MemoryController(wiring.Component):
    """All of the accelerator but its registers and the attribute processor array.

    ::

        memory -> ReadDMA -> Front (Quantiser -> Walker -> leaf rows) -> Tracker -> array
                                        ^ limit              counted, due |           | gains, summary
                                        +-------- Blocks <----------------+           v
                                           Sequencer <-- DueSlots <---+       Decisions
                                                | at the block's end                  | candidates
                                                v                                     v
                                      SlotEditor -> AttemptScheduler              ReportWriter

    Parameters
    ----------
    geometry : Geometry
    attempts : int
        Attempts that may wait for their snapshot.
    outstanding, burst : int
        Of the DMA.
    **front
        Of `Front`.

    Members
    -------
    commands : In(stream of bus words)
    reports : Out(stream of {data: 32, last})
    m_axi : Out(AXI4); memory_size : In(32)
        The memory that LEARN fetches rows from and LOAD writes, and its bytes.
    row_bytes : Out(32)
        Those before the pages.
    configuration, rule, tree, rows : In(configuration_signature(CONFIGURATION, DECIDER, TREE, LEAF_ROWS))
        Within the board's limits; steady while anything is under way.
    halted, busy, failing, happens : Out(1)
        ``happens``: something is counted that has happened here in this clock.
    array : Out(operations_signature(chip_geometry(geometry)))
        To the array; nothing of each lane without ``resident``.
    snap_freed, clamped, gains, summary, partial : In
        From the array.
    clear : In(1)
        Counters return to 0.
    reset : In(1)
        Forget whatever is under way; slot table, node table and leaf rows stay.
    counter : In(range(len(COUNTERS))), counted : Out(32)
        A counter by its number in COUNTERS, and what it says: as of `EventCounters`.

    Latency: that of `Front` and of the tracker, one after the other; of commands see `Sequencer`.
    Throughput: a record takes as many clocks as its bytes' bus words, its steps in the quantiser, its beats, or its
    walk divided by the rings; whichever are most.

    Source: docs/hardware.md.
    """

    def __init__(self, geometry, *, attempts=ATTEMPTS, outstanding=4, burst=16, **front):
        self.geometry = g = geometry
        self.attempts = attempts
        self.outstanding = outstanding
        self.burst = burst
        self.front = front
        super().__init__(
            {
                "commands": In(stream.Signature(g.bus_width)),
                "reports": Out(stream.Signature(REPORT_WORD)),
                "m_axi": Out(axi_signature(g.bus_width)),
                "memory_size": In(32),
                "row_bytes": Out(32),
                "configuration": In(configuration_signature()),
                **dict.fromkeys(("halted", "busy", "failing", "happens"), Out(1)),
                "array": Out(operations_signature(chip_geometry(g))),
                **dict.fromkeys(("snap_freed", "clamped", "clear", "reset"), In(1)),
                "gains": In(stream.Signature(candidate_layout(g))),
                "summary": In(stream.Signature(summary_layout(g))),
                "partial": In(partial_signature(g)),
                "counter": In(range(len(COUNTERS))),
                "counted": Out(32),
                "rule": In(configuration_signature(DECIDER)),
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

        sequencer = add("sequencer", Sequencer(g))
        editor = add("editor", SlotEditor(g))
        loader = add("loader", Loader(g.bus_width))
        front = add("front", Front(g, **self.front))
        burst = min(self.burst, BOUNDARY * 8 // g.bus_width)
        memory = add("dma", ReadDMA(g.bus_width, outstanding=self.outstanding, burst=burst, limited=bool(g.resident)))
        m.d.comb += [loader.memory_size.eq(self.row_bytes), memory.limit.eq(self.row_bytes)]
        tracker = add("tracker", Tracker(g))
        m.submodules.slots = slots = SlotTable(g)
        scheduler = add("scheduler", AttemptScheduler(g, depth=self.attempts))
        decisions = add("decisions", Decisions(g))
        blocks = add("blocks", Blocks())
        due = add("due", DueSlots(g))
        writer = add("writer", ReportWriter(g))
        results = add("results", ResultWriter(g))
        merge = add("merge", ReportMerge())

        def through(kind, name, near, far):
            between = add(name, kind(near.payload.shape()))
            connect(m, near, between.i)
            connect(m, between.o, far)
            return between

        command_skid = through(SkidBuffer, "command_skid", flipped(self.commands), sequencer.commands)
        connect(m, sequencer.load, loader.load)
        for name, near, far in (
            ("descriptor", sequencer.descriptor, memory.descriptor),
            ("row_command", sequencer.row_command, front.command),
            ("edit", sequencer.edit, front.edit),
            ("row", sequencer.row, front.row),
            ("job", sequencer.job, writer.job),
            ("attempt", decisions.candidate, writer.head),
        ):
            through(HalfRateBuffer, f"{name}_border", near, far)
        connect(m, sequencer.slots.payload, editor.edit.payload)
        connect(m, editor.edit.job, sequencer.slots.job)
        m.d.comb += sequencer.slots.done.eq(editor.edit.done)
        starts, drops = Signal(), Signal()
        m.d.sync += [
            editor.edit.head.eq(sequencer.slots.head),
            Cat(starts, drops).eq(Cat(sequencer.slots.start, sequencer.slots.drop)),
            Cat(editor.edit.start, editor.edit.drop).eq(Cat(starts, drops)),
        ]
        connect(m, front.header, tracker.i)
        connect(m, front.result, results.i)
        connect(m, due.o, sequencer.due)
        connect(m, editor.attempt, scheduler.i)
        connect(m, scheduler.head, decisions.head)
        connect(m, flipped(self.summary), decisions.summary)
        connect(m, decisions.outcome, writer.summary)
        connect(m, editor.counts, writer.counts)
        connect(m, flipped(self.gains), writer.gains)
        writer_skid = through(SkidBuffer, "writer_skid", writer.o, merge.first)
        results_skid = through(SkidBuffer, "results_skid", results.o, merge.second)
        through(SkidBuffer, "report_skid", merge.o, flipped(self.reports))
        for block in (tracker, writer, decisions):
            connect(m, flipped(self.configuration), block.configuration)
        connect(m, flipped(self.tree), tracker.tree)
        connect(m, flipped(self.rule), decisions.rule)
        connect(m, flipped(self.rows), front.configuration)

        cells = self.configuration.cells.count
        passes = Signal(range(g.passes + 1))
        m.d.sync += passes.eq(1 + sum((cells > p * g.lanes) for p in range(1, g.passes)))

        # The quantiser's words: what follows a command, or rows from memory, up to an error, which stays until it is
        # told.
        row_skid = add("row_skid", SkidBuffer(g.bus_width))
        failed = memory.o.valid & (memory.o.p.error != 0)
        m.d.comb += [
            *drive(row_skid.i, valid=memory.o.valid & ~failed, payload=memory.o.p.data),
            memory.o.ready.eq(Mux(failed, ~sequencer.learning, row_skid.i.ready)),
        ]
        inline_border = add("inline_border", HalfRateBuffer(g.bus_width))
        connect(m, sequencer.inline, inline_border.i)
        with m.If(sequencer.memory):
            connect(m, row_skid.o, front.i)
        with m.Else():
            connect(m, inline_border.o, front.i)

        # Statistics that are not on the chip are in memory behind the rows.
        hold, resting = Signal(), Signal()
        pager = add("pager", Pager(g)) if g.resident else None
        if pager is None:
            join(m, self.m_axi, memory.axi, loader.axi)
            m.d.comb += self.row_bytes.eq(self.memory_size)
        else:
            turns = add("turns", MemoryTurns(g.bus_width))
            join(m, turns.i[0], memory.axi, loader.axi)
            connect(m, pager.axi, turns.i[1])
            connect(m, turns.o, flipped(self.m_axi))
            pages = page_bytes(g)
            m.d.sync += self.row_bytes.eq(Mux(self.memory_size < pages, 0, self.memory_size - pages))
            m.d.comb += [
                self.failing.eq(pager.failed),
                hold.eq(pager.hold),
                *drive(pager, base=self.row_bytes, rests=resting),
            ]

        # As many records are on their way through the array, and some in the queue itself.
        waiting = partial_latency(g) + 4 + (Pager.latency if g.resident else 0)
        predictor = add("predictor", optional(g.naive_bayes, Predictor(g, waiting=waiting)))
        requests = add("request_skid", optional(g.naive_bayes, SkidBuffer(tracker.prediction.payload.shape())))
        connect(m, tracker.prediction, requests.i)
        connect(m, requests.o, predictor.i)
        connect(m, flipped(self.partial), predictor.partial)
        if g.naive_bayes:
            connect(m, predictor.o, front.bayes)
            m.d.sync += tracker.predict.eq(self.rows.leaf_predictor.by != 0)
        m.d.comb += [
            predictor.neighbours.eq(self.configuration.report.neighbours),
            predictor.classes_in_use.eq(self.configuration.classes.count),
        ]

        idle, idle_now = Signal(init=1), Signal()
        m.d.comb += [
            idle_now.eq(tracker.idle & front.quiet),
            *assign(front, tracker, "read_at", "free"),
            *drive(front, root=sequencer.root, abort=failed & sequencer.learning, limit=blocks.limit),
            *(port.renumber.eq(sequencer.turns) for port in (front, tracker)),
            *(port.last_number.eq(sequencer.turn.number) for port in (front, tracker)),
            *assign(blocks, sequencer, "turn", "turns", "go", "length", "next"),
            blocks.counted.eq(tracker.counted),
            *drive(due.i, valid=tracker.due, payload=tracker.slot),
            due.mark.eq(editor.mark),
            *assign(due, sequencer, "turns", "first"),
            due.slots.eq(sequencer.slots_of),
            sequencer.due_incoming.eq(due.incoming),
            due.done.eq(sequencer.due_done),
            *assign(sequencer, blocks, "since", "left"),
            *assign(sequencer, self.tree.block, "at_once", "waits"),
            decisions.pushed.eq(scheduler.i.valid & scheduler.i.ready),
            *drive(tracker, passes=passes, locked=scheduler.locked_a, next_locked=scheduler.locked_c),
            tracker.grant.eq(~scheduler.hold & ~hold),
            *drive(scheduler, wait=hold, slot_a=tracker.slot, slot_c=tracker.next_slot, passes=passes),
            scheduler.snap_freed.eq(self.snap_freed),
            *drive(sequencer, number=tracker.counted, failed=failed),
            *assign(sequencer, memory.o.p, "error", "address"),
            *drive(editor, grant=~scheduler.held & ~hold, number=tracker.counted),
            self.halted.eq(sequencer.halted),
            resting.eq(
                sequencer.waiting
                & idle
                & sequencer.quiet
                & writer.idle
                & memory.descriptor.ready  # after an error, too, until all that was asked for has come
                & ~command_skid.o.valid
                & ~writer_skid.o.valid
                & ~self.reports.valid
            ),
            self.busy.eq(~resting | (pager.busy if g.resident else 0)),
        ]
        # The sequencer hears of all a clock late, so it is as of one clock still.
        m.d.sync += [
            idle.eq(idle_now),
            editor.decides.eq(self.rule.decider.decides & ~self.configuration.report.all),
            scheduler.reported.eq(decisions.reported),
            decisions.written.eq(writer.reported),
            *drive(sequencer, idle=idle_now, flowing=front.busy, ended=blocks.ended),
            *assign(sequencer, decisions, "candidate_found", "undecided"),
            sequencer.quiet.eq(
                scheduler.quiet & ~decisions.undecided & ~results.i.valid & ~results_skid.o.valid & writer.idle
            ),
            *drive(sequencer, refused=front.error != 0, row_refused=front.refused),
        ]

        connect(m, tracker.path, slots.path)
        self._share_table(m, idle, editor.table, tracker.table, slots.port)
        work = self._issue(m, idle, editor, tracker, scheduler, hold)
        # The codes' memory is asked as the operation is registered.
        m.d.comb += [work.codes.eq(front.codes), *drive(editor, answer=work.count_out, answer_valid=work.count_valid)]
        if pager is None:
            connect(m, work, flipped(self.array))
        else:
            connect(m, work, pager.work)
            connect(m, pager.array, flipped(self.array))
        self._count_events(m, sequencer.learning, editor, tracker, scheduler, front, pager)
        return m

    def _share_table(self, m, idle, editor, tracker, port):
        """Let the editor use the slot table while the tracker is idle, and else the tracker."""
        # That the tracker is idle goes to many as it is: nothing waits for it that need not.
        for name, member in port.signature.members.items():
            if member.flow is In:
                m.d.comb += getattr(port, name).eq(Mux(idle, getattr(editor, name), getattr(tracker, name)))
        # While there is nothing in it the tracker takes in every clock: what the editor has asked for stays.
        m.d.comb += [port.r_take.eq(tracker.r_take), *(end.r_entry.eq(port.r_entry) for end in (editor, tracker))]

    def _issue(self, m, idle, editor, tracker, scheduler, hold):
        """The operation of this clock, with its count and the split cell of an attempt."""
        work = operations_signature(self.geometry).create(path=("work",))
        # Whether an operation goes is known last.
        m.d.sync += [work.op.eq(editor.op), work.count_in.eq(editor.count)]
        with m.If(~idle):
            m.d.sync += work.op.eq(tracker.op)
        m.d.sync += work.attempt_current.eq(scheduler.current)
        with m.If(scheduler.valid):
            m.d.sync += work.op.eq(scheduler.op)
        with m.Elif(~tracker.valid & ~(editor.valid & ~hold)):
            m.d.sync += work.op.code.eq(Op.NONE)
        return work

    def _count_events(self, m, learning, editor, tracker, scheduler, front, pager):
        """Count events and clocks."""
        axi = self.m_axi
        held = scheduler.held
        rows, waits, moved = axi.rvalid & axi.rready, 0, 0
        if pager is not None:
            rows, waits = rows & ~pager.axi.rvalid, pager.hold
            moved = pager.axi.rvalid + (pager.axi.wvalid & pager.axi.wready)
        spent = tracker.counting | tracker.halving | tracker.wait_lock | tracker.wait_report | held
        events = {
            "records": front.good,
            "bad_records": front.bad,
            "predictions": front.result.valid & front.result.ready & front.result.p.reported,
            "nodes": tracker.node,
            "beats": tracker.beat,
            "attempts": editor.tried,
            "halvings": tracker.halved,
            "clamped": self.clamped,
            "clocks": 1,
            "learning": learning,
            "stall_input": learning & ~spent,
            "stall_attempt": learning & held,
            "stall_lock": tracker.wait_lock,
            "stall_halve": tracker.halving,
            "stall_report": tracker.wait_report,
            "commands": editor.valid & ~held,
            "bursts": axi.arvalid & axi.arready,
            "dma_bytes": Mux(rows, self.geometry.bus_bytes, 0),
            "stall_page": learning & waits,
            "page_bytes": moved * self.geometry.bus_bytes,
        }
        most = dict.fromkeys(COUNTERS, 1) | {
            "dma_bytes": self.geometry.bus_bytes,
            "page_bytes": 2 * self.geometry.bus_bytes,
        }
        m.d.comb += self.happens.eq(
            Cat(value for name, value in events.items() if name not in ("clocks", "clamped")).any()
        )
        m.submodules.counters = counters = EventCounters(most)
        m.d.sync += counters.clear.eq(self.clear | self.reset)
        m.d.comb += [
            *(getattr(counters, name).eq(events[name]) for name in COUNTERS),
            counters.read.eq(self.counter),
            self.counted.eq(counters.value),
        ]
