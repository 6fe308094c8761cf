"""A lane's gain unit: one cell's counts in, the cell's best split out."""

from amaranth import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..geometry import CODE_WIDTH, Geometry
from ..protocol.registers import CellKind
from .xlog2x import XLog2X

__all__ = ["GainUnit", "kind_layout", "result_layout"]


def kind_layout():
    """A cell's configuration (`config_layout` without the cell)."""
    return data.StructLayout({"kind": 2, "first": 1, "other": 1, "base": CODE_WIDTH})


def result_layout(geometry):
    """What a gain unit finds; all but `gain` are 0 for an ignored cell."""
    g = geometry
    return data.StructLayout({
        "valid": 1,
        "joins": 1,  # belongs to the attribute of the cell before
        "additive": 1,  # multiway: gains of an attribute's cells add up; else the largest wins
        "value": CODE_WIDTH,
        "gain": signed(g.gain_width),
        "left": data.ArrayLayout(g.count_width, g.classes),
    })


class GainUnit(wiring.Component):
    """Buffer the words of a snapshot, then find the best of a cell's splits.

    While the words come in, classes are summed up, and a numeric cell's memory gets the running
    sums instead of the words: word j then is the left side of threshold j. The scan sends the
    total's counts, then l_0, r_0, l_1, r_1, ..., l, r of each split through one `XLog2X`
    (multiway: l_0, l_1, ..., l), and adds up the results.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    config : In(kind_layout())
        The cell; stable from the first word until `take`.
    classes_in_use : In(8)
        1 to ``geometry.classes``; stable likewise.
    snap : In(1)
        A word of the snapshot is there; bins 0 to B - 1 in order, then none until `take`.
    bin : In(bin_bits)
    word : In(ArrayLayout(count_width, classes))
    done : Out(1)
        `result` is there, until `take`.
    take : In(1)
        Back to the start; only while `done`.
    result : Out(result_layout(geometry))

    Latency: from the last `snap` to `done`, with n classes in use, ``scan_clocks(kind, ...)``;
    at most ``B * (2 * n + 2) + 60``. The memory has a read latency of 1.

    Raises
    ------
    TypeError
        If ``geometry`` is not a Geometry.

    Source: design, section 5; Golden._gain.
    """

    def __init__(self, geometry):
        if not isinstance(geometry, Geometry):
            raise TypeError(f"geometry must be a Geometry, not {geometry!r}")
        self.geometry = g = geometry
        self._f = XLog2X(g.count_width, tag_width=6)
        super().__init__({
            "config": In(kind_layout()),
            "classes_in_use": In(8),
            "snap": In(1),
            "bin": In(g.bin_bits),
            "word": In(data.ArrayLayout(g.count_width, g.classes)),
            "done": Out(1),
            "take": In(1),
            "result": Out(result_layout(g)),
        })

    def scan_clocks(self, kind, first, other, classes_in_use):
        """Clocks from the last word's to the first one with `done`."""
        g, n = self.geometry, classes_in_use
        if kind == CellKind.IGNORED:
            return 1
        own = g.bins - (kind == CellKind.NUMERIC or bool(other))
        if kind == CellKind.MULTIWAY:
            terms = (n + 2) * (own + bool(first))
        else:
            terms = (n + 2) + own * (2 * n + 2)
        return terms + self._f.latency + 5

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        width = g.count_width
        last_bin = g.bins - 1
        config = self.config

        numeric, multiway, ignored = Signal(), Signal(), Signal()
        m.d.comb += [
            numeric.eq(config.kind == CellKind.NUMERIC),
            multiway.eq(config.kind == CellKind.MULTIWAY),
            ignored.eq(config.kind == CellKind.IGNORED),
        ]

        # Load.
        m.submodules.words = words = Memory(shape=width * g.classes, depth=g.bins, init=[])
        write, read = words.write_port(), words.read_port()
        total = Signal(data.ArrayLayout(width, g.classes))
        sums = Signal(data.ArrayLayout(width, g.classes))
        for k in range(g.classes):
            m.d.comb += sums[k].eq(Mux(self.bin == 0, 0, total[k]) + self.word[k])
        m.d.comb += [
            write.en.eq(self.snap),
            write.addr.eq(self.bin),
            write.data.eq(Mux(numeric, sums.as_value(), self.word.as_value())),
        ]
        with m.If(self.snap):
            m.d.sync += total.eq(sums)

        # Scan: which term enters the pipeline.
        index = Signal(range(g.classes + 1))  # class; the class after the last stands for the sum
        right = Signal()  # the right side's half of a pair; alone: the clock of the sum
        split = Signal(g.bin_bits)
        last_split = Signal(g.bin_bits)
        at_total, alone, at_sum, value_end, opens = (Signal(), Signal(), Signal(), Signal(),
                                                     Signal())
        issue = Signal()
        best = Signal(g.bin_bits)
        m.d.comb += [
            last_split.eq(Mux(numeric | config.other, last_bin - 1, last_bin)),
            alone.eq(at_total | multiway),
            at_sum.eq(index == self.classes_in_use),
            value_end.eq(at_sum & right),
            opens.eq((index == 0) & ~right),
            read.addr.eq(split),
        ]
        finished = Signal()
        with m.FSM():
            with m.State("LOAD"):
                with m.If(self.snap & (self.bin == last_bin)):
                    with m.If(ignored):
                        m.next = "DONE"
                    with m.Elif(multiway & ~config.first):
                        m.next = "SPLITS"
                    with m.Else():
                        m.next = "TOTAL"
            with m.State("TOTAL"):
                m.d.comb += [at_total.eq(1), issue.eq(1)]
                with m.If(value_end):
                    m.next = "SPLITS"
            with m.State("SPLITS"):
                m.d.comb += issue.eq(1)
                with m.If(value_end):
                    # The next word is to be there with the next clock.
                    m.d.comb += read.addr.eq(split + 1)
                    m.d.sync += split.eq(split + 1)
                    with m.If(split == last_split):
                        m.d.sync += split.eq(0)
                        m.next = "DRAIN"
            with m.State("DRAIN"):
                with m.If(finished):
                    m.next = "FETCH"
            with m.State("FETCH"):
                m.d.comb += read.addr.eq(best)
                m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += [self.done.eq(1), read.addr.eq(best)]
                with m.If(self.take):
                    m.next = "LOAD"
        with m.If(issue):
            with m.If(at_sum):
                m.d.sync += right.eq(~right)
                with m.If(right):
                    m.d.sync += index.eq(0)
            with m.Else():
                m.d.sync += right.eq(~right & ~alone)
                with m.If(right | alone):
                    m.d.sync += index.eq(index + 1)

        # Pick the counts, form the term.
        side = Signal(data.ArrayLayout(width, g.classes))
        m.d.comb += side.eq(read.data)
        stage = data.StructLayout({
            "valid": 1, "sum": 1, "right": 1, "opens": 1, "total": 1, "alone": 1,
            "tag": self._f.i_tag.shape(),
        })
        tag = data.StructLayout({
            "valid": 1, "minus": 1,
            "zero": 1,  # start at 0
            "base": 1,  # start at the total's impurity
            "latch": 1,  # what was added up so far is the total's impurity
            "judge": 1,  # a split's last term
        })
        term = Signal(tag)
        picked, formed = Signal(stage), Signal(stage)
        left_count, total_count, x = Signal(width), Signal(width), Signal(width)
        left_sum, right_sum = Signal(width), Signal(width)
        valid = Signal()
        m.d.comb += [
            valid.eq(issue & ~(alone & at_sum & ~right)),
            term.valid.eq(valid),
            term.minus.eq(at_total ^ at_sum),
            term.zero.eq(opens & (at_total | (multiway & ~config.first & (split == 0)))),
            term.base.eq(opens & ~at_total & ~multiway & (split != 0)),
            term.latch.eq(opens & ~at_total & ~multiway & (split == 0)),
            term.judge.eq(value_end & ~at_total & (~multiway | (split == last_split))),
        ]
        m.d.sync += [
            left_count.eq(side[index]),
            total_count.eq(total[index]),
            picked.valid.eq(valid), picked.sum.eq(at_sum), picked.right.eq(right & ~alone),
            picked.opens.eq(index == 0), picked.total.eq(at_total), picked.alone.eq(alone),
            picked.tag.eq(term),
            formed.eq(picked),
        ]
        with m.If(picked.sum):
            m.d.sync += x.eq(Mux(picked.right, right_sum, left_sum))
        with m.Elif(picked.total):
            m.d.sync += x.eq(total_count)
        with m.Elif(picked.right):
            m.d.sync += x.eq(total_count - left_count)
        with m.Else():
            m.d.sync += x.eq(left_count)
        with m.If(formed.valid & ~formed.sum):
            with m.If(formed.right):
                m.d.sync += right_sum.eq(Mux(formed.opens, 0, right_sum) + x)
            with m.Else():
                m.d.sync += left_sum.eq(Mux(formed.opens, 0, left_sum) + x)

        m.submodules.f = f = self._f
        m.d.comb += [f.i_x.eq(x), f.i_tag.eq(formed.tag)]

        # Add up the terms, keep the best split.
        y = Signal(tag)
        gain, impurity, start = (Signal(signed(g.gain_width), name=name)
                                 for name in ("gain", "impurity", "start"))
        addend = Signal(g.gain_width)
        m.d.comb += [
            y.eq(f.o_tag),
            start.eq(Mux(y.zero, 0, Mux(y.base, impurity, gain))),
            addend.eq(f.o_y ^ y.minus.replicate(g.gain_width)),
        ]
        with m.If(y.valid):
            # One carry chain for both signs: the carry in is the sum of the two lowest bits.
            m.d.sync += gain.eq((Cat(y.minus, start) + Cat(y.minus, addend))[1:])
        with m.If(y.valid & y.latch):
            m.d.sync += impurity.eq(gain)

        judge, judged_any = Signal(), Signal()
        judged = Signal(g.bin_bits)
        best_gain = Signal(signed(g.gain_width))
        m.d.sync += judge.eq(y.valid & y.judge)
        m.d.comb += finished.eq(judge & ((judged == last_split) | multiway))
        with m.If(judge):
            m.d.sync += [judged.eq(judged + 1), judged_any.eq(1)]
            with m.If(~judged_any | (gain > best_gain)):
                m.d.sync += [best_gain.eq(gain), best.eq(judged)]
        with m.If(self.take):
            m.d.sync += [judged.eq(0), judged_any.eq(0)]

        with m.If(~ignored):
            m.d.comb += [
                self.result.valid.eq(1),
                self.result.joins.eq(~config.first),
                self.result.additive.eq(multiway),
            ]
            with m.If(~multiway):
                m.d.comb += self.result.value.eq(Mux(numeric, 0, config.base) + best)
                for k in range(g.classes):
                    with m.If(k < self.classes_in_use):
                        m.d.comb += self.result.left[k].eq(side[k])
        m.d.comb += self.result.gain.eq(best_gain)
        return m
