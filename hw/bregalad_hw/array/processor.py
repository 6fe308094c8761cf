"""One lane: counters, bin window and configuration of every P-th cell, and their gain unit."""

from amaranth import Array, Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH, MISSING
from bregalad.protocol.registers import CellKind

from ..delay import delay, stages
from ..gain.gain import GainUnit, result_layout
from ..gain.scan import SNAPSHOTS, scan_layout
from ..members import drive, optional
from .bayes import BayesTerms, terms_latency, terms_layout
from .control import STAGES, control_layout
from .operation import CELL, pass_bits

_FEW_ROWS = 128  # of bin windows, which are distributed RAM then


class AttributeProcessor(wiring.Component):
    """Count, clear, halve, read and write the words of one lane, one operation per clock.

    Stages (registers): 0 operation; 1, 2 bin window and configuration read; 3 distance of the code
    from the bins' origin; 4 bin; 5, 6 word read; 7 newest word; 8 changed word, written to memory.
    A word that an operation up to 4 clocks ahead is about to write is forwarded, and so is a bin window
    up to 2 clocks ahead: operations follow each other in any order without a gap.

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
    value : In(count_width)
        This lane's count or bin window, beside a WRITE or PLACE of each lane.
    config_write : In(1)
        Store ``config`` for the cell of pass ``config_pass``.
    config_pass : In
    config : In(CELL)
    scan : In(scan_layout(geometry, snapshots))
        From `Scan`, to the gain unit.
    pairs, whole : Out(1)
        Of the gain unit.
    word : Out(ArrayLayout(count_width, classes))
        The word of the operation in stage 8, after the operation.
    read : Out(1)
        It was a READ of this lane.
    count : Out(count_width)
        The count that it asks for; anything otherwise.
    clamped : Out(1)
        It was a COUNT whose counter could not move.
    load : In(1)
        `chain_o` becomes the gain unit's result.
    shift : In(1)
        `chain_o` becomes `chain_i`.
    chain_i, chain_o : In, Out(result_layout(geometry))
    terms : Out(terms_layout(geometry))
        Naive Bayes terms of a COUNT, from its word before it; 0 without ``naive_bayes``. A COUNT of a
        side follows that of the code's own bin, and nothing that counts comes between.

    Latency: ``read_latency`` clocks from an operation to `word`, ``count_latency`` to the
    memory, ``terms_latency`` to `terms`. The counters' memory and the bin windows' are read with 2
    clocks. Counters start as 0, bin windows as the root's, cells as IGNORED.

    Source: design, sections 3 and 4; the golden model's Slots._count_cell, Slots._bin.
    """

    read_latency = STAGES
    count_latency = STAGES + 1

    def __init__(self, geometry, lane, *, snapshots=SNAPSHOTS, reader=None):
        self.geometry = g = geometry
        self.lane = lane
        self.snapshots = snapshots
        self._reader = reader
        self.terms_latency = terms_latency(g)
        super().__init__(
            {
                "control": In(control_layout(g)),
                "code": In(CODE_WIDTH),
                "value": In(g.count_width),
                **dict.fromkeys(("config_write", "load", "shift"), In(1)),
                "config_pass": In(max(1, pass_bits(g))),
                "config": In(CELL),
                "scan": In(scan_layout(g, snapshots)),
                **dict.fromkeys(("pairs", "whole", "read", "clamped"), Out(1)),
                "word": Out(data.ArrayLayout(g.count_width, g.classes)),
                "count": Out(g.count_width),
                "chain_i": In(result_layout(g)),
                "chain_o": Out(result_layout(g)),
                "terms": Out(terms_layout(g)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        control = self.control

        # Stages 0 to 2: bin window, configuration.
        value_2 = delay(m, self.value, 3, "value_2")
        bin_window, bin_window_3 = self._bin_window(m, value_2)
        config, snap_config = self._configuration(m)
        code = stages(m, self.code, 3, "code")

        # Stages 2 and 3: the code's distance from the bins' origin, in bins then; the value's bin.
        offset, distance, by = Signal(signed(CODE_WIDTH + 1)), Signal(CODE_WIDTH), Signal(3)
        nominal, other, present, in_range = Signal(), Signal(), Signal(), Signal()
        value = Signal(g.bin_bits)
        last = g.bins - 1
        below = Signal(signed(CODE_WIDTH + 1))
        m.d.comb += [offset.eq(code[2] - bin_window.lo), below.eq(code[2] - config.base)]
        m.d.sync += [
            distance.eq(Mux(offset < 0, 0, offset)),
            by.eq(bin_window.shift),
            nominal.eq(config.kind != CellKind.NUMERIC),
            other.eq(config.other),
            present.eq((code[2] != MISSING) & (config.kind != CellKind.IGNORED)),
            value.eq(below),
            # Not negative, and below `last`, or at it where that is no bin for other values.
            in_range.eq((below[g.bin_bits :] == 0) & ~(config.other & below[: g.bin_bits].all())),
        ]
        far, beyond = Signal(CODE_WIDTH), Signal()
        own_bin, counted = Signal(g.bin_bits), Signal()
        # Whether it is beyond the bins is seen beside the shift, not after it.
        m.d.comb += [
            far.eq(distance >> by),
            beyond.eq(
                Cat((by == bits) & distance[g.bin_bits + bits :].any() for bits in range(CODE_WIDTH - g.bin_bits)).any()
            ),
        ]
        with m.If(nominal):
            m.d.comb += [own_bin.eq(Mux(in_range, value, last)), counted.eq(in_range | other)]
        with m.Else():
            m.d.comb += [own_bin.eq(far | beyond.replicate(CODE_WIDTH)), counted.eq(1)]

        # Stages 3 to 9: the bin, and whether the operation touches its word.
        bins = {i: Signal(g.bin_bits, name=f"bin_{i}") for i in range(4, 10)}
        touch = {i: Signal(name=f"touch_{i}") for i in range(4, 10)}
        side = Signal(2)
        m.d.comb += side.eq(control.side_3 & (~nominal).replicate(2))
        lower, upper = side
        meant = own_bin + Cat(lower | upper, lower.replicate(g.bin_bits - 1))
        outside = delay(m, (lower & ~own_bin.any()) | (upper & own_bin.all()), 4, "outside")
        touches = (
            (control.count_3 & present & counted) | control.all_3 | (control.one_3 & (control.lane_3 == self.lane))
        )
        m.d.sync += [bins[4].eq(Mux(control.count_3, meant, control.bin_3)), touch[4].eq(touches)]
        for i in range(5, 10):
            m.d.sync += [bins[i].eq(bins[i - 1]), touch[i].eq(touch[i - 1])]

        # Stages 4 to 8: the word, and what it becomes.
        now = self._update(m, bins, touch, delay(m, value_2, 5, "value_7"))
        reads_window = control.bin_window_3 & (control.each_3 | (control.lane_3 == self.lane))
        m.d.comb += self.read.eq((control.read_8.as_value().any() & touch[8]) | reads_window)
        with m.If(reads_window):
            m.d.comb += self.count.eq(bin_window_3.as_value())
        for k in range(g.classes):
            with m.If(control.read_8[k]):
                m.d.comb += self.count.eq(self.word[k])

        # What naive Bayes takes from the word: a value that no other cell has too.
        beside = control.side_3.any()
        own = delay(m, present & (in_range | ~nominal) & ~(beside & nominal), 4, "own")
        m.submodules.bayes = bayes = optional(g.naive_bayes, BayesTerms(g))
        m.d.comb += [
            *drive(bayes, word=now, known=own & ~outside, numeric=delay(m, ~nominal, 4, "numeric")),
            *drive(bayes, first=delay(m, control.first_3, 4, "first"), beside=delay(m, beside, 4, "beside")),
            self.terms.eq(bayes.terms),
        ]

        m.submodules.gain = gain = GainUnit(g, snapshots=self.snapshots, reader=self._reader)
        m.d.comb += [
            *(gain.config[name].eq(snap_config[name]) for name in ("kind", "first", "other")),
            *drive(gain, snap=control.snap_8, word=self.word, scan=self.scan),
            self.pairs.eq(gain.pairs),
            self.whole.eq(gain.whole),
        ]
        with m.If(self.load):
            m.d.sync += self.chain_o.eq(gain.result)
        with m.Elif(self.shift):
            m.d.sync += self.chain_o.eq(self.chain_i)
        return m

    def _bin_window(self, m, value):
        """Stages 0 to 2: the bin window of the operation's row, or of the row that a PLACE reads, which is written.

        In stage 2, and in stage 3.
        """
        g, control = self.geometry, self.control
        layout = data.StructLayout({"lo": CODE_WIDTH, "shift": 3})
        rows = g.slots << pass_bits(g)
        # Few bin windows are not worth a block RAM: the counters need those.
        m.submodules.bin_windows = bin_windows = Memory(
            shape=layout,
            depth=rows,
            init=[{"lo": 0, "shift": g.root_shift}] * rows,
            attrs={"ram_style": "distributed"} if rows <= _FEW_ROWS else {},
        )
        read, write = bin_windows.read_port(), bin_windows.write_port()
        bin_window, placed, placed_before = (
            Signal(layout, name=name) for name in ("bin_window_2", "placed", "bin_window_3")
        )
        with m.If(control.override_2 & control.each_2):
            m.d.comb += placed.eq(value)
        with m.Elif(control.override_2 & (control.place_lane_2 == self.lane)):
            m.d.comb += [placed.lo.eq(control.lo_2), placed.shift.eq(control.shift_2)]
        with m.Elif(control.root_2):
            m.d.comb += [placed.lo.eq(0), placed.shift.eq(g.root_shift)]
        with m.Else():
            m.d.comb += placed.eq(bin_window)
        m.d.comb += [
            read.addr.eq(control.bin_window_row_0),
            *drive(write, en=control.place_2, addr=control.place_row_2, data=placed),
        ]
        m.d.sync += placed_before.eq(placed)
        with m.If(control.bin_window_hit_1[0]):
            m.d.sync += bin_window.eq(placed)
        with m.Elif(control.bin_window_hit_1[1]):
            m.d.sync += bin_window.eq(placed_before)
        with m.Else():
            m.d.sync += bin_window.eq(read.data)
        return bin_window, placed_before

    def _update(self, m, bins, touch, value):
        """Stages 4 to 8: read the word, change it, write it; the word before the operation, in stage 7."""
        g, control = self.geometry, self.control
        layout, width = data.ArrayLayout(g.count_width, g.classes), g.count_width
        m.submodules.counters = counters = Memory(shape=layout, depth=g.slots << pass_bits(g) + g.bin_bits, init=[])
        read, write = counters.read_port(), counters.write_port()
        word_6 = Signal(layout, reset_less=True)  # a block RAM's own
        newest = {i: Signal(layout, name=f"newest_{i}") for i in (7, 8, 9, 10)}
        changed = Signal()
        m.d.comb += [
            read.addr.eq(Cat(bins[4], control.row_4)),
            *drive(write, en=changed, addr=Cat(bins[8], control.row_8), data=newest[8]),
            self.word.eq(newest[8]),
        ]
        m.d.sync += word_6.eq(read.data)

        # What the operations ahead are about to write; the nearest has the newest word. Stage 7
        # knows that of the one right ahead; the others' are chosen by a number, told early.
        ahead, near, source = Signal(4), Signal(), Signal(2)
        m.d.comb += ahead.eq(Cat(control.same_5[i] & touch[6 + i] & (bins[5] == bins[6 + i]) for i in range(4)))
        m.d.sync += [near.eq(ahead[0]), source.eq(Mux(ahead[1], 1, Mux(ahead[2], 2, Mux(ahead[3], 3, 0))))]
        # A counter that is written is cleared first, and what is written is added.
        ahead_7 = Signal(g.classes)
        m.d.sync += newest[7].eq(Array([word_6, newest[8], newest[9], newest[10]])[source])
        for k, clear in enumerate(control.clear_6):
            m.d.sync += ahead_7[k].eq(near & ~clear)
            with m.If(clear):
                m.d.sync += newest[7][k].eq(0)

        now, stuck = Signal(layout), Signal(g.classes)
        step = Mux(control.each_7, value, control.step_7)
        for k in range(g.classes):
            m.d.comb += now[k].eq(Mux(ahead_7[k], newest[8][k], newest[7][k]))
            moved = Signal(width + 1, name=f"moved_{k}")
            added = step & control.adds_7[k].replicate(width + 1)
            m.d.comb += [moved.eq(now[k] + added), stuck[k].eq(moved[-1])]
            # Where a counter would leave its range, all bits are wrong: it is at 0 or full.
            m.d.sync += newest[8][k].eq(Mux(control.halve_7, now[k] >> 1, moved[:width] ^ stuck[k].replicate(width)))
        m.d.sync += [
            newest[9].eq(newest[8]),
            newest[10].eq(newest[9]),
            changed.eq(touch[7] & control.changes_7),
            self.clamped.eq(touch[7] & stuck.any()),
        ]
        return now

    def _configuration(self, m):
        """The configuration of stage 2's cell, a clock later, and of the snapshot's."""
        initial = {"kind": CellKind.IGNORED, "first": 1}
        if self.geometry.passes == 1:
            # There is but one, and it does not change while anything is under way.
            only = Signal(CELL, init=initial, reset_less=True)
            with m.If(self.config_write):
                m.d.sync += only.eq(self.config)
            return only, only
        m.submodules.configs = configs = Memory(
            shape=CELL, depth=self.geometry.passes, init=[initial] * self.geometry.passes
        )
        write, read, snap_read = configs.write_port(), configs.read_port(), configs.read_port()
        config = Signal(CELL)
        m.d.comb += [
            *drive(write, en=self.config_write, addr=self.config_pass, data=self.config),
            read.addr.eq(self.control.pass_0),
            snap_read.addr.eq(self.control.pass_7),
        ]
        m.d.sync += config.eq(read.data)
        return config, snap_read.data
