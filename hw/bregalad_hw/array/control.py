"""What all lanes share of the operation pipeline."""

from amaranth import Cat, Const, Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH

from ..delay import stages
from ..members import drive
from .operation import Op, operation_layout, pass_bits, side_shape, slot_shape

STAGES = 9  # registers of the pipeline: stage 0 is the operation itself, stage 8 writes the word
WORD_STAGE = 7  # knows the word as the operations before have left it


def control_layout(geometry):
    """What the lanes need, each at the stage its name ends with.

    A row is that of a pass of a slot.
    """
    g = geometry
    rows = slot_shape(g) + pass_bits(g)
    lane = max(1, (g.lanes - 1).bit_length())
    return data.StructLayout(
        {
            # Bin window and configuration are read.
            "bin_window_row_0": rows,
            "pass_0": max(1, pass_bits(g)),
            # 1, 2 clocks after a PLACE of that row.
            "bin_window_hit_1": data.ArrayLayout(unsigned(1), 2),
            "place_2": 1,
            "place_row_2": rows,
            "root_2": 1,
            "override_2": 1,
            "each_2": 1,
            "place_lane_2": lane,
            "lo_2": CODE_WIDTH,
            "shift_2": 3,
            "count_3": 1,
            "side_3": side_shape(g),
            "first_3": int(g.naive_bayes),  # a COUNT without
            "all_3": 1,
            "one_3": 1,
            "bin_window_3": 1,  # a READ of a bin window
            "each_3": 1,
            "lane_3": lane,
            "bin_3": g.bin_bits,
            "row_4": rows,
            # 1, 2, 3, 4 clocks after an operation on the same slot and pass.
            "same_5": data.ArrayLayout(unsigned(1), 4),
            "clear_6": data.ArrayLayout(unsigned(1), g.classes),  # before something is added
            # 1, -1 or what is written, the highest bit is the sign; and the class it is added to.
            "step_7": g.count_width + 1,
            "adds_7": data.ArrayLayout(unsigned(1), g.classes),
            "halve_7": 1,
            "each_7": 1,
            "changes_7": 1,
            "pass_7": max(1, pass_bits(g)),  # of a SNAP
            "snap_8": 1,
            "read_8": data.ArrayLayout(unsigned(1), g.classes),
            "row_8": rows,
        }
    )


class Control(wiring.Component):
    """Delay an operation through the stages of the lanes and decode it on the way.

    Members
    -------
    op : In(operation_layout(geometry))
        One operation per clock.
    count_in : In(count_width)
        Beside WRITE.
    control : Out(control_layout(geometry))
    snapped : Out(1)
        A word goes to the gain units.
    snapped_bin : Out(bin_bits)

    Latency: a signal of stage s comes s + 1 clocks after the operation.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        super().__init__(
            {
                "op": In(operation_layout(g)),
                "count_in": In(g.count_width),
                "control": Out(control_layout(g)),
                "snapped": Out(1),
                "snapped_bin": Out(g.bin_bits),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        out = self.control

        ops, counts = stages(m, self.op, STAGES, "op"), stages(m, self.count_in, 7, "count")

        def row(slot, op):
            return (slot << pass_bits(g)) | (op.pass_ if g.passes > 1 else 0)

        rows = [Signal(slot_shape(g) + pass_bits(g), name=f"row_{i}") for i in range(STAGES)]
        m.d.comb += [op_row.eq(row(op.slot, op)) for op, op_row in zip(ops, rows, strict=True)]
        m.d.comb += [
            *drive(out, pass_0=ops[0].pass_, place_row_2=rows[2], place_lane_2=ops[2].lane),
            *(out[f"{name}_2"].eq(ops[2][name]) for name in ("root", "override", "each", "lo", "shift")),
            *(out[f"{name}_3"].eq(ops[3][name]) for name in ("side", "lane", "bin", "each")),
            *drive(out, row_4=rows[4], pass_7=ops[7].pass_, row_8=rows[8]),
            self.snapped.eq(out.snap_8),
            self.snapped_bin.eq(ops[8].bin),
        ]

        # Decoded one stage ahead, so that the lanes get registers.
        def code(stage, *codes):
            ahead = ops[stage - 1] if stage else self.op
            return Cat(ahead.code == each for each in codes).any()

        m.d.sync += [
            out.bin_window_row_0.eq(row(Mux(code(0, Op.PLACE), self.op.parent, self.op.slot), self.op)),
            out.place_2.eq(code(2, Op.PLACE)),
            out.count_3.eq(code(3, Op.COUNT)),
            out.first_3.eq(code(3, Op.COUNT) & ops[2].predict & (ops[2].side == 0)),
            out.all_3.eq(code(3, Op.CLEAR, Op.SNAP, Op.HALVE) | (code(3, Op.READ, Op.WRITE) & ops[2].each)),
            out.one_3.eq(code(3, Op.READ, Op.WRITE)),
            out.bin_window_3.eq(code(3, Op.READ) & ops[2].bin_window),
            out.halve_7.eq(code(7, Op.HALVE)),
            out.each_7.eq(code(7, Op.WRITE) & ops[6].each),
            out.changes_7.eq(code(7, Op.CLEAR, Op.WRITE, Op.HALVE) | (code(7, Op.COUNT) & ~ops[6].test)),
            out.snap_8.eq(code(8, Op.SNAP)),
        ]
        for distance in (1, 2):
            placed = (ops[distance].code == Op.PLACE) & (rows[distance] == out.bin_window_row_0)
            m.d.sync += out.bin_window_hit_1[distance - 1].eq(placed)
        for distance in (1, 2, 3, 4):
            m.d.sync += out.same_5[distance - 1].eq(rows[4] == rows[4 + distance])
        with m.If(code(7, Op.WRITE)):
            m.d.sync += out.step_7.eq(counts[6])
        with m.Else():
            m.d.sync += out.step_7.eq(Cat(Const(1, 1), ops[6].minus.replicate(g.count_width)))
        adds = code(7, Op.WRITE) | (code(7, Op.COUNT) & ~ops[6].test)
        for k in range(g.classes):
            m.d.sync += [
                out.adds_7[k].eq(adds & (ops[6].label == k)),
                out.clear_6[k].eq(code(6, Op.CLEAR) | (code(6, Op.WRITE) & (ops[5].label == k))),
                out.read_8[k].eq(code(8, Op.READ) & ~ops[7].bin_window & (ops[7].label == k)),
            ]
        return m
