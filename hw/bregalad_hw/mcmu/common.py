"""What controllers have in common, whoever finds the records' slots: the array's side, the table, the counters."""

from amaranth import Mux
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH
from bregalad.protocol.registers import COUNTERS

from ..array.bayes import partial_signature
from ..array.merge import summary_layout
from ..array.operation import CELL_WIDTH, Op, candidate_layout, operation_layout, snap_layout
from ..array.snaps import snaps_of
from ..configuration import configuration_signature
from .absent import AbsentMemory
from .axi import BOUNDARY, axi_signature, join
from .dma import ReadDMA
from .events import EventCounters
from .report import word_layout
from .slots import answer_one, ask_one

__all__ = ["add_memory", "controller_members", "count_events", "issue", "share_table", "spent"]

_OF_LEVELS = ("nodes", "beats", "halvings", "clamped")  # more than one in a clock, in each a level


def controller_members(geometry, memory):
    """Members of a `MemoryController`."""
    g = geometry
    return {
        "commands": In(stream.Signature(g.bus_width)),
        "reports": Out(stream.Signature(word_layout())),
        **({"m_axi": Out(axi_signature(g.bus_width)), "memory_size": In(32)} if memory else {}),
        "configuration": In(configuration_signature()),
        "halted": Out(1),
        "busy": Out(1),
        "op": Out(operation_layout(g)),
        "snap": Out(snap_layout(g)),
        "codes": Out(data.ArrayLayout(CODE_WIDTH, g.lanes)),
        "count": Out(g.count_width),
        "trial_current": Out(CELL_WIDTH),
        "snap_ready": In(1),
        "count_out": In(g.count_width),
        "count_valid": In(1),
        "clamped": In(range(g.levels + 1)),
        "gains": In(stream.Signature(candidate_layout(g))),
        "summary": In(stream.Signature(summary_layout(g))),
        "clear": In(1),
        "reset": In(1),
        "partial": In(partial_signature(g)),
        "counter": In(range(len(COUNTERS))),
        "counted": Out(32),
    }


def add_memory(m, controller, add, loader):
    """What fetches records, and the loader beside it at the controller's bus; ``add`` adds a block by its name."""
    bus = controller.geometry.bus_width
    if not controller.memory:
        return add("absent_memory", AbsentMemory(bus))
    burst = min(controller.burst, BOUNDARY * 8 // bus)
    memory = add("dma", ReadDMA(bus, outstanding=controller.outstanding, burst=burst))
    join(m, controller.m_axi, memory.axi, loader.axi)
    m.d.comb += loader.memory_size.eq(controller.memory_size)
    return memory


def share_table(m, geometry, idle, editor, tracker, slots, scheduler):
    """Let the editor use the slot table and push trials while the tracker is idle, and else the tracker."""
    holds_tree = geometry.nodes > 0  # then trials are made at a block's end only, by the editor
    m.d.comb += [
        editor.trial.ready.eq(scheduler.i.ready),
        tracker.trial.ready.eq(holds_tree or scheduler.i.ready),
        scheduler.i.valid.eq(editor.trial.valid),
        scheduler.i.payload.eq(editor.trial.payload),
    ]
    table, port = tracker.table, slots.port
    asks = "r_en", "r_rows", "w_on", "w_rows", "w_entries"
    # That the tracker is idle goes to many as it is: nothing waits for it that need not.
    answer_one(m, geometry, editor.table, port)
    m.d.comb += [getattr(table, name).eq(getattr(port, name)) for name in ("r_entries", "path", "settled")]
    with m.If(idle):
        ask_one(m, geometry, editor.table, port)
    with m.Else():
        m.d.comb += [getattr(port, name).eq(getattr(table, name)) for name in asks]
        if not holds_tree:
            m.d.comb += [scheduler.i.valid.eq(tracker.trial.valid), scheduler.i.payload.eq(tracker.trial.payload)]
    # While there is nothing in it the tracker takes in every clock: what has been asked for stays. The editor does
    # not look at paths.
    m.d.comb += [getattr(port, name).eq(getattr(table, name)) for name in ("r_take", "path_en", "path_slot")]


def issue(m, controller, idle, editor, tracker, scheduler, codes):
    """Give the array its operations; ``codes`` come a clock after each."""
    # Whether an operation goes is known last.
    m.d.sync += [controller.op.eq(editor.op), controller.count.eq(editor.count)]
    with m.If(~idle):
        m.d.sync += controller.op.eq(tracker.op)
    snaps_of(controller.geometry).issue(m, controller, scheduler, ~tracker.valid & ~editor.valid)
    m.d.comb += [
        scheduler.reads.eq(Mux(controller.op.code != Op.NONE, controller.op.on, 0)),
        scheduler.reads_rows.eq(controller.op.rows),
        # The codes' memory is asked as the operation is registered.
        controller.codes.eq(codes),
    ]


def spent(tracker, scheduler):
    """A clock of a LEARN that is not spent on waiting for records."""
    return (
        tracker.counting
        | tracker.halving
        | tracker.wait_lock
        | tracker.wait_queue
        | tracker.wait_report
        | scheduler.held
    )


def count_events(m, controller, learning, editor, tracker, scheduler, **events):
    """Count events and clocks; what is told differently by each controller is given."""
    axi = controller.m_axi if controller.memory else None
    held = scheduler.held
    events |= {
        "nodes": tracker.node,
        "beats": tracker.beats,
        "trials": scheduler.i.valid & scheduler.i.ready,
        "halvings": tracker.halved,
        "clamped": controller.clamped,
        "clocks": 1,
        "learning": learning,
        "stall_input": learning & ~spent(tracker, scheduler),
        "stall_trial": learning & held,
        "stall_lock": tracker.wait_lock,
        "stall_queue": tracker.wait_queue,
        "stall_halve": tracker.halving,
        "stall_report": tracker.wait_report,
        "commands": editor.valid & ~held,
        "bursts": axi.arvalid & axi.arready if controller.memory else 0,
        "dma_bytes": Mux(axi.rvalid & axi.rready, controller.geometry.bus_bytes, 0) if controller.memory else 0,
    }
    most = {name: (1 << len(events[name])) - 1 if name in _OF_LEVELS else 1 for name in COUNTERS}
    m.submodules.counters = counters = EventCounters(most | {"dma_bytes": controller.geometry.bus_bytes})
    m.d.sync += counters.clear.eq(controller.clear | controller.reset)
    m.d.comb += [
        *(getattr(counters, name).eq(events[name]) for name in COUNTERS),
        counters.read.eq(controller.counter),
        controller.counted.eq(counters.value),
    ]
