"""What all lanes share of the operation pipeline."""

from amaranth import Cat, Const, Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH, Geometry

from .operation import Op, operation_layout, row_shape, snap_layout

__all__ = [
    "SNAP_DISTANCE",
    "STAGES",
    "WORD_STAGE",
    "Control",
    "at_level",
    "bank_of",
    "control_layout",
    "pass_bits",
    "within_bank",
]

STAGES = 9  # registers of the pipeline: stage 0 is the operation itself, stage 8 writes the word
WORD_STAGE = 7  # knows the word as the operations before have left it
# Of a SNAP beside the operations: stage 1 is its first. It is read in stage 4 from memory alone, so
# what the last operation that changed the slot has written in stage 8 must be there.
SNAP_DISTANCE = 6  # clocks from that operation to the SNAP


def pass_bits(geometry):
    """Bits of a pass in an address; a single pass needs none."""
    return (geometry.passes - 1).bit_length()


def bank_of(geometry, row):
    """Bank of a row, that of its slot's lowest bit; 0 if there is but one."""
    return row[pass_bits(geometry)] if geometry.banks > 1 else Const(0, 1)


def within_bank(geometry, row):
    """The row's place in its bank."""
    bits = pass_bits(geometry)
    return Cat(row[:bits], row[bits + 1 :]) if geometry.banks > 1 else row


def at_level(geometry, member, level):
    """A level's part of what the control tells; all of it if there is but one."""
    return member if geometry.levels == 1 else member[level]


def control_layout(geometry):
    """What the lanes need, each at the stage its name ends with.

    A row is that of a pass of a slot among those of the slot's level. With several levels some
    members are arrays with an element for each, see `at_level`.
    """
    g = geometry
    rows = row_shape(g) + pass_bits(g)
    lane = max(1, (g.lanes - 1).bit_length())

    def each(shape):
        return shape if g.levels == 1 else data.ArrayLayout(shape, g.levels)

    return data.StructLayout(
        {
            # Zoom and configuration are read.
            "zoom_row_0": each(rows),
            "pass_0": max(1, pass_bits(g)),
            # 1, 2 clocks after a PLACE of that row.
            "zoom_hit_1": each(data.ArrayLayout(unsigned(1), 2)),
            "place_2": each(1),
            "place_row_2": rows,
            "root_2": 1,
            "override_2": 1,
            "place_lane_2": lane,
            "lo_2": CODE_WIDTH,
            "shift_2": 3,
            "count_3": 1,
            **({"side_3": 2, "first_3": 1} if g.naive_bayes else {}),  # `side`; a COUNT without
            "all_3": 1,
            "one_3": 1,
            "lane_3": lane,
            "bin_3": g.bin_bits,
            "row_4": each(rows),
            # 1, 2, 3, 4 clocks after an operation on the same slot and pass.
            "same_5": each(data.ArrayLayout(unsigned(1), 4)),
            "clear_6": data.ArrayLayout(unsigned(1), g.classes),  # before something is added
            # 1, -1 or what is written, the highest bit is the sign; and the class it is added to.
            "step_7": g.count_width + 1,
            "adds_7": data.ArrayLayout(unsigned(1), g.classes),
            "halve_7": 1,
            "changes_7": 1,
            "read_8": data.ArrayLayout(unsigned(1), g.classes),
            "row_8": each(rows),
            **_snap_members(g, rows),
            **_level_members(g),
        }
    )


def _level_members(g):
    """Which levels the operation concerns, those of its parent and of its slot."""
    if g.levels == 1:
        return {}
    return {"parent_2": g.level_bits, "on_3": g.levels, "level_7": g.level_bits}


def _snap_members(g, rows):
    """A word goes to the gain unit, its cell's configuration is read a clock ahead."""
    pass_ = max(1, pass_bits(g))
    if g.banks == 1:
        return {"pass_7": pass_, "snap_8": 1}
    per_bank = data.ArrayLayout(unsigned(1), g.banks)
    return {
        "snap_4": per_bank,
        "snap_row_4": rows,
        "snap_bin_4": g.bin_bits,
        "pass_5": pass_,
        "snap_6": per_bank,
        "bank_6": 1,  # of the operation
    }


