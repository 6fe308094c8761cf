"""A lane's gain unit: one cell's counts in, the cell's best split out."""

from functools import cache
from pathlib import Path
from pkgutil import resolve_name

from amaranth import Cat, Module, Mux, Signal, signed
from amaranth.hdl import Fragment
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from bregalad.criteria import DECLARED
from bregalad.protocol.registers import CellKind

from ..members import drive
from .scan import SNAPSHOTS, scan_layout
from .term import TERM, Terms


def _terms_of(criterion):
    """The class of a criterion's arithmetic."""
    try:
        found = resolve_name(criterion.gain_unit)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"{Path(__file__).parent} lacks {criterion.name!r}: it is declared with "
            f"{criterion.gain_unit}, so add that there ({error})"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Terms)):
        raise ValueError(f"{criterion.gain_unit}, the arithmetic of {criterion.name!r}, must be a Terms")
    return found


# What a scan depends on of a cell's configuration.
KIND = data.StructLayout({"kind": 2, "first": 1, "other": 1})
_TERMS = {criterion.name: _terms_of(criterion) for criterion in DECLARED}


@cache
def arithmetic_latency(geometry):
    """Clocks from a count's term to its result: of the criterion's arithmetic."""
    arithmetic = _TERMS[geometry.criterion](geometry.count_width)
    Fragment.get(arithmetic, None)  # Amaranth warns of what is made and never elaborated
    return arithmetic.latency


def shared_table(geometry, readers):
    """The table that the arithmetic of so many lanes looks numbers up in, as a component; None: each has its own."""
    make = _TERMS[geometry.criterion].shared_table
    return make and make(readers)


def result_layout(geometry):
    """What a gain unit finds: a cell's largest gain, the split's bin and its left side's counts.

    Anything of an ignored cell, and `bin` and `left` of a multiway one, and of `left` the classes that are not in use.
    """
    g = geometry
    return data.StructLayout(
        {"gain": signed(g.gain_width), "bin": g.bin_bits, "left": data.ArrayLayout(g.count_width, g.classes)}
    )


