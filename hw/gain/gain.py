"""A lane's gain unit: one cell's counts in, the cell's best split out."""

from amaranth import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ...geometry import Geometry
from ...protocol.registers import CellKind
from .classification_error import ClassificationError
from .gini import Gini
from .kearns_mansour import KearnsMansour
from .term import term_layout
from .xlog2x import XLog2X

__all__ = ["GainUnit", "SNAPSHOTS", "check_snapshots", "kind_layout", "result_layout"]

SNAPSHOTS = 4  # held by a gain unit unless it is told otherwise
_MOST = 16
_TERMS = {"information_gain": XLog2X, "gini": Gini, "kearns_mansour": KearnsMansour,
          "classification_error": ClassificationError}


def check_snapshots(snapshots):
    """Raise TypeError or ValueError unless so many snapshots can be held."""
    if not isinstance(snapshots, int) or isinstance(snapshots, bool):
        raise TypeError(f"snapshots must be an integer, not {snapshots!r}")
    if not 1 <= snapshots <= _MOST or snapshots & (snapshots - 1):
        raise ValueError(f"snapshots must be a power of two, 1 to {_MOST}, not {snapshots}")


def kind_layout():
    """What a scan depends on of a cell's configuration."""
    return data.StructLayout({"kind": 2, "first": 1, "other": 1})


def result_layout(geometry):
    """What a gain unit finds: a cell's largest gain, the split's bin and its left side's counts.

    Anything of an ignored cell, and `bin` and `left` of a multiway one, and of `left` the classes
    that are not in use.
    """
    g = geometry
    return data.StructLayout({
        "gain": signed(g.gain_width),
        "bin": g.bin_bits,
        "left": data.ArrayLayout(g.count_width, g.classes),
    })


