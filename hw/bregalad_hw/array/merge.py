"""From the cells' results to the attributes' candidates and an attempt's summary."""

from amaranth import Const, Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.geometry import CODE_WIDTH, NONE

from ..members import drive
from ..skid_buffer import SkidBuffer
from .operation import CELL_WIDTH, candidate_layout


def part_layout(geometry):
    """A cell's share of its attribute's candidate; all but `gain` are 0 for an ignored cell."""
    g = geometry
    return data.StructLayout(
        {
            "valid": 1,
            "joins": 1,  # belongs to the attribute of the cell before
            "additive": 1,  # multiway: gains of an attribute's cells add up; else the largest wins
            "value": CODE_WIDTH,
            "gain": signed(g.gain_width),
            "left": data.ArrayLayout(g.count_width, g.classes),
        }
    )


def merge_layout(geometry):
    """A cell's part on its way to the merge."""
    return data.StructLayout(
        {
            "part": part_layout(geometry),
            "cell": CELL_WIDTH,
            "current": 1,  # first cell of the slot's split attribute
            "last": 1,  # of the attempt
        }
    )


def summary_layout(geometry):
    """The outcome of an attempt; `left` are the class counts left of the best split."""
    g = geometry
    candidate = candidate_layout(g)
    return data.StructLayout(
        {
            "best": candidate,
            "second": candidate,
            "current": candidate,
            "left": data.ArrayLayout(g.count_width, g.classes),
        }
    )


