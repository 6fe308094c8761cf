"""The attribute processor array: P lanes and what merges their results."""

import itertools
from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.registers import CellKind

from ..delay import delay
from ..duplicate import add_with_reset, distribute, distribution_latency, duplicated, levels
from ..gain.gain import arithmetic_latency, shared_table
from ..gain.scan import SNAPSHOTS, Scan
from ..members import assign, drive, optional
from ..registers import configuration_signature
from .bayes import PartialSums, partial_latency, partial_signature
from .control import Control
from .merge import Merge, merge_layout, part_layout, summary_layout
from .operation import CELL, CELL_WIDTH, CONFIG, Op, candidate_layout, operations_signature
from .processor import AttributeProcessor

_FAN_IN = 8  # lanes, or groups of them, that a register of a reduction brings together
_FIFO_DEPTH = 16
_MOST_SNAPSHOTS = 16
_COMMON = ("control", "scan", "load", "shift", "config", "config_pass")  # all lanes alike


class AttributeProcessorArray(wiring.Component):
    """Keep every cell's counts; find every attribute's best split.

    Operations take effect in order, one per clock, none waits. An attempt of a slot is the SNAP of all its bins, pass
    by pass, a clock at least between two passes. ``snapshots`` passes are held at most, each from the SNAP of its bin 0
    to `snap_freed`. Other operations may lie between SNAPs, updates of other slots above all; the slot itself is free
    again after the last of them.

    Parameters
    ----------
    geometry : Geometry
    snapshots : int
        Passes that a gain unit holds, the one it works on among them; a power of two, 1 to 16.

    Members
    -------
    op : In(operation_layout(geometry))
    codes : In(ArrayLayout(8, lanes))
        ``codes_latency`` clocks after COUNT; 255 for lanes that have no cell in this pass.
    count_in : In(count_width)
        Beside WRITE.
    counts_in : In(ArrayLayout(count_width, lanes))
        Beside WRITE and PLACE of each lane: its count, or its bin window as a READ has it.
    configuration : In(configuration_signature())
        Within the board's limits, and static while busy. With ``cell.write`` the configuration of cell ``cell.index``
        is stored, which is pass * lanes + lane. Operations may follow
        ``config_latency`` clocks later. ``report.all``, 1: `gains`, 0: `summary`.
    reset : In(1)
        Forget attempts and predictions, from the next clock on. Whatever is under way is gone when it
        has lasted ``partial_latency`` clocks without operations; the memories stay.
    attempt_current : In(16)
        First cell of the slot's split attribute or 0xFFFF, beside the SNAP of pass 0, bin 0.
    snap_freed : Out(1)
        For one clock per pass: its place is free again.
    gains : Out(stream of candidate_layout(geometry))
        A candidate per cell in use and attempt, see `Merge`.
    summary : Out(stream of summary_layout(geometry))
        One per attempt, see `Merge`.
    count_out : Out(count_width)
        Of a READ.
    count_valid : Out(1)
        `count_out` is there. READs of lanes that do not exist give none.
    counts_out : Out(ArrayLayout(count_width, lanes))
        Of a READ of each lane.
    counts_valid : Out(1)
        `counts_out` is there; `count_valid` comes later all the same.
    clamped : Out(1)
        For one clock per COUNT: a counter stayed at 0 or at its maximum.
    partial : Out(partial_signature(geometry))
        Sums of the naive Bayes terms of every COUNT with `predict`; none without ``naive_bayes``.
    busy : Out(1)
        From an operation until all that it tells is told and taken.

    Latency, from the operation: ``count_latency`` clocks until memory has it, as many until `counts_valid`,
    ``read_latency`` until `count_valid`, ``clamped_latency`` until `clamped`, ``partial_latency`` until `partial`.

    Source: design, sections 2 to 5.
    """

    config_latency = 4
    codes_latency = 1  # a record's codes come out of a memory, its operation does not

    def __init__(self, geometry, *, snapshots=SNAPSHOTS):
        if not 1 <= snapshots <= _MOST_SNAPSHOTS or snapshots & (snapshots - 1):
            raise ValueError(f"snapshots must be a power of two, 1 to {_MOST_SNAPSHOTS}, not {snapshots}")
        self.geometry = g = geometry
        self.snapshots = snapshots
        self.gather_clocks = gather_clocks = levels(g.lanes, _FAN_IN)
        self.spread = distribution_latency(g.lanes)  # registers on the way to a lane
        self.count_latency = AttributeProcessor.count_latency + self.spread
        self.clamped_latency = AttributeProcessor.read_latency + self.spread + gather_clocks
        self.read_latency = self.clamped_latency + 1
        self.partial_latency = partial_latency(g)
        super().__init__(
            {
                **operations_signature(g).flip().members,
                "configuration": In(configuration_signature()),
                "reset": In(1),
                **dict.fromkeys(("snap_freed", "clamped", "busy"), Out(1)),
                "gains": Out(stream.Signature(candidate_layout(g))),
                "summary": Out(stream.Signature(summary_layout(g))),
                "partial": Out(partial_signature(g)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry

        m.submodules.control = control = Control(g)
        readers = []  # a table's, of two lanes
        for first in range(0, g.lanes, 2):
            if table := shared_table(g, min(2, g.lanes - first)):
                m.submodules[f"table_{first // 2}"] = table
                readers += table.readers
        lanes = [
            AttributeProcessor(g, lane, snapshots=self.snapshots, reader=reader)
            for lane, reader in itertools.zip_longest(range(g.lanes), readers)
        ]
        scan = Scan(
            g, latency=arithmetic_latency(g), spread=self.spread, gathered=self.gather_clocks, snapshots=self.snapshots
        )
        add_with_reset(m, "scan", scan, self.reset)
        m.d.comb += [
            *drive(control, op=self.op, count_in=self.count_in),
            *drive(scan, snap=control.snapped, bin=control.snapped_bin),
            scan.classes_in_use.eq(self.configuration.classes.count),
        ]

        config_pass, config_lane, config, config_write, kinds = self._configuration(m)
        load, shift = Signal(), Signal()
        distributed = distribute(
            m,
            g.lanes,
            control=control.control.as_value(),
            scan=scan.control.as_value(),
            load=load,
            shift=shift,
            config=config.as_value(),
            config_pass=config_pass,
            config_lane=config_lane,
            config_write=config_write,
        )
        for lane, after, values in zip(lanes, [*lanes[1:], None], distributed, strict=True):
            m.submodules[f"lane_{lane.lane}"] = lane
            m.d.comb += [
                *(getattr(lane, name).eq(values[name]) for name in _COMMON),
                lane.code.eq(delay(m, self.codes[lane.lane], self.spread - self.codes_latency, f"code_{lane.lane}")),
                lane.value.eq(delay(m, self.counts_in[lane.lane], self.spread, f"value_{lane.lane}")),
                lane.config_write.eq(values["config_write"] & (values["config_lane"] == lane.lane)),
            ]
            if after is not None:
                m.d.comb += lane.chain_i.eq(after.chain_o)

        # READ, the events and the kinds of all lanes, _FAN_IN to a register.
        def gather(name, signals):
            level = 0
            while level == 0 or len(signals) > 1:
                groups = [signals[i : i + _FAN_IN] for i in range(0, len(signals), _FAN_IN)]
                signals = [Signal(len(signals[0]), name=f"{name}_{level}_{i}") for i in range(len(groups))]
                m.d.sync += [signal.eq(reduce(or_, group)) for signal, group in zip(signals, groups, strict=True)]
                level += 1
            return signals[0]

        counts, reads = [], Signal(g.lanes)
        for lane in lanes:
            count = Signal(g.count_width, name=f"count_{lane.lane}", reset_less=True)
            with m.If(lane.read):
                m.d.sync += count.eq(lane.count)
            with m.Else():
                m.d.sync += count.eq(0)
            counts.append(count)
        m.d.sync += reads.eq(Cat(lane.read for lane in lanes))
        m.d.comb += [
            *(out.eq(count) for out, count in zip(self.counts_out, counts, strict=True)),
            self.counts_valid.eq(reads.any()),
            self.count_out.eq(gather("count", counts)),
            self.count_valid.eq(gather("read", list(reads))),
            self.clamped.eq(gather("clamped", [lane.clamped for lane in lanes])),
            scan.pairs.eq(gather("pairs", [lane.pairs for lane in lanes])),
            scan.whole.eq(gather("whole", [lane.whole for lane in lanes])),
        ]

        begins = duplicated(m, "reset", self.reset)
        m.submodules.partial_sums = sums = optional(g.naive_bayes, PartialSums(g))
        m.d.comb += [
            *(terms.eq(lane.terms) for terms, lane in zip(sums.terms, lanes, strict=True)),
            *drive(sums, count=self.op.predict & (self.op.code == Op.COUNT), last=self.op.last, reset=begins),
        ]
        connect(m, sums.partial, flipped(self.partial))

        # Attempts: admit passes while there is room, hand the gain units' results to the chain.
        merge = Merge(g)
        fifo = SyncFIFOBuffered(width=merge.i.p.shape().size, depth=_FIFO_DEPTH)
        add_with_reset(m, "merge", merge, self.reset)
        add_with_reset(m, "fifo", fifo, self.reset)
        pending = Signal()  # the chain holds results
        place_bits = (self.snapshots - 1).bit_length()
        head, tail = Signal(place_bits), Signal(place_bits)
        used, used_next = Signal(range(self.snapshots + 1)), Signal(range(self.snapshots + 1))
        m.submodules.currents = currents = Memory(shape=CELL_WIDTH, depth=self.snapshots, init=[])
        write, read = currents.write_port(), currents.read_port()
        attempt_current, chain_current = Signal(CELL_WIDTH), Signal(CELL_WIDTH)
        opened = Signal()
        first_pass = self.op.pass_ == 0 if g.passes > 1 else 1
        m.d.comb += [
            opened.eq((self.op.code == Op.SNAP) & (self.op.bin == 0)),
            used_next.eq(used + opened - load),
            *drive(write, en=opened, addr=head),
            write.data.eq(Mux(first_pass, self.attempt_current, attempt_current)),
            read.addr.eq(tail),
        ]
        m.d.sync += used.eq(used_next)
        m.d.comb += self.snap_freed.eq(load)
        with m.If(opened):
            m.d.sync += [head.eq(head + 1), attempt_current.eq(write.data)]
        m.d.comb += scan.take.eq(load)
        m.d.sync += load.eq(0)
        with m.If(scan.done & ~pending & ~load):
            m.d.sync += [load.eq(1), tail.eq(tail + 1), chain_current.eq(read.data)]

        # Chain to merge.
        cell, left = Signal(CELL_WIDTH), Signal(range(g.lanes))
        last_cell = Signal(CELL_WIDTH)
        room = Signal()
        item = Signal(merge_layout(g))
        # Beside the lanes, which shift some clocks later.
        last = Signal()
        behind = [Cat(shift, last, cell == chain_current, cell)]
        for clock in range(self.spread):
            behind.append(delay(m, behind[-1], 1, f"behind_{clock}"))
        shifting, item_last, item_current = behind[-1][:3]
        item_cell = behind[-1][3:]
        m.d.comb += [
            shift.eq(pending & room),
            last.eq(cell == last_cell),
            *drive(item, part=self._part(m, kinds, cell, lanes[0].chain_o), cell=item_cell, current=item_current),
            item.last.eq(item_last),
            *drive(fifo, w_en=shifting, w_data=item),
        ]
        m.d.sync += [
            last_cell.eq(self.configuration.cells.count - 1),
            room.eq(fifo.level < _FIFO_DEPTH - 3 - self.spread),  # so many more are on their way
        ]
        with m.If(load):
            m.d.sync += [pending.eq(1), left.eq(g.lanes - 1)]
        with m.If(shift):
            m.d.sync += [left.eq(left - 1), cell.eq(Mux(last, 0, cell + 1))]
            with m.If((left == 0) | last):
                m.d.sync += pending.eq(0)

        m.d.comb += merge.report_all.eq(self.configuration.report.all)
        connect(m, fifo.r_stream, merge.i)
        connect(m, merge.gains, flipped(self.gains))
        connect(m, merge.summary, flipped(self.summary))
        with m.If(begins):
            m.d.sync += [state.eq(state.init) for state in (head, tail, used, load, pending, cell, left)]
        # An operation is under way until the last that it tells by itself.
        longest = max(self.read_latency, g.naive_bayes * self.partial_latency)
        left = Signal(range(longest + 1))
        arrives = self.op.code != Op.NONE
        with m.If(arrives):
            m.d.sync += left.eq(longest)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        # Between the passes of an attempt the merge has an attribute open.
        m.d.comb += self.busy.eq(
            arrives
            | (left != 0)
            | (used != 0)
            | load
            | pending
            | Cat(stage[0] for stage in behind).any()
            | (fifo.level != 0)
            | merge.busy
        )
        return m

    def _configuration(self, m):
        """Divide a cell's index into pass and lane; one per clock. Keep it for the merge, too."""
        g = self.geometry
        cell_bits = 15  # of the largest geometry
        written = self.configuration.cell
        config = [Signal(CONFIG, name=f"config_{i}") for i in range(3)]
        write = [Signal(name=f"config_write_{i}") for i in range(3)]
        passes = [Signal(range(g.passes + 1), name=f"config_pass_{i}") for i in (1, 2)]
        lane = Signal(range(max(2, g.lanes)))
        # Exact for every 15-bit dividend: the factor's error is below 2**-15 / lanes.
        extra = cell_bits + g.lanes.bit_length()
        factor = -(-(1 << extra) // g.lanes)
        m.d.sync += [
            *assign(config[0], written, *CONFIG.members),
            write[0].eq(written.write),
            config[1].eq(config[0]),
            write[1].eq(write[0]),
            passes[0].eq((config[0].index[:cell_bits] * factor) >> extra),
            config[2].eq(config[1]),
            write[2].eq(write[1]),
            passes[1].eq(passes[0]),
            lane.eq(config[1].index - passes[0] * g.lanes),
        ]
        kind = Signal(CELL)
        m.d.comb += assign(kind, config[2], *CELL.members)
        m.submodules.kinds = kinds = Memory(
            shape=CELL, depth=g.max_cells, init=[{"kind": CellKind.IGNORED, "first": 1}] * g.max_cells
        )
        put = kinds.write_port()
        m.d.comb += [put.en.eq(write[2]), put.addr.eq(config[2].index), put.data.eq(kind)]
        return passes[1], lane, kind, write[2], kinds

    def _part(self, m, kinds, cell, result):
        """A gain unit's result as the merge takes it, ``spread`` clocks after the cell's index."""
        g = self.geometry
        part = Signal(part_layout(g))
        read = kinds.read_port()
        m.d.comb += read.addr.eq(cell)
        kind = delay(m, read.data, self.spread - 1, "kind")
        valid, multiway, binary = Signal(), Signal(), Signal()
        shown = Signal(g.classes)
        value = Mux(kind.kind == CellKind.NUMERIC, 0, kind.base) + result.bin
        m.d.sync += shown.eq(Cat(k < self.configuration.classes.count for k in range(g.classes)))
        m.d.comb += [
            valid.eq(kind.kind != CellKind.IGNORED),
            multiway.eq(kind.kind == CellKind.MULTIWAY),
            binary.eq(valid & ~multiway),
            *drive(part, valid=valid, joins=valid & ~kind.first, additive=multiway, gain=result.gain),
            part.value.eq(Mux(binary, value, 0)),
            *(part.left[k].eq(Mux(binary & shown[k], result.left[k], 0)) for k in range(g.classes)),
        ]
        return part