class Control(wiring.Component):
    """Delay an operation through the stages of the lanes and decode it on the way.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    op : In(operation_layout(geometry))
        One operation per clock.
    count_in : In(count_width)
        Beside WRITE.
    snap : In(snap_layout(geometry))
        With two banks only; ``SNAP_DISTANCE`` clocks after the last that changes the slot.
    control : Out(control_layout(geometry))
    snapped : Out(1)
        A word goes to the gain units.
    snapped_bin : Out(bin_bits)

    Latency: a signal of stage s comes s + 1 clocks after the operation, s clocks after `snap`.

    Raises
    ------
    TypeError
        If ``geometry`` is not a Geometry.
    """

    def __init__(self, geometry):
        if not isinstance(geometry, Geometry):
            raise TypeError(f"geometry must be a Geometry, not {geometry!r}")
        self.geometry = g = geometry
        super().__init__(
            {
                "op": In(operation_layout(g)),
                "count_in": In(g.count_width),
                **({"snap": In(snap_layout(g))} if g.banks > 1 else {}),
                "control": Out(control_layout(g)),
                "snapped": Out(1),
                "snapped_bin": Out(g.bin_bits),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        out = self.control

        ops = [Signal(operation_layout(g), name=f"op_{i}") for i in range(STAGES)]
        for before, after in zip([self.op, *ops], ops, strict=False):
            m.d.sync += after.eq(before)
        counts = [Signal(g.count_width, name=f"count_{i}") for i in range(7)]
        for before, after in zip([self.count_in, *counts], counts, strict=False):
            m.d.sync += after.eq(before)

        def row(slot, op):
            return (slot << pass_bits(g)) | (op.pass_ if g.passes > 1 else 0)

        levels = range(g.levels)
        names = [""] if g.levels == 1 else [f"_{b}" for b in levels]

        def slots(op):
            """Of each level, the slot's place in it."""
            return [op.slot] if g.levels == 1 else op.rows

        rows = [[Signal(row_shape(g) + pass_bits(g), name=f"row_{i}{name}") for name in names] for i in range(STAGES)]
        for op, op_rows in zip(ops, rows, strict=True):
            m.d.comb += [op_row.eq(row(slot, op)) for op_row, slot in zip(op_rows, slots(op), strict=True)]
        # A PLACE depends on its slot and its parent alone.
        place_rows = [
            op_rows[0] if g.levels == 1 else row(op.slot[g.level_bits :], op)
            for op, op_rows in zip(ops, rows, strict=True)
        ]

        def here(condition, op, b):
            """The condition, and the operation's slot is of that level."""
            return condition if g.levels == 1 else condition & (op.slot[: g.level_bits] == b)

        m.d.comb += [
            out.pass_0.eq(ops[0].pass_),
            out.place_row_2.eq(place_rows[2]),
            out.root_2.eq(ops[2].root),
            out.override_2.eq(ops[2].override),
            out.place_lane_2.eq(ops[2].lane),
            out.lo_2.eq(ops[2].lo),
            out.shift_2.eq(ops[2].shift),
            out.lane_3.eq(ops[3].lane),
            out.bin_3.eq(ops[3].bin),
            *(at_level(g, out.row_4, b).eq(rows[4][b]) for b in levels),
            *(at_level(g, out.row_8, b).eq(rows[8][b]) for b in levels),
        ]
        if g.naive_bayes:
            m.d.comb += out.side_3.eq(ops[3].side)
        if g.levels > 1:
            m.d.comb += [
                out.parent_2.eq(ops[2].parent),
                out.on_3.eq(ops[3].on),
                out.level_7.eq(ops[7].slot),
            ]

        # Decoded one stage ahead, so that the lanes get registers.
        def code(stage, *codes):
            ahead = ops[stage - 1] if stage else self.op
            return Cat(ahead.code == each for each in codes).any()

        parent = row(self.op.parent[g.level_bits :], self.op)
        m.d.sync += [
            *(
                at_level(g, out.zoom_row_0, b).eq(Mux(code(0, Op.PLACE), parent, row(slot, self.op)))
                for b, slot in enumerate(slots(self.op))
            ),
            *(at_level(g, out.place_2, b).eq(here(code(2, Op.PLACE), ops[1], b)) for b in levels),
            out.count_3.eq(code(3, Op.COUNT)),
            out.all_3.eq(code(3, Op.CLEAR, Op.SNAP, Op.HALVE)),
            out.one_3.eq(code(3, Op.READ, Op.WRITE)),
            out.halve_7.eq(code(7, Op.HALVE)),
            # A test writes nothing, not even what was there: a SNAP may be reading it.
            out.changes_7.eq(code(7, Op.CLEAR, Op.WRITE, Op.HALVE) | (code(7, Op.COUNT) & ~ops[6].test)),
        ]
        if g.naive_bayes:
            m.d.sync += out.first_3.eq(code(3, Op.COUNT) & (ops[2].side == 0))
        if g.banks == 1:
            m.d.sync += out.snap_8.eq(code(8, Op.SNAP))
            m.d.comb += [
                out.pass_7.eq(ops[7].pass_),
                self.snapped.eq(out.snap_8),
                self.snapped_bin.eq(ops[8].bin),
            ]
        else:
            self._snaps(m, row)
            m.d.comb += out.bank_6.eq(bank_of(g, rows[6][0]))
        for b in levels:
            row_0, hit = at_level(g, out.zoom_row_0, b), at_level(g, out.zoom_hit_1, b)
            for distance in (1, 2):
                op = ops[distance]
                placed = here(op.code == Op.PLACE, op, b) & (place_rows[distance] == row_0)
                m.d.sync += hit[distance - 1].eq(placed)
            same = at_level(g, out.same_5, b)
            for distance in (1, 2, 3, 4):
                m.d.sync += same[distance - 1].eq(rows[4][b] == rows[4 + distance][b])
        with m.If(code(7, Op.WRITE)):
            m.d.sync += out.step_7.eq(counts[6])
        with m.Else():
            m.d.sync += out.step_7.eq(Cat(Const(1, 1), ops[6].minus.replicate(g.count_width)))
        adds = code(7, Op.WRITE) | (code(7, Op.COUNT) & ~ops[6].test)
        for k in range(g.classes):
            m.d.sync += [
                out.adds_7[k].eq(adds & (ops[6].label == k)),
                out.clear_6[k].eq(code(6, Op.CLEAR) | (code(6, Op.WRITE) & (ops[5].label == k))),
                out.read_8[k].eq(code(8, Op.READ) & (ops[7].label == k)),
            ]
        return m

    def _snaps(self, m, row):
        """Delay and decode a SNAP beside the operations."""
        g, out = self.geometry, self.control
        snaps = {i: Signal(snap_layout(g), name=f"snap_{i}") for i in range(1, 7)}
        m.d.sync += snaps[1].eq(self.snap)
        for i in range(2, 7):
            m.d.sync += snaps[i].eq(snaps[i - 1])
        rows = {i: row(snap.slot, snap) for i, snap in snaps.items()}
        for stage, ports in ((4, out.snap_4), (6, out.snap_6)):
            for bank, port in enumerate(ports):
                m.d.sync += port.eq(snaps[stage - 1].valid & (bank_of(g, rows[stage - 1]) == bank))
        m.d.comb += [
            out.snap_row_4.eq(rows[4]),
            out.snap_bin_4.eq(snaps[4].bin),
            out.pass_5.eq(snaps[5].pass_),
            self.snapped.eq(snaps[6].valid),
            self.snapped_bin.eq(snaps[6].bin),
        ]
