"""What a lane has for each level: the zooms and counters of its slots, and their update."""

from amaranth import Array, Cat, Mux, Signal, signed
from amaranth.lib import data
from amaranth.lib.memory import Memory
from bregalad.geometry import CODE_WIDTH

from ..delay import delay
from .snaps import bank_of, pass_bits, snaps_of, within_bank

__all__ = ["FEW_ROWS", "Counters"]

FEW_ROWS = 128  # of zooms, which are distributed RAM then


class Counters:
    """The logic of one level, added to a lane's module stage by stage, see `AttributeProcessor`.

    Parameters
    ----------
    m : Module
        The lane's.
    geometry : Geometry
    control : View of control_layout(geometry)
    level : int

    Attributes
    ----------
    zoom : Signal of {lo, shift}
        Stage 2, of the row that the operation or a PLACE reads.
    own_bin : Signal
        Stage 3, of the code; told by the lane.
    outside : Signal
        Stage 7, there is no bin on the side that the operation asks for.
    far : Signal
        Stage 3, the bin of a number; all bits are set beyond the last.
    before : Signal of ArrayLayout(count_width, classes)
        Stage 7, the word before the operation.
    after : Signal
        Stage 8, the word after it.
    touch : dict of int: Signal
        By stage, whether the operation has a word in this level; told by the lane in stage 4.
    clamped : Value
        Stage 7, a counter cannot move.
    """

    def __init__(self, m, geometry, control, level):
        self.m, self.geometry, self.control, self.level = m, geometry, control, level
        g = geometry
        word_layout = data.ArrayLayout(g.count_width, g.classes)
        zoom_layout = data.StructLayout({"lo": CODE_WIDTH, "shift": 3})
        self.rows = rows = g.slots // g.levels << pass_bits(g)

        # Few zooms are not worth a block RAM: the counters need those.
        m.submodules[self._name("zooms")] = zooms = Memory(
            shape=zoom_layout,
            depth=rows,
            init=[{"lo": 0, "shift": g.root_shift}] * rows,
            attrs={"ram_style": "distributed"} if rows <= FEW_ROWS else {},
        )
        zoom_read, zoom_write = zooms.read_port(), zooms.write_port()
        self.zoom_read, self.zoom_write = zoom_read, zoom_write
        self.zoom = self._signal(zoom_layout, "zoom_2")
        m.d.comb += self.zoom_read.addr.eq(self._told("zoom_row_0"))

        self.distance = self._signal(CODE_WIDTH, "distance")
        self.shift = self._signal(3, "shift")
        self.own_bin = self._signal(g.bin_bits, "own_bin")
        self.far = None
        self.bins = {i: self._signal(g.bin_bits, f"bin_{i}") for i in range(4, 10)}
        self.touch = {i: self._signal(1, f"touch_{i}") for i in range(4, 10)}
        self.newest = {i: self._signal(word_layout, f"newest_{i}") for i in (7, 8, 9, 10)}
        self.before = self._signal(word_layout, "now")
        self.after = self.newest[8]
        self.changed = self._signal(1, "changed")
        self.stuck = self._signal(g.classes, "stuck")

    def _name(self, name):
        return f"{name}_{self.level}"

    def _signal(self, shape, name):
        return Signal(shape, name=self._name(name))

    def _told(self, name):
        """The level's part of what the control tells."""
        return self.control[name][self.level]

    def place(self, placed, placed_before):
        """Stages 1 and 2: write a PLACE's zoom, read the next operation's."""
        m, zoom, hit = self.m, self.zoom, self._told("zoom_hit_1")
        m.d.comb += [
            self.zoom_write.en.eq(self._told("place_2")),
            self.zoom_write.addr.eq(self.control.place_row_2),
            self.zoom_write.data.eq(placed),
        ]
        with m.If(hit[0]):
            m.d.sync += zoom.eq(placed)
        with m.Elif(hit[1]):
            m.d.sync += zoom.eq(placed_before)
        with m.Else():
            m.d.sync += zoom.eq(self.zoom_read.data)

    def measure(self, code):
        """Stage 2: the code's distance from the bins' origin."""
        offset = self._signal(signed(CODE_WIDTH + 1), "offset")
        self.m.d.comb += offset.eq(code - self.zoom.lo)
        self.m.d.sync += [self.distance.eq(Mux(offset < 0, 0, offset)), self.shift.eq(self.zoom.shift)]

    def reach(self):
        """Stage 3: the distance in bins."""
        bits, distance, shift = self.geometry.bin_bits, self.distance, self.shift
        far, beyond = self._signal(CODE_WIDTH, "far"), self._signal(1, "beyond")
        # Whether it is beyond the bins is seen beside the shift, not after it.
        self.m.d.comb += [
            far.eq(distance >> shift),
            beyond.eq(Cat((shift == by) & distance[bits + by :].any() for by in range(CODE_WIDTH - bits)).any()),
        ]
        self.far = far | beyond.replicate(CODE_WIDTH)

    def choose(self, touches, side):
        """Stages 3 to 9: bin, whether the operation touches a word.

        ``side``: stage 3, the bin below or above is meant, a bit each.
        """
        m, control, bins, touch = self.m, self.control, self.bins, self.touch
        below, above = side
        counted = self.own_bin + Cat(below | above, below.replicate(len(self.own_bin) - 1))
        outside = (below & ~self.own_bin.any()) | (above & self.own_bin.all())
        self.outside = delay(m, outside, 4, self._name("outside"))
        m.d.sync += [
            bins[4].eq(Mux(control.count_3, counted, control.bin_3)),
            touch[4].eq(touches & self._told("on_3")),
        ]
        for i in range(5, 10):
            m.d.sync += [bins[i].eq(bins[i - 1]), touch[i].eq(touch[i - 1])]

    def update(self):
        """Stages 4 to 7: read the word and change it. The words of each bank in stage 6."""
        m, control, bins, newest = self.m, self.control, self.bins, self.newest
        words_6 = self._memory()
        word_6 = Array(words_6)[self._told("bank_6")]

        # What the operations ahead are about to write; the nearest has the newest word. Stage 7
        # knows that of the one right ahead; the others' are chosen by a number, told early.
        ahead = self._signal(4, "ahead")
        near, source = self._signal(1, "near"), self._signal(2, "source")
        same = self._told("same_5")
        m.d.comb += ahead.eq(Cat(same[i] & self.touch[6 + i] & (bins[5] == bins[6 + i]) for i in range(4)))
        m.d.sync += [
            near.eq(ahead[0]),
            source.eq(Mux(ahead[1], 1, Mux(ahead[2], 2, Mux(ahead[3], 3, 0)))),
        ]
        # A counter that is written is cleared first, and what is written is added.
        words = Array([word_6, newest[8], newest[9], newest[10]])
        ahead_7 = self._signal(self.geometry.classes, "ahead_7")
        m.d.sync += newest[7].eq(words[source])
        for k, clear in enumerate(control.clear_6):
            m.d.sync += ahead_7[k].eq(near & ~clear)
            with m.If(clear):
                m.d.sync += newest[7][k].eq(0)
        self._change(ahead_7)
        return words_6

    def _change(self, ahead_7):
        """Stage 7."""
        m, control, now, newest = self.m, self.control, self.before, self.newest
        width = self.geometry.count_width
        for k in range(self.geometry.classes):
            m.d.comb += now[k].eq(Mux(ahead_7[k], newest[8][k], newest[7][k]))
            moved = self._signal(width + 1, f"moved_{k}")
            added = control.step_7 & control.adds_7[k].replicate(width + 1)
            m.d.comb += [moved.eq(now[k] + added), self.stuck[k].eq(moved[-1])]
            # Where a counter would leave its range, all bits are wrong: it is at 0 or full.
            m.d.sync += newest[8][k].eq(
                Mux(control.halve_7, now[k] >> 1, moved[:width] ^ self.stuck[k].replicate(width))
            )
        m.d.sync += [newest[9].eq(newest[8]), newest[10].eq(newest[9])]
        m.d.sync += self.changed.eq(self.touch[7] & control.changes_7)

    @property
    def clamped(self):
        return self.touch[7] & self.stuck.any()

    def _memory(self):
        """The counters' memory: each bank's word in stage 6; stage 8 writes."""
        m, g, control, bins, word = self.m, self.geometry, self.control, self.bins, self.after
        row_4, row_8 = self._told("row_4"), self._told("row_8")
        words = []
        for bank in range(g.banks):
            m.submodules[self._name(f"counters_{bank}")] = counters = Memory(
                shape=data.ArrayLayout(g.count_width, g.classes),
                depth=-(-g.slots // (g.banks * g.levels)) << pass_bits(g) + g.bin_bits,
                init=[],
            )
            read, write = counters.read_port(), counters.write_port()
            # A block RAM's own.
            word_6 = Signal.like(word, name=self._name(f"word_6_{bank}"), reset_less=True)
            m.d.comb += [
                write.en.eq(self.changed & (bank_of(g, row_8) == bank)),
                write.addr.eq(Cat(bins[8], within_bank(g, row_8))),
                write.data.eq(word),
            ]
            address = Cat(bins[4], within_bank(g, row_4))
            m.d.comb += read.addr.eq(snaps_of(g).address(m, control, self.level, bank, address, write))
            m.d.sync += word_6.eq(read.data)
            words.append(word_6)
        return words
