"""What all lanes share of the operation pipeline."""

from amaranth import Cat, Const, Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH, Geometry

from .operation import Op, level_of, operation_layout, place_of, row_shape, side_shape, snap_layout
from .snaps import bank_of, pass_bits, snaps_of

__all__ = ["STAGES", "WORD_STAGE", "Control", "control_layout"]

STAGES = 9  # registers of the pipeline: stage 0 is the operation itself, stage 8 writes the word
WORD_STAGE = 7  # knows the word as the operations before have left it


def control_layout(geometry):
    """What the lanes need, each at the stage its name ends with.

    A row is that of a pass of a slot among those of the slot's level.
    """
    g = geometry
    rows = row_shape(g) + pass_bits(g)
    lane = max(1, (g.lanes - 1).bit_length())

    def each(shape):
        return data.ArrayLayout(shape, g.levels)

    return data.StructLayout(
        {
            # Zoom and configuration are read.
            "zoom_row_0": each(rows),
            "pass_0": max(1, pass_bits(g)),
            # 1, 2 clocks after a PLACE of that row.
            "zoom_hit_1": each(data.ArrayLayout(unsigned(1), 2)),
            "place_2": each(1),
            "place_row_2": rows,
            "parent_2": g.level_bits,  # its level
            "root_2": 1,
            "override_2": 1,
            "place_lane_2": lane,
            "lo_2": CODE_WIDTH,
            "shift_2": 3,
            "on_3": g.levels,
            "count_3": 1,
            "side_3": side_shape(g),
            "first_3": int(g.naive_bayes),  # a COUNT without
            "all_3": 1,
            "one_3": 1,
            "lane_3": lane,
            "bin_3": g.bin_bits,
            "row_4": each(rows),
            # 1, 2, 3, 4 clocks after an operation on the same slot and pass.
            "same_5": each(data.ArrayLayout(unsigned(1), 4)),
            "bank_6": each(g.banks - 1),
            "clear_6": data.ArrayLayout(unsigned(1), g.classes),  # before something is added
            # 1, -1 or what is written, the highest bit is the sign; and the class it is added to.
            "step_7": g.count_width + 1,
            "adds_7": data.ArrayLayout(unsigned(1), g.classes),
            "halve_7": 1,
            "changes_7": 1,
            "level_7": g.level_bits,  # of the slot
            "read_8": data.ArrayLayout(unsigned(1), g.classes),
            "row_8": each(rows),
            **snaps_of(g).members(rows),
        }
    )


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
        As `snaps_of` the geometry issues them; ``SNAP_DISTANCE`` clocks after the last operation that
        changes the slot.
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
                "snap": In(snap_layout(g)),
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
        rows = [
            [Signal(row_shape(g) + pass_bits(g), name=f"row_{i}_{level}") for level in levels] for i in range(STAGES)
        ]
        for op, op_rows in zip(ops, rows, strict=True):
            m.d.comb += [op_row.eq(row(place, op)) for op_row, place in zip(op_rows, op.rows, strict=True)]
        # A PLACE depends on its slot and its parent alone.
        place_rows = [row(place_of(g, op.slot), op) for op in ops]

        def here(condition, op, level):
            """The condition, and the operation's slot is of that level."""
            return condition & (level_of(g, op.slot) == level)

        m.d.comb += [
            out.pass_0.eq(ops[0].pass_),
            out.place_row_2.eq(place_rows[2]),
            out.root_2.eq(ops[2].root),
            out.override_2.eq(ops[2].override),
            out.place_lane_2.eq(ops[2].lane),
            out.lo_2.eq(ops[2].lo),
            out.shift_2.eq(ops[2].shift),
            out.side_3.eq(ops[3].side),
            out.lane_3.eq(ops[3].lane),
            out.bin_3.eq(ops[3].bin),
            out.parent_2.eq(level_of(g, ops[2].parent)),
            out.on_3.eq(ops[3].on),
            out.level_7.eq(level_of(g, ops[7].slot)),
            *(
                assignment
                for level in levels
                for assignment in (
                    out.row_4[level].eq(rows[4][level]),
                    out.bank_6[level].eq(bank_of(g, rows[6][level])),
                    out.row_8[level].eq(rows[8][level]),
                )
            ),
        ]

        # Decoded one stage ahead, so that the lanes get registers.
        def code(stage, *codes):
            ahead = ops[stage - 1] if stage else self.op
            return Cat(ahead.code == each for each in codes).any()

        parent = row(place_of(g, self.op.parent), self.op)
        m.d.sync += [
            *(
                zoom_row.eq(Mux(code(0, Op.PLACE), parent, row(place, self.op)))
                for zoom_row, place in zip(out.zoom_row_0, self.op.rows, strict=True)
            ),
            *(out.place_2[level].eq(here(code(2, Op.PLACE), ops[1], level)) for level in levels),
            out.count_3.eq(code(3, Op.COUNT)),
            out.first_3.eq(code(3, Op.COUNT) & (ops[2].side == 0)),
            out.all_3.eq(code(3, Op.CLEAR, Op.SNAP, Op.HALVE)),
            out.one_3.eq(code(3, Op.READ, Op.WRITE)),
            out.halve_7.eq(code(7, Op.HALVE)),
            # A test writes nothing, not even what was there: a SNAP may be reading it.
            out.changes_7.eq(code(7, Op.CLEAR, Op.WRITE, Op.HALVE) | (code(7, Op.COUNT) & ~ops[6].test)),
        ]
        snaps_of(g).decode(m, self, ops, code)
        for level in levels:
            for distance in (1, 2):
                op = ops[distance]
                placed = here(op.code == Op.PLACE, op, level) & (place_rows[distance] == out.zoom_row_0[level])
                m.d.sync += out.zoom_hit_1[level][distance - 1].eq(placed)
            for distance in (1, 2, 3, 4):
                m.d.sync += out.same_5[level][distance - 1].eq(rows[4][level] == rows[4 + distance][level])
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
