"""One lane: counters, zoom and configuration of every P-th cell, and their gain unit."""

from amaranth import Array, Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH, MISSING, Geometry
from bregalad.protocol.registers import CellKind

from ..delay import delay
from ..gain.gain import GainUnit, result_layout
from ..gain.scan import SNAPSHOTS, check_snapshots, scan_layout
from ..optional import optional
from .bayes import BayesTerms, terms_latency, terms_layout
from .control import STAGES, control_layout
from .counters import FEW_ROWS, Counters
from .operation import cell_layout
from .snaps import pass_bits, snaps_of

__all__ = ["AttributeProcessor", "FEW_ROWS"]


class AttributeProcessor(wiring.Component):
    """Count, clear, halve, read and write the words of one lane, one operation per clock.

    Stages (registers): 0 operation; 1, 2 zoom and configuration read; 3 distance of the code
    from the bins' origin; 4 bin; 5, 6 word read; 7 newest word; 8 changed word, written to memory.
    A word that an operation up to 4 clocks ahead is about to write is forwarded, and so is a zoom
    up to 2 clocks ahead: operations follow each other in any order without a gap. Where the
    counters lie in two banks, a SNAP reads one beside an operation that reads the other, in stages
    4 to 6. Zooms, counters and their update are there for each level, see `Counters`; the code, the
    configuration, a nominal value's bin and the gain unit are common to them.

    Parameters
    ----------
    geometry : Geometry
    lane : int
        Index of this lane.
    snapshots, reader
        Of the gain unit.

    Members
    -------
    control : In(control_layout(geometry))
        From `Control`.
    code : In(8)
        This lane's code, beside the operation COUNT.
    config_write : In(1)
        Store ``config`` for the cell of pass ``config_pass``.
    config_pass : In
    config : In(cell_layout())
    scan : In(scan_layout(geometry, snapshots))
        From `Scan`, to the gain unit.
    pairs, whole : Out(1)
        Of the gain unit.
    word : Out(ArrayLayout(count_width, classes))
        The word of the operation in stage 8, after the operation; in the level of its `slot`.
    read : Out(1)
        It was a READ of this lane.
    count : Out(count_width)
        The count that it asks for; anything otherwise.
    clamped : Out(levels)
        It was a COUNT whose counter in that level could not move.
    load : In(1)
        `chain_o` becomes the gain unit's result.
    shift : In(1)
        `chain_o` becomes `chain_i`.
    chain_i, chain_o : In, Out(result_layout(geometry))
    terms : Out(terms_layout(geometry))
        Naive Bayes terms of a COUNT, from its word before it, in the level of its `slot`; 0 without
        ``naive_bayes``. A COUNT of a side follows that of the code's own bin, and nothing that
        counts comes between.

    Latency: ``read_latency`` clocks from an operation to `word`, ``count_latency`` to the
    memory, ``terms_latency`` to `terms`. The counters' memory and the zooms' are read with 2
    clocks. Counters start as 0, zooms as the root's, cells as IGNORED.

    Raises
    ------
    TypeError
        If ``geometry`` is not a Geometry, ``lane`` or ``snapshots`` not an integer.
    ValueError
        If there is no such lane, or ``snapshots`` is no power of two or out of range.

    Source: design, sections 3 and 4; the golden model's Slots._count_cell, Slots._bin.
    """

    read_latency = STAGES
    count_latency = STAGES + 1

    def __init__(self, geometry, lane, *, snapshots=SNAPSHOTS, reader=None):
        if not isinstance(geometry, Geometry):
            raise TypeError(f"geometry must be a Geometry, not {geometry!r}")
        if not isinstance(lane, int) or isinstance(lane, bool):
            raise TypeError(f"lane must be an integer, not {lane!r}")
        if not 0 <= lane < geometry.lanes:
            raise ValueError(f"lane must be 0 to {geometry.lanes - 1}, not {lane}")
        check_snapshots(snapshots)
        self.geometry = g = geometry
        self.lane = lane
        self.snapshots = snapshots
        self._reader = reader
        self.terms_latency = terms_latency(g)
        super().__init__(
            {
                "control": In(control_layout(g)),
                "code": In(CODE_WIDTH),
                "config_write": In(1),
                "config_pass": In(max(1, pass_bits(g))),
                "config": In(cell_layout()),
                "scan": In(scan_layout(g, snapshots)),
                "pairs": Out(1),
                "whole": Out(1),
                "word": Out(data.ArrayLayout(g.count_width, g.classes)),
                "read": Out(1),
                "count": Out(g.count_width),
                "clamped": Out(g.levels),
                "load": In(1),
                "shift": In(1),
                "chain_i": In(result_layout(g)),
                "chain_o": Out(result_layout(g)),
                "terms": Out(terms_layout(g)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        control = self.control

        # Stages 0 to 2: zoom, configuration.
        levels = [Counters(m, g, control, level) for level in range(g.levels)]
        config, snap_config = self._configuration(m)
        code = [Signal(CODE_WIDTH, name=f"code_{i}") for i in range(3)]
        for before, after in zip([self.code, *code], code, strict=False):
            m.d.sync += after.eq(before)
        zooms = [level.zoom for level in levels]
        placed = Signal.like(zooms[0], name="placed")
        placed_before = Signal.like(zooms[0], name="zoom_3")
        with m.If(control.override_2 & (control.place_lane_2 == self.lane)):
            m.d.comb += [placed.lo.eq(control.lo_2), placed.shift.eq(control.shift_2)]
        with m.Elif(control.root_2):
            m.d.comb += [placed.lo.eq(0), placed.shift.eq(g.root_shift)]
        with m.Else():
            m.d.comb += placed.eq(Array(zooms)[control.parent_2])
        m.d.sync += placed_before.eq(placed)
        for level in levels:
            level.place(placed, placed_before)

        # Stages 2 and 3: the code's distance from the origin, the value's bin.
        nominal, other, present, in_range = Signal(), Signal(), Signal(), Signal()
        value = Signal(g.bin_bits)
        last = g.bins - 1
        below = Signal(signed(CODE_WIDTH + 1))
        for level in levels:
            level.measure(code[2])
        m.d.comb += below.eq(code[2] - config.base)
        m.d.sync += [
            nominal.eq(config.kind != CellKind.NUMERIC),
            other.eq(config.other),
            present.eq((code[2] != MISSING) & (config.kind != CellKind.IGNORED)),
            value.eq(below),
            # Not negative, and below `last`, or at it where that is no bin for other values.
            in_range.eq((below[g.bin_bits :] == 0) & ~(config.other & below[: g.bin_bits].all())),
        ]
        for level in levels:
            level.reach()
        counted = Signal()
        with m.If(nominal):
            m.d.comb += [
                *(level.own_bin.eq(Mux(in_range, value, last)) for level in levels),
                counted.eq(in_range | other),
            ]
        with m.Else():
            m.d.comb += [*(level.own_bin.eq(level.far) for level in levels), counted.eq(1)]
        touches = (
            (control.count_3 & present & counted) | control.all_3 | (control.one_3 & (control.lane_3 == self.lane))
        )
        side = Signal(2)
        m.d.comb += side.eq(control.side_3 & (~nominal).replicate(2))
        for level in levels:
            level.choose(touches, side)

        # Stages 4 to 8: the words, and the one that is shown.
        words_6 = [level.update() for level in levels]
        m.d.sync += self.clamped.eq(Cat(level.clamped for level in levels))
        level_8 = Signal.like(control.level_7)
        m.d.sync += level_8.eq(control.level_7)
        m.d.comb += [
            self.word.eq(Array(level.after for level in levels)[level_8]),
            self.read.eq(control.read_8.as_value().any() & Cat(level.touch[8] for level in levels).any()),
        ]
        for k in range(g.classes):
            with m.If(control.read_8[k]):
                m.d.comb += self.count.eq(self.word[k])

        # What naive Bayes takes from the word: a value that no other cell has too.
        beside = control.side_3.any()
        own = delay(m, present & (in_range | ~nominal) & ~(beside & nominal), 4, "own")
        m.submodules.bayes = bayes = optional(g.naive_bayes, BayesTerms(g))
        m.d.comb += [
            bayes.word.eq(Array(level.before for level in levels)[control.level_7]),
            bayes.known.eq(own & ~Array(level.outside for level in levels)[control.level_7]),
            bayes.numeric.eq(delay(m, ~nominal, 4, "numeric")),
            bayes.first.eq(delay(m, control.first_3, 4, "first")),
            bayes.beside.eq(delay(m, beside, 4, "beside")),
            self.terms.eq(bayes.terms),
        ]

        snap, snapped = snaps_of(g).word(control, words_6, self.word)
        m.submodules.gain = gain = GainUnit(g, snapshots=self.snapshots, reader=self._reader)
        m.d.comb += [
            *(gain.config[name].eq(snap_config[name]) for name in ("kind", "first", "other")),
            gain.snap.eq(snap),
            gain.word.eq(snapped),
            gain.scan.eq(self.scan),
            self.pairs.eq(gain.pairs),
            self.whole.eq(gain.whole),
        ]
        with m.If(self.load):
            m.d.sync += self.chain_o.eq(gain.result)
        with m.Elif(self.shift):
            m.d.sync += self.chain_o.eq(self.chain_i)
        return m

    def _configuration(self, m):
        """The configuration of stage 2's cell, a clock later, and of the snapshot's."""
        initial = {"kind": CellKind.IGNORED, "first": 1}
        if self.geometry.passes == 1:
            # There is but one, and it does not change while anything is under way.
            only = Signal(cell_layout(), init=initial, reset_less=True)
            with m.If(self.config_write):
                m.d.sync += only.eq(self.config)
            return only, only
        m.submodules.configs = configs = Memory(
            shape=cell_layout(), depth=self.geometry.passes, init=[initial] * self.geometry.passes
        )
        write, read, snap_read = configs.write_port(), configs.read_port(), configs.read_port()
        config = Signal(cell_layout())
        m.d.comb += [
            write.en.eq(self.config_write),
            write.addr.eq(self.config_pass),
            write.data.eq(self.config),
            read.addr.eq(self.control.pass_0),
            snap_read.addr.eq(snaps_of(self.geometry).config_pass(self.control)),
        ]
        m.d.sync += config.eq(read.data)
        return config, snap_read.data