class Merge(wiring.Component):
    """Combine the cells of an attribute, then list the attributes or keep the best two.

    Members
    -------
    i : In(stream of merge_layout(geometry))
        An attempt's cells in order.
    report_all : In(1)
        1: candidates go to `gains`; 0: to `summary`. Static while busy.
    gains : Out(stream of candidate_layout(geometry))
        One per cell: an attribute's candidate at its last cell; other cells have valid 0, as
        ignored ones, cell 0xFFFF, value and gain 0.
    summary : Out(stream of summary_layout(geometry))
        One per attempt; what is not there is as above, with `left` 0.
    busy : Out(1)
        A result is under way or not taken.

    Latency: ``gains_latency`` clocks from an attempt's last cell to its candidate, and
    ``summary_latency`` to the summary, up to two more where another is just leaving. Throughput:
    1 cell per clock, and two clocks per attempt; with ``report_all`` two clocks per cell.

    Source: design, sections 4 and 5; the golden model's Slots._candidates, top.
    """

    gains_latency = 3
    summary_latency = 5

    def __init__(self, geometry):
        self.geometry = g = geometry
        super().__init__(
            {
                "i": In(stream.Signature(merge_layout(g))),
                "report_all": In(1),
                "gains": Out(stream.Signature(candidate_layout(g))),
                "summary": Out(stream.Signature(summary_layout(g))),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        candidate = candidate_layout(g)
        none = Const({"cell": NONE, "valid": 0, "value": 0, "gain": 0}, candidate)
        part, cell = self.i.p.part, self.i.p

        # All stages move together. Whether they do is told by a register, for so many wait for the word: they stand
        # still for a clock after whatever leaves, while its skid buffer finds out whether there is room for another.
        go, complete = Signal(init=1), Signal()  # a summary is complete
        m.submodules.gains_skid = gains = SkidBuffer(candidate)
        m.submodules.summary_skid = summary = SkidBuffer(summary_layout(g))
        connect(m, gains.o, flipped(self.gains))
        connect(m, summary.o, flipped(self.summary))
        m.d.sync += go.eq(gains.i.ready & summary.i.ready & ~gains.i.valid & ~summary.i.valid)

        # The attribute whose cells are coming in.
        open_, flush = Signal(), Signal()
        group = Signal(candidate)
        group_current = Signal()
        joins, wins = Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq(go & ~flush),
            joins.eq(open_ & part.joins),
            wins.eq((group.gain - part.gain)[-1]),  # the difference's sign
        ]

        found = Signal(candidate)
        found_valid, found_last, found_current = Signal(), Signal(), Signal()
        # Counts follow one clock after the decision that moves them: a wide fan-out.
        take_left = Signal()
        left_in = Signal(data.ArrayLayout(g.count_width, g.classes), reset_less=True)
        group_left, found_left = Signal.like(left_in), Signal.like(left_in)
        with m.If(go):
            m.d.sync += [found_valid.eq(0), found_last.eq(0), take_left.eq(0)]
            with m.If(flush):
                m.d.sync += [
                    found.eq(group),
                    found_current.eq(group_current),
                    found_valid.eq(1),
                    found_last.eq(1),
                    flush.eq(0),
                    open_.eq(0),
                ]
            with m.Elif(self.i.valid):
                m.d.sync += [
                    found.eq(Mux(joins, none.as_value(), group.as_value())),
                    found_current.eq(group_current),
                    found_valid.eq(open_),
                    open_.eq(1),
                    flush.eq(cell.last),
                    left_in.eq(part.left),
                ]
                with m.If(~joins):
                    m.d.sync += [
                        group.cell.eq(Mux(part.valid, cell.cell, NONE)),
                        group.valid.eq(part.valid),
                        group.value.eq(Mux(part.valid, part.value, 0)),
                        group.gain.eq(Mux(part.valid, part.gain, 0)),
                        group_current.eq(cell.current),
                        take_left.eq(1),
                    ]
                with m.Elif(group.valid):
                    with m.If(part.additive):
                        m.d.sync += group.gain.eq(group.gain + part.gain)
                    with m.Elif(wins):
                        m.d.sync += [group.value.eq(part.value), group.gain.eq(part.gain), take_left.eq(1)]
            with m.If(take_left):
                m.d.sync += group_left.eq(left_in)
            m.d.sync += found_left.eq(group_left)

        m.d.comb += [gains.i.valid.eq(go & found_valid & self.report_all), gains.i.p.eq(found)]

        # The best two; `fresh`: those of the last attempt are out.
        top = Signal(summary_layout(g))
        fresh = Signal(init=1)
        above, best_moves, finished = Signal(), Signal(), Signal()
        best_left = Signal.like(left_in)
        # Second is decided a clock later, of those that are not best or are not any more.
        loser, loser_valid = Signal(candidate, reset_less=True), Signal()
        was_first, above_second = Signal(), Signal()
        m.d.comb += [
            above.eq(found.valid & (fresh | ~top.best.valid | (top.best.gain - found.gain)[-1])),
            above_second.eq(loser.valid & (~top.second.valid | (top.second.gain - loser.gain)[-1])),
        ]
        with m.If(go):
            m.d.sync += [finished.eq(0), best_moves.eq(0), complete.eq(finished), loser_valid.eq(0)]
            with m.If(found_valid & ~self.report_all):
                m.d.sync += [
                    fresh.eq(found_last),
                    finished.eq(found_last),
                    best_moves.eq(above),
                    loser_valid.eq(1),
                    was_first.eq(fresh),
                    loser.eq(Mux(above, top.best.as_value(), found.as_value())),
                ]
                with m.If(above | fresh):
                    m.d.sync += top.best.eq(found)
                with m.If(found.valid & found_current):
                    m.d.sync += top.current.eq(found)
                with m.Elif(fresh):
                    m.d.sync += top.current.eq(none)
            with m.If(best_moves):
                m.d.sync += best_left.eq(found_left)
            with m.If(loser_valid):
                with m.If(was_first):
                    m.d.sync += top.second.eq(none)
                with m.Elif(best_moves | above_second):
                    m.d.sync += top.second.eq(loser)
        m.d.comb += [
            *drive(summary.i, valid=go & complete, p=top),
            summary.i.p.left.eq(Mux(top.best.valid, best_left.as_value(), 0)),
            self.busy.eq(open_ | flush | found_valid | finished | complete | self.gains.valid | self.summary.valid),
        ]
        return m
