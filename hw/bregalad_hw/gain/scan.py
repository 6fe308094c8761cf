"""What all lanes' gain units do in the same clock."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..delay import delay
from ..members import drive

SNAPSHOTS = 4  # held by a gain unit unless another number is given
_X_CLOCKS = 2  # from when a count is chosen until its term enters the criterion's arithmetic


def scan_layout(geometry, snapshots):
    """What the gain units are given: of the word that came a clock ago, and of the scan."""
    g = geometry
    # A snapshot's place, whether it is the total, its bin.
    row = g.bin_bits + 1 + (snapshots - 1).bit_length()
    return data.StructLayout(
        {
            "write": 1,
            "write_row": row,
            "first": 1,  # the word is a snapshot's first: the sums begin anew
            "sums": 1,  # there is no word, what was added up is the total
            "read_row": row,
            "fetch": 1,  # the best split's word is read instead
            "take_total": 1,  # the word read is the total
            # The count that becomes a term.
            "index": max(1, (g.classes - 1).bit_length()),  # class, unless it is the sum
            "at_sum": 1,
            "right": 1,  # of a pair
            "pair": 1,
            "alone": 1,  # there is one for cells that have two sides to a split, for others
            "keep_sum": 1,  # the sum of the total's counts is there
            # The term that comes out of the arithmetic a clock later.
            "y_pair": 1,
            "y_alone": 1,
            "y_minus": 1,
            "y_opens": 1,  # class 0 of the left side
            "y_total": 1,
            "y_first": 1,
            "y_before_last": 1,
            "y_last": 1,  # of the bins; not if of the total
            "y_ends": 1,  # a split's last
            "compared": g.bin_bits,  # bin of the term that came out a clock ago
        }
    )


def scan_clocks(geometry, latency, pairs, whole, classes_in_use):
    """Clocks from when the snapshot is there, or the `take` before, to the first `done`.

    Parameters
    ----------
    geometry : Geometry
    latency : int
        Of the criterion's arithmetic.
    pairs, whole : bool
        As the members of `Scan`.
    classes_in_use : int
    """
    n, splits = classes_in_use, geometry.bins - (not whole)
    return (n + 2) + splits * (2 * n + 2 if pairs else n + 2) + latency + 9


class Scan(wiring.Component):
    """Lead the lanes' gain units through their snapshots, all in step.

    Words of a snapshot come to all lanes in the same clock, and are written there. The scan sends the total's counts,
    then l_0, r_0, l_1, r_1, ..., l, r of each split through the criterion's arithmetic; of cells that have but one side
    to a split only the left ones count, and where no lane has another, they come alone: l_0, l_1, ..., l. Snapshots
    come in while an earlier one is scanned.

    Parameters
    ----------
    geometry : Geometry
    latency : int
        Of the criterion's arithmetic, in clocks.
    spread : int
        Clocks from `control` here to `scan` there.
    gathered : int
        Clocks from `pairs` and `whole` there to here, 1 or more.
    snapshots : int
        Snapshots that are held, the scanned one among them; a power of two, 1 to 16.

    Members
    -------
    snap : In(1)
        A word of a snapshot is there; bins 0 to B - 1 in order. Bin 0 comes only if fewer than
        ``snapshots`` have begun and are not taken, and not right after a last word.
    bin : In(bin_bits)
    pairs : In(1)
        Some lane's cell of that word has two sides to a split.
    whole : In(1)
        The last bin of some lane's is a split.
    classes_in_use : In(8)
        1 to ``geometry.classes``; stable from a snapshot's first word until its `take`.
    control : Out(scan_layout(geometry, snapshots))
    done : Out(1)
        ``spread`` clocks later the gain units have the results of the oldest snapshot, until then after `take`.
    take : In(1)
        On to the next snapshot; only while `done`.

    Latency: from ``load_clocks`` after a snapshot's last `snap` or from the `take` before it, the
    later of the two, to `done`, ``scan_clocks(...)``.

    Source: design, section 5; docs/hardware.md draws the stages.
    """

    def __init__(self, geometry, *, latency, spread, gathered, snapshots=SNAPSHOTS):
        self.geometry = g = geometry
        self.snapshots = snapshots
        self.latency = latency
        # Until the lanes have said what their cells are; their memories have the total by then.
        self._behind = spread + gathered
        self.load_clocks = 1 + self._behind
        super().__init__(
            {
                **dict.fromkeys(("snap", "pairs", "whole", "take"), In(1)),
                "bin": In(g.bin_bits),
                "classes_in_use": In(8),
                "control": Out(scan_layout(g, snapshots)),
                "done": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        control = self.control
        last_bin = g.bins - 1
        place_bits = (self.snapshots - 1).bit_length()

        # Load. After a place's words lies their total.
        head = Signal(place_bits)
        arrived, first, complete = Signal(), Signal(), Signal()
        row = Signal(g.bin_bits, reset_less=True)
        m.d.sync += [
            arrived.eq(self.snap),
            first.eq(self.snap & (self.bin == 0)),
            row.eq(self.bin),
            complete.eq(arrived & (row == last_bin)),
        ]
        with m.If(complete):
            m.d.sync += head.eq(head + 1)
        m.d.comb += [
            *drive(control, write=arrived | complete, first=first, sums=complete),
            control.write_row.eq(Cat(Mux(complete, 0, row), complete, head)),
        ]

        # What is to be scanned, once the lanes have said of what kind it is. The pointers have a
        # bit more than a place: equal ones mean that there is nothing.
        ready, tail = Signal(place_bits + 1), Signal(place_bits + 1)
        m.submodules.kinds = kinds = Memory(shape=2, depth=self.snapshots, init=[])
        put, get = kinds.write_port(), kinds.read_port()
        pairs, whole = get.data
        m.d.comb += [
            *drive(put, addr=ready[:place_bits], data=Cat(self.pairs, self.whole)),
            put.en.eq(delay(m, arrived & (row == last_bin), self._behind, "known")),
            get.addr.eq(tail[:place_bits]),
        ]
        with m.If(put.en):
            m.d.sync += ready.eq(ready + 1)
        with m.If(self.take):
            m.d.sync += tail.eq(tail + 1)

        # Scan: which term comes next.
        index = Signal(range(g.classes + 1))  # class; the one after the last stands for the sum
        right = Signal()  # the right side's half of a pair; alone: the clock of the sum
        split = Signal(g.bin_bits)
        at_total, alone, at_sum, value_end, finished = (Signal(), Signal(), Signal(), Signal(), Signal())
        issue, read_total, fetch, take_total = Signal(), Signal(), Signal(), Signal()
        read_bin = Signal(g.bin_bits)
        m.d.comb += [alone.eq(at_total | ~pairs), value_end.eq(at_sum & right), read_bin.eq(split)]
        # Worked out ahead: a split takes two clocks and more.
        next_split = Signal(g.bin_bits, reset_less=True)
        at_last = Signal(reset_less=True)
        m.d.sync += [next_split.eq(split + 1), at_last.eq(split == Mux(whole, last_bin, last_bin - 1))]
        with m.FSM():
            with m.State("WAIT"):
                # The memories are read at the new place meanwhile.
                m.d.comb += read_total.eq(1)
                with m.If(ready != tail):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += read_total.eq(1)
                m.next = "START"
            with m.State("START"):
                m.d.comb += [read_total.eq(1), take_total.eq(1)]
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
                m.d.comb += fetch.eq(1)
                m.next = "FETCHED"
            with m.State("FETCHED"):
                m.d.comb += fetch.eq(1)
                m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += [self.done.eq(1), fetch.eq(1)]
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
        m.d.comb += [
            *drive(control, read_row=Cat(read_bin, read_total, tail[:place_bits]), fetch=fetch, take_total=take_total),
            *drive(control, index=index, at_sum=at_sum, right=right & ~at_total),
            # Alone, a sum waits a clock for what it is the sum of.
            *drive(control, alone=issue & (right == at_sum), pair=issue & (~at_total | (right == at_sum))),
            control.keep_sum.eq(at_total & value_end),
        ]

        # The same of the term that comes out in a clock.
        term = data.StructLayout({name: 1 for name in control.shape().members if name.startswith("y_")})
        y = Signal(term)
        of_split = issue & ~at_total
        m.d.comb += [
            *drive(y, y_pair=control.pair, y_alone=control.alone, y_minus=at_total ^ at_sum),
            *drive(y, y_opens=(index == 0) & ~right, y_total=at_total, y_first=of_split & (split == 0)),
            *drive(y, y_before_last=of_split & (split == last_bin - 1), y_last=of_split & (split == last_bin)),
            y.y_ends.eq(of_split & value_end),
        ]
        out = delay(m, Cat(y, split, of_split & value_end & at_last), _X_CLOCKS + self.latency - 1, "y")
        behind = delay(m, out[term.size :], 2, "compared")
        m.d.comb += [
            *(control[name].eq(bit) for name, bit in zip(term.members, out[: term.size], strict=True)),
            control.compared.eq(behind[:-1]),
            finished.eq(behind[-1]),
        ]
        return m
