"""Records in, their leaves out, in order, with edits and locks between them."""

from amaranth import Array, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect
from bregalad.protocol.nodes import EDIT, EditError, EditFlag

from ..layout import struct
from ..relay import Relay
from .node_table import NodeTable, slot_layout
from .ring import Ring, beat_layout

__all__ = ["Walker", "item_layout", "lock_layout"]


def item_layout(nodes, slots):
    """The leaf of a record's way, and what counts there."""
    return data.StructLayout(
        {
            "node": range(nodes),
            "slot": slot_layout(slots),
            "alternate": 1,  # of the way, not the record's own
            "lost": 1,  # the way goes round: this is no leaf, and nothing counts
            "last": 1,  # of the record
        }
    )


def lock_layout():
    """A node to lock, and after how many numbered records."""
    return data.StructLayout({"node": 16, "at": 32})


class Walker(wiring.Component):
    """Walk records down the trees of a node table, and change that between any two of them.

    Records are dealt to rings in turn, and handed over in turn, so their order is kept whatever
    their depths. A record that is handed over has been walked wholly between the same two changes:
    one is carried out when all that are handed over are taken, and all walks under way begin anew
    behind it. So a walk sees every change before it and none behind.

    A lock is checked where records are handed over: of the next one it is known whether it has
    passed a locked node, as the table is now. If it has, all wait for an edit. Records that are not
    numbered pass locks. An edit is carried out as soon as it is offered, but after a lock whose time
    has come; when that is, `hold` decides, or a lock that the stream stands at.

    Parameters
    ----------
    nodes, attributes, slots : int
        Of the node table.
    codes : int
        Of a beat, a power of two.
    walkers : int
        Rings. A ring takes a step in a clock, and a record as many as its ways have nodes: a record
        a clock takes as many rings.
    records : int
        Kept by each ring, a power of two.
    alternates : int
        That a record goes down at most.

    Members
    -------
    i : In(stream of beat_layout)
    edit : In(stream of EDIT)
        The row of a locked node, or a KEEP, unlocks it. After one with MORE nothing is handed over
        until the next.
        With STOP, up to one without it, a lock is not carried out as its time comes, but stops all numbered records
        until it is not offered any more.
    lock : In(stream of {node, at})
        In the order of their ``at``. One that is offered before the last beat of the numbered record
        that ``at`` of them come before is carried out before that.
    turning : In(1)
        None is taken, and another may be offered instead; only while nothing is handed over.
    renumber : In(1), last_number : In(32)
        For a clock, while neither a record nor a lock is here: the last numbered record's number is this from now on.
        None comes up to 2 clocks after it, and after ``limit`` is that of the new numbers.
    limit : In(32)
        How many numbered records may be handed over in all; it may only grow but at ``renumber``, and is
        never less than ``handed``. So a lock that is still to come is in time.
    hold : In(1)
        From the next clock on nothing is handed over.
    handed : Out(32)
        Numbered records that have been handed over.
    quiet : Out(1)
        Nothing that has been handed over is still to be taken.
    error : Out(range of EditError)
        For a clock: what was wrong with a change; else 0.
    stands : Out(1)
        The next record is numbered, and has passed a locked node or is stopped by a lock.
    unfinished : Out(1)
        The last edit had MORE.
    o : Out(stream of item_layout)
        For each way of a record its leaf.

    Latency: that of `Ring`, and 4 cycles to the leaf's item. Throughput: an item per cycle, and a
    step per ring and cycle. A change stands the stream for 7 clocks, the walks that begin anew beside.
    """

    def __init__(self, nodes, attributes, slots, codes, *, walkers=1, records=16, alternates=1):
        self.table = NodeTable(nodes, attributes, slots, walkers=walkers)
        self.rings = [Ring(nodes, attributes, codes, records=records, alternates=alternates) for _ in range(walkers)]
        self.alternates = alternates
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(nodes, codes))),
                "edit": In(stream.Signature(struct(EDIT))),
                "lock": In(stream.Signature(lock_layout())),
                "turning": In(1),
                "renumber": In(1),
                "last_number": In(32),
                "limit": In(32),
                "hold": In(1),
                "handed": Out(32),
                "quiet": Out(1),
                "error": Out(range(max(EditError) + 1)),
                "stands": Out(1),
                "unfinished": Out(1),
                "o": Out(stream.Signature(item_layout(nodes, slots))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.table = table = self.table
        rings = self.rings

        # Records are dealt and handed over in turn.
        dealt, turn = Signal(range(len(rings))), Signal(range(len(rings)))
        take = Signal()
        for number, ring in enumerate(rings):
            m.submodules[f"ring_{number}"] = ring
            connect(m, ring.table, table.walks[number])
            m.d.comb += [
                ring.halt.eq(table.busy),
                ring.i.valid.eq(self.i.valid & (dealt == number)),
                ring.i.payload.eq(self.i.payload),
                ring.take.eq(take & (turn == number)),
            ]
        m.d.comb += self.i.ready.eq(Array(ring.i.ready for ring in rings)[dealt])
        for place, moves in ((dealt, self.i.valid & self.i.ready & self.i.p.last), (turn, take)):
            with m.If(moves):
                m.d.sync += place.eq(Mux(place == len(rings) - 1, 0, place + 1))
        m.submodules.given = given = Relay(rings[0].record.shape())
        m.d.comb += given.i.payload.eq(Array(ring.record.as_value() for ring in rings)[turn])
        # Whether the next record is through, and has passed a lock, is known a clock ahead, for much waits for it. A
        # ring takes two clocks from one record to the next.
        next_turn, through, passed_lock = Signal.like(turn), Signal(), Signal()
        free = ~take if len(rings) == 1 else 1
        m.d.comb += next_turn.eq(Mux(take, Mux(turn == len(rings) - 1, 0, turn + 1), turn))
        m.d.sync += [
            through.eq(Array(ring.there & ~ring.stands for ring in rings)[next_turn] & free & ~table.busy),
            passed_lock.eq(Array(ring.there & ring.stands for ring in rings)[next_turn] & free & ~table.busy),
        ]

        # The next record waits for a change.
        number, following = self.handed, Signal(32, init=1)
        counts = Signal()  # it is numbered
        renumbered = Signal()
        within = Signal()  # the limit, as it was a clock ago; it only grows while there are records
        waits, more, quiet = Signal(), Signal(), Signal()
        m.d.comb += counts.eq(given.i.p.numbered)
        lock_waits, lock_due = self._lock_turn(m, take & counts)
        stops_all = Signal()
        stops = lock_due & stops_all
        stopped = Mux(stops, counts, lock_waits)
        m.d.comb += [
            self.stands.eq((passed_lock | (through & counts & stops)) & ~table.busy),
            given.i.valid.eq(through & (within | ~counts) & ~(stopped | waits | more | table.busy)),
            take.eq(given.i.valid & given.i.ready),
            self.quiet.eq(quiet),
            self.unfinished.eq(more),
        ]
        m.d.sync += [
            within.eq(Mux(take & counts, following != self.limit, number != self.limit)),
            waits.eq(self.hold | self.edit.valid),
            renumbered.eq(self.renumber),
        ]
        # Another number comes by the way of the next one, for its sum with 1 is made there.
        with m.If((take & counts) | renumbered):
            m.d.sync += [number.eq(following), following.eq(following + 1)]
        with m.If(self.renumber):
            m.d.sync += following.eq(self.last_number)

        # A change, once all before it are through.
        change = table.change
        with m.If(quiet & lock_due & ~self.turning & ~stops_all):
            m.d.comb += [
                change.valid.eq(1),
                change.p.lock.eq(1),
                change.p.edit.node.eq(self.lock.p.node),
                self.lock.ready.eq(change.ready),
            ]
        with m.Elif(quiet & waits & self.edit.valid & (~lock_waits | stops)):
            m.d.comb += [
                change.valid.eq(1),
                change.p.edit.eq(self.edit.payload),
                self.edit.ready.eq(change.ready),
            ]
            with m.If(change.ready):
                for mode, flag in ((more, EditFlag.MORE), (stops_all, EditFlag.STOP)):
                    m.d.sync += mode.eq((self.edit.p.flags & int(flag)) != 0)
        m.d.comb += self.error.eq(table.refused)

        self._give(m, given, quiet)
        return m

    def _lock_turn(self, m, counts):
        """Whether records wait for a lock, to see whose turn it is or because it is; and that it is."""
        port = self.lock
        counted, known, due = (Signal(name=f"lock_{each}") for each in ("counted", "known", "due"))
        left = Signal(32, name="lock_left")  # numbered records before it
        with m.If(~port.valid | port.ready | self.turning):
            m.d.sync += [counted.eq(0), known.eq(0), due.eq(0)]
        with m.Elif(~counted):
            m.d.sync += [counted.eq(1), left.eq(port.p.at - self.handed)]
        with m.Elif(~known):
            m.d.sync += [known.eq(1), due.eq(left[-1] | (left == 0))]
        with m.Elif(counts):
            m.d.sync += left.eq(left - 1)
            with m.If(left == 1):
                m.d.sync += due.eq(1)
        return port.valid & (~known | due), port.valid & due

    def _give(self, m, given, quiet):
        """Ask for the slot of each leaf, and give it as an item."""
        table, record, o = self.table, given.o.payload, self.o
        way, final = Signal(range(1 + self.alternates)), Signal()
        asked, goes_on = Signal(), Signal()
        item, shown = (Signal.like(o.payload, reset_less=True, name=name) for name in ("item", "shown"))
        m.d.comb += [
            goes_on.eq(~o.valid | o.ready),
            final.eq(way == record.more),
            table.ask.eq(goes_on),
            table.node.eq(record.leaves[way]),
            given.o.ready.eq(goes_on & final),
            quiet.eq(~(given.o.valid | asked | o.valid)),
            o.payload.eq(shown),
            o.p.slot.there.eq(shown.slot.there & ~shown.lost),
        ]
        with m.If(goes_on):
            m.d.sync += [
                o.valid.eq(asked),
                shown.eq(item),
                shown.slot.eq(table.slot),
                asked.eq(given.o.valid),
                item.node.eq(table.node),
                item.alternate.eq(way != 0),
                item.lost.eq(record.lost),
                item.last.eq(final),
            ]
            with m.If(given.o.valid):
                m.d.sync += way.eq(Mux(final, 0, way + 1))