class GainUnit(wiring.Component):
    """Buffer the words of snapshots, find the best of each one's splits, in order.

    While the words come in, classes are summed up, and a numeric cell's memory gets the running sums instead of the
    words: word j then is the left side of threshold j. Of the counts that `Scan` goes through it makes terms, left
    sides' and what is left of the total; the results of the criterion's arithmetic are added up.

    Parameters
    ----------
    geometry : Geometry
    snapshots : int
        That are held, as `Scan` has it.
    reader : optional
        Its arithmetic's place at a `shared_table`; otherwise it has one of its own.

    Members
    -------
    config : In(KIND)
        The snapshot's cell; beside each of its words. A lane of one pass has but one cell: there
        it is stable from a snapshot's first word until its `take`.
    snap : In(1)
        A word of a snapshot is there.
    word : In(ArrayLayout(count_width, classes))
    scan : In(scan_layout(geometry, snapshots))
        From `Scan`, which has `snap` in the same clock.
    pairs : Out(1)
        The cell has two sides to a split; from the clock after its word.
    whole : Out(1)
        The cell's last bin is a split; so, too.
    result : Out(result_layout(geometry))
        While `Scan` has it `done`.

    Latency: 2 clocks from a count chosen by ``scan`` to the criterion's arithmetic, `arithmetic_latency`
    through it, 1 to the gain, 1 to the best split; `Scan` counts on it. The words' memory is read with
    2 clocks. Throughput: a term per clock.

    Source: design, section 5; the golden model's gain_of; docs/hardware.md draws the stages.
    """

    def __init__(self, geometry, *, snapshots=SNAPSHOTS, reader=None):
        self.geometry = g = geometry
        self.snapshots = snapshots
        self._terms = {"reader": reader} if reader is not None else {}
        super().__init__(
            {
                "config": In(KIND),
                "snap": In(1),
                "word": In(data.ArrayLayout(g.count_width, g.classes)),
                "scan": In(scan_layout(g, snapshots)),
                "pairs": Out(1),
                "whole": Out(1),
                "result": Out(result_layout(g)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        scan = self.scan
        width = g.count_width

        # Load.
        m.submodules.words = words = Memory(shape=width * g.classes, depth=self.snapshots * 2 * g.bins, init=[])
        write, read = words.write_port(), words.read_port()
        # 0 without a word, so that what was added up stays.
        word = Signal(data.ArrayLayout(width, g.classes), reset_less=True)
        running, sums = Signal(word.shape(), reset_less=True), Signal(word.shape())
        with m.If(self.snap):
            m.d.sync += word.eq(self.word)
        with m.Else():
            m.d.sync += word.eq(0)
        m.d.sync += running.eq(sums)
        for k in range(g.classes):
            m.d.comb += sums[k].eq(word[k] + Mux(scan.first, 0, running[k]))
        arrived, scanned = self._kinds(m)
        m.d.comb += [
            *drive(write, en=scan.write, addr=scan.write_row),
            write.data.eq(Mux(arrived.numeric | scan.sums, sums.as_value(), word.as_value())),
            self.pairs.eq(arrived.pairs),
            self.whole.eq(arrived.whole),
        ]

        # Scan.
        multiway, joins, short = scanned.multiway, scanned.joins, scanned.short
        best = Signal(g.bin_bits, reset_less=True)
        side = Signal(word.shape(), reset_less=True)  # a block RAM can take it in
        total = Signal.like(word)
        m.d.comb += read.addr.eq(Cat(Mux(scan.fetch, best, scan.read_row[: g.bin_bits]), scan.read_row[g.bin_bits :]))
        m.d.sync += side.eq(read.data)
        with m.If(scan.take_total):
            m.d.sync += total.eq(side)

        # Pick the counts, form the term: what is left, or the total without it.
        picked, formed = (Signal(TERM, name=name, reset_less=True) for name in ("picked", "formed"))
        whole, left, x, whole_sum = (
            Signal(width, name=name, reset_less=True) for name in ("whole", "left", "x", "whole_sum")
        )
        left_sum = Signal(width, reset_less=True)
        of_pair = Signal()
        m.d.comb += of_pair.eq(scan.right & ~multiway)
        m.d.sync += [
            left.eq(Mux(scan.at_sum, left_sum, side[scan.index])),
            whole.eq(Mux(of_pair, Mux(scan.at_sum, whole_sum, total[scan.index]), 0)),
            *drive(picked, sum=scan.at_sum, right=of_pair, opens=(scan.index == 0) & ~scan.at_sum),
            picked.valid.eq(Mux(multiway, scan.alone, scan.pair)),
            formed.eq(picked),
            # One carry chain for both sides, as below: `whole` is 0 for the left one.
            x.eq((Cat(picked.right, whole) + Cat(picked.right, left ^ picked.right.replicate(width)))[1:]),
        ]
        with m.If(picked.valid & ~picked.sum & ~picked.right):
            m.d.sync += left_sum.eq(left + Mux(picked.opens, 0, left_sum))
        with m.If(scan.keep_sum):
            m.d.sync += whole_sum.eq(left_sum)

        m.submodules.f = f = _TERMS[g.criterion](width, **self._terms)
        m.d.comb += [f.i_x.eq(x), f.i_term.eq(formed)]

        # Add up the terms, keep the best split.
        gain, impurity = (Signal(signed(g.gain_width), name=name, reset_less=True) for name in ("gain", "impurity"))
        start = Signal(signed(g.gain_width))
        addend = Signal(g.gain_width)
        # Registers, for what is chosen by them is wide.
        valid, minus, zero, base, latch, ends, compare = (
            Signal(name=name, reset_less=True)
            for name in ("valid", "minus", "zero", "base", "latch", "ends", "compare")
        )
        beyond = scan.y_last & short
        of_split = scan.y_opens & ~scan.y_total & ~multiway
        m.d.sync += [
            valid.eq(Mux(multiway, scan.y_alone, scan.y_pair) & ~beyond),
            minus.eq(scan.y_minus),
            zero.eq(scan.y_opens & (scan.y_total | (joins & scan.y_first))),
            # What was added up before the first split is the total's impurity.
            latch.eq(of_split & scan.y_first),
            base.eq(of_split & ~scan.y_first),
            ends.eq(scan.y_ends & ~beyond & (~multiway | Mux(short, scan.y_before_last, scan.y_last))),
            compare.eq(ends),
        ]
        m.d.comb += [
            start.eq(Mux(zero, 0, Mux(base, impurity, gain))),
            addend.eq(f.o_y ^ minus.replicate(g.gain_width)),
        ]
        with m.If(valid):
            # One carry chain for both signs: the carry in is the sum of the two lowest bits.
            m.d.sync += gain.eq((Cat(minus, start) + Cat(minus, addend))[1:])
        with m.If(valid & latch):
            m.d.sync += impurity.eq(gain)

        best_gain = Signal(signed(g.gain_width), reset_less=True)
        lead = best_gain - gain
        fresh = multiway | (scan.compared == 0)
        with m.If(compare & (fresh | lead[-1])):
            m.d.sync += [best_gain.eq(gain), best.eq(scan.compared)]

        m.d.comb += [self.result.gain.eq(best_gain), self.result.bin.eq(best), self.result.left.eq(side)]
        return m

    def _kinds(self, m):
        """Of the cell whose word came a clock ago, and of the scanned one: what its kind means here.

        Worked out before the registers, for they steer what is wide.
        """
        g, config = self.geometry, self.config
        numeric, multiway = config.kind == CellKind.NUMERIC, config.kind == CellKind.MULTIWAY
        scanned_kind = data.StructLayout(
            {
                "multiway": 1,
                "joins": 1,  # another cell has the total's impurity
                "short": 1,  # by the last bin
            }
        )
        arrived = Signal(
            data.StructLayout({"numeric": 1, "pairs": 1, "whole": 1, "scanned": scanned_kind}), reset_less=True
        )
        m.d.sync += [
            arrived.numeric.eq(numeric),
            arrived.pairs.eq(numeric | (config.kind == CellKind.ONE_VS_REST)),
            arrived.whole.eq((config.kind != CellKind.IGNORED) & ~numeric & ~config.other),
            *drive(arrived.scanned, multiway=multiway, joins=multiway & ~config.first, short=numeric | config.other),
        ]
        if g.passes == 1:
            return arrived, arrived.scanned
        m.submodules.configs = configs = Memory(shape=scanned_kind, depth=self.snapshots, init=[])
        write, read = configs.write_port(), configs.read_port()
        m.d.comb += [
            *drive(write, en=self.scan.write & ~self.scan.sums, addr=self.scan.write_row[g.bin_bits + 1 :]),
            write.data.eq(arrived.scanned),
            read.addr.eq(self.scan.read_row[g.bin_bits + 1 :]),
        ]
        return arrived, read.data