class GainUnit(wiring.Component):
    """Buffer the words of snapshots, find the best of each one's splits, in order.

    While the words come in, classes are summed up, and a numeric cell's memory gets the running
    sums instead of the words: word j then is the left side of threshold j. The scan sends the
    total's counts, then l_0, r_0, l_1, r_1, ..., l, r of each split (multiway: l_0, l_1, ..., l)
    through the criterion's arithmetic, and adds up the results. Snapshots come in while an earlier
    one is scanned.

    Parameters
    ----------
    geometry : Geometry
    snapshots : int
        Snapshots that are held, the scanned one among them; a power of two, 1 to 16.

    Members
    -------
    config : In(kind_layout())
        The snapshot's cell; beside each of its words. A lane of one pass has but one cell: there
        it is stable from a snapshot's first word until its `take`.
    classes_in_use : In(8)
        1 to ``geometry.classes``; stable from a snapshot's first word until its `take`.
    snap : In(1)
        A word of a snapshot is there; bins 0 to B - 1 in order. Bin 0 comes only if fewer than
        ``snapshots`` have begun and are not taken, and not right behind a last word.
    bin : In(bin_bits)
    word : In(ArrayLayout(count_width, classes))
    done : Out(1)
        `result` of the oldest snapshot is there, until `take`.
    take : In(1)
        On to the next snapshot; only while `done`.
    result : Out(result_layout(geometry))

    Attributes
    ----------
    arithmetic : Terms
        Of the criterion.

    Latency: from ``load_clocks`` after a snapshot's last `snap` or from the `take` before it, the
    later of the two, to `done`, with n classes in use, ``scan_clocks(kind, ...)``; from the last
    `snap` at most ``B * (2 * n + 2) + 60``.
    The words' memory is read with 2 clocks.

    Raises
    ------
    TypeError
        If ``geometry`` is not a Geometry or ``snapshots`` not an integer.
    ValueError
        If ``snapshots`` is no power of two or out of range.

    Source: design, section 5; Golden._gain.
    """

    load_clocks = 2  # until a word is in the memory, and the total behind it

    def __init__(self, geometry, *, snapshots=SNAPSHOTS):
        if not isinstance(geometry, Geometry):
            raise TypeError(f"geometry must be a Geometry, not {geometry!r}")
        check_snapshots(snapshots)
        self.geometry = g = geometry
        self.snapshots = snapshots
        self.arithmetic = _TERMS[g.criterion](g.count_width, tag_width=6)
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
        """Clocks from when the snapshot is there, or the `take` before, to the first `done`."""
        g, n = self.geometry, classes_in_use
        if kind == CellKind.IGNORED:
            return 4
        own = g.bins - (kind == CellKind.NUMERIC or bool(other))
        if kind == CellKind.MULTIWAY:
            terms = (n + 2) * (own + bool(first))
        else:
            terms = (n + 2) + own * (2 * n + 2)
        return terms + self.arithmetic.latency + 9

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        width = g.count_width
        last_bin = g.bins - 1

        # Load. The pointers have a bit more than a place: equal ones mean that there is nothing.
        place_bits = (self.snapshots - 1).bit_length()
        head, tail = Signal(place_bits + 1), Signal(place_bits + 1)
        # Behind a place's words lies their total.
        m.submodules.words = words = Memory(
            shape=width * g.classes, depth=self.snapshots * 2 * g.bins, init=[])
        write, read = words.write_port(), words.read_port()
        arrived, first, complete, running_sums = Signal(), Signal(), Signal(), Signal()
        row = Signal(g.bin_bits, reset_less=True)
        # 0 without a word, so that what was added up stays.
        word = Signal(data.ArrayLayout(width, g.classes), reset_less=True)
        running, sums = Signal(word.shape(), reset_less=True), Signal(word.shape())
        with m.If(self.snap):
            m.d.sync += word.eq(self.word)
        with m.Else():
            m.d.sync += word.eq(0)
        m.d.sync += [
            arrived.eq(self.snap), first.eq(self.snap & (self.bin == 0)), row.eq(self.bin),
            running_sums.eq((self.config.kind == CellKind.NUMERIC) | ~self.snap),
            complete.eq(arrived & (row == last_bin)),
            running.eq(sums),
        ]
        for k in range(g.classes):
            m.d.comb += sums[k].eq(word[k] + Mux(first, 0, running[k]))
        with m.If(complete):
            m.d.sync += head.eq(head + 1)
        m.d.comb += [
            write.en.eq(arrived | complete),
            write.addr.eq(Cat(Mux(complete, 0, row), complete, head[:place_bits])),
            write.data.eq(Mux(running_sums, sums.as_value(), word.as_value())),
        ]
        with m.If(self.take):
            m.d.sync += tail.eq(tail + 1)

        # Scan: the snapshot.
        config = self.config
        if g.passes > 1:
            m.submodules.configs = configs = Memory(
                shape=kind_layout(), depth=self.snapshots, init=[])
            config_write, config_read = configs.write_port(), configs.read_port()
            arrived_config = Signal(kind_layout(), reset_less=True)
            m.d.sync += arrived_config.eq(self.config)
            m.d.comb += [
                config_write.en.eq(arrived),
                config_write.addr.eq(head[:place_bits]),
                config_write.data.eq(arrived_config),
                config_read.addr.eq(tail[:place_bits]),
            ]
            config = config_read.data
        numeric, multiway, ignored = Signal(), Signal(), Signal()
        m.d.comb += [
            numeric.eq(config.kind == CellKind.NUMERIC),
            multiway.eq(config.kind == CellKind.MULTIWAY),
            ignored.eq(config.kind == CellKind.IGNORED),
        ]

        # Scan: which term enters the pipeline.
        index = Signal(range(g.classes + 1))  # class; the class after the last stands for the sum
        right = Signal()  # the right side's half of a pair; alone: the clock of the sum
        split = Signal(g.bin_bits)
        last_split = Signal(g.bin_bits)
        at_total, alone, at_sum, value_end, opens = (Signal(), Signal(), Signal(), Signal(),
                                                     Signal())
        issue = Signal()
        best = Signal(g.bin_bits, reset_less=True)
        read_bin, read_total = Signal(g.bin_bits), Signal()
        side = Signal(word.shape(), reset_less=True)  # a block RAM can take it in
        total = Signal.like(word)
        m.d.comb += [
            last_split.eq(Mux(numeric | config.other, last_bin - 1, last_bin)),
            alone.eq(at_total | multiway),
            value_end.eq(at_sum & right),
            opens.eq((index == 0) & ~right),
            read_bin.eq(split),
            read.addr.eq(Cat(read_bin, read_total, tail[:place_bits])),
        ]
        m.d.sync += side.eq(read.data)
        # Worked out ahead: a split takes two clocks and more.
        next_split = Signal(g.bin_bits, reset_less=True)
        at_last = Signal(reset_less=True)
        m.d.sync += [next_split.eq(split + 1), at_last.eq(split == last_split)]
        finished = Signal()
        with m.FSM():
            with m.State("WAIT"):
                # The memories are read at the new place meanwhile.
                m.d.comb += read_total.eq(1)
                with m.If(head != tail):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += read_total.eq(~multiway | config.first)
                m.next = "START"
            with m.State("START"):
                m.d.comb += read_total.eq(~multiway | config.first)
                m.d.sync += total.eq(side)
                with m.If(ignored):
                    m.next = "DONE"
                with m.Elif(multiway & ~config.first):
                    m.next = "SPLITS"
                with m.Else():
                    m.next = "TOTAL"
            with m.State("TOTAL"):
                m.d.comb += [at_total.eq(1), issue.eq(1), read_total.eq(~at_sum)]
                with m.If(value_end):
                    m.next = "SPLITS"
            with m.State("SPLITS"):
                m.d.comb += issue.eq(1)
                with m.If(at_sum):
                    # The next word is to be there in two clocks.
                    m.d.comb += read_bin.eq(next_split)
                with m.If(value_end):
                    m.d.sync += split.eq(next_split)
                    with m.If(at_last):
                        m.d.sync += split.eq(0)
                        m.next = "DRAIN"
            with m.State("DRAIN"):
                with m.If(finished):
                    m.next = "FETCH"
            with m.State("FETCH"):
                m.d.comb += read_bin.eq(best)
                m.next = "FETCHED"
            with m.State("FETCHED"):
                m.d.comb += read_bin.eq(best)
                m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += [self.done.eq(1), read_bin.eq(best)]
                with m.If(self.take):
                    m.next = "WAIT"
        classes = Signal.like(index, reset_less=True)
        m.d.sync += classes.eq(self.classes_in_use)
        with m.If(issue):
            with m.If(at_sum):
                m.d.sync += right.eq(~right)
                with m.If(right):
                    m.d.sync += [index.eq(0), at_sum.eq(0)]
            with m.Else():
                m.d.sync += right.eq(~right & ~alone)
                with m.If(right | alone):
                    m.d.sync += [index.eq(index + 1), at_sum.eq(index + 1 == classes)]

        # Pick the counts, form the term: what is left, or the total without it.
        stage = data.StructLayout({"term": term_layout(), "tag": self.arithmetic.i_tag.shape()})
        tag_layout = data.StructLayout({
            "valid": 1, "minus": 1,
            "zero": 1,  # start at 0
            "base": 1,  # start at the total's impurity
            "latch": 1,  # what was added up so far is the total's impurity
            "judge": 1,  # a split's last term
        })
        tag = Signal(tag_layout)
        picked, formed = (Signal(stage, name=name, reset_less=True)
                          for name in ("picked", "formed"))
        whole, left, x, whole_sum = (Signal(width, name=name, reset_less=True)
                                     for name in ("whole", "left", "x", "whole_sum"))
        left_sum = Signal(width, reset_less=True)
        valid, of_pair = Signal(), Signal()
        m.d.comb += [
            valid.eq(issue & ~(alone & at_sum & ~right)),
            of_pair.eq(right & ~alone),
            tag.valid.eq(valid),
            tag.minus.eq(at_total ^ at_sum),
            tag.zero.eq(opens & (at_total | (multiway & ~config.first & (split == 0)))),
            tag.base.eq(opens & ~at_total & ~multiway & (split != 0)),
            tag.latch.eq(opens & ~at_total & ~multiway & (split == 0)),
            tag.judge.eq(value_end & ~at_total & (~multiway | at_last)),
        ]
        m.d.sync += [
            left.eq(Mux(at_sum, left_sum, side[index])),
            picked.term.valid.eq(valid), picked.term.sum.eq(at_sum),
            picked.term.right.eq(of_pair), picked.term.opens.eq(index == 0),
            picked.tag.eq(tag),
            formed.eq(picked),
            # One carry chain for both sides, as below: `whole` is 0 for the left one.
            x.eq((Cat(picked.term.right, whole)
                  + Cat(picked.term.right, left ^ picked.term.right.replicate(width)))[1:]),
            whole.eq(Mux(of_pair, Mux(at_sum, whole_sum, total[index]), 0)),
        ]
        with m.If(picked.term.valid & ~picked.term.sum & ~picked.term.right):
            m.d.sync += left_sum.eq(left + Mux(picked.term.opens, 0, left_sum))
        with m.If(at_total & value_end):
            m.d.sync += whole_sum.eq(left_sum)

        m.submodules.f = f = self.arithmetic
        m.d.comb += [f.i_x.eq(x), f.i_term.eq(formed.term), f.i_tag.eq(formed.tag)]

        # Add up the terms, keep the best split.
        y = Signal(tag_layout)
        gain, impurity = (Signal(signed(g.gain_width), name=name, reset_less=True)
                          for name in ("gain", "impurity"))
        start = Signal(signed(g.gain_width))
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
        best_gain = Signal(signed(g.gain_width), reset_less=True)
        lead = best_gain - gain
        m.d.sync += judge.eq(y.valid & y.judge)
        m.d.comb += finished.eq(judge & ((judged == last_split) | multiway))
        with m.If(judge):
            m.d.sync += [judged.eq(judged + 1), judged_any.eq(1)]
            with m.If(~judged_any | lead[-1]):
                m.d.sync += [best_gain.eq(gain), best.eq(judged)]
        with m.If(self.take):
            m.d.sync += [judged.eq(0), judged_any.eq(0)]

        m.d.comb += [
            self.result.gain.eq(best_gain), self.result.bin.eq(best), self.result.left.eq(side),
        ]
        return m
