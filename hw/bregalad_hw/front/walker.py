"""Records in, their leaves out, in order, with edits between them."""

from amaranth import Array, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect
from bregalad.protocol.nodes import EDIT, EditError

from ..layout import struct
from ..members import drive
from ..skid_buffer import SkidBuffer
from .node_table import NodeTable, slot_layout
from .ring import Ring, beat_layout


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


class Walker(wiring.Component):
    """Walk records down the trees of a node table, and edit that between any two of them.

    Records are dealt to rings in turn, and handed over in turn, so their order is kept whatever their depths. A record
    that is handed over has been walked wholly between the same two edits: one is carried out when all that are handed
    over are taken, and all walks under way begin anew behind it. So a walk sees every edit before it and none behind.

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
        From the clock after its offer on until it is carried out nothing is handed over.
    renumber : In(1), last_number : In(32)
        For a clock, while no record is here: the last numbered record's number is this from now on.
        The next record comes once ``limit`` is of those numbers, 2 clocks later at the earliest.
    limit : In(32)
        Once ``handed`` is this, no record is handed over, numbered or not. It may only grow but at
        ``renumber``, and is never less than ``handed``.
    hold : In(1)
        From the next clock on nothing is handed over.
    handed : Out(32)
        Number of the last numbered record that has been handed over.
    quiet : Out(1)
        Nothing that has been handed over is still to be taken.
    error : Out(range of EditError)
        Beside the transfer of an edit: what is wrong with it; else 0.
    o : Out(stream of item_layout)
        For each way of a record its leaf.

    Latency: that of `Ring`, and 4 cycles to the leaf's item. Throughput: an item per cycle, and a
    step per ring and cycle. An edit stalls the stream for 7 clocks, the walks that begin anew beside.
    """

    def __init__(self, nodes, attributes, slots, codes, *, walkers=1, records=16, alternates=1):
        self.table = NodeTable(nodes, attributes, slots, walkers=walkers)
        self.rings = [Ring(nodes, attributes, codes, records=records, alternates=alternates) for _ in range(walkers)]
        self.alternates = alternates
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(nodes, codes))),
                "edit": In(stream.Signature(struct(EDIT))),
                "renumber": In(1),
                "last_number": In(32),
                "limit": In(32),
                "hold": In(1),
                "handed": Out(32),
                "quiet": Out(1),
                "error": Out(range(max(EditError) + 1)),
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
                *drive(ring.i, valid=self.i.valid & (dealt == number), payload=self.i.payload),
                ring.take.eq(take & (turn == number)),
            ]
        m.d.comb += self.i.ready.eq(Array(ring.i.ready for ring in rings)[dealt])
        for place, moves in ((dealt, self.i.valid & self.i.ready & self.i.p.last), (turn, take)):
            with m.If(moves):
                m.d.sync += place.eq(Mux(place == len(rings) - 1, 0, place + 1))
        m.submodules.given = given = SkidBuffer(rings[0].record.shape())
        m.d.comb += given.i.payload.eq(Array(ring.record.as_value() for ring in rings)[turn])

        # Whether the next record is through, and whether it has to wait, is known a clock ahead, for much waits for
        # it. A ring takes two clocks from one record to the next.
        number, following = self.handed, Signal(32, init=1)
        next_turn, through, waits = Signal.like(turn), Signal(), Signal()
        counts, renumbered = Signal(), Signal()
        free = ~take if len(rings) == 1 else 1
        m.d.comb += [
            next_turn.eq(Mux(take, Mux(turn == len(rings) - 1, 0, turn + 1), turn)),
            given.i.valid.eq(through & ~waits),
            take.eq(given.i.valid & given.i.ready),
            counts.eq(take & given.i.p.numbered),
        ]
        at_limit = Mux(counts, following == self.limit, number == self.limit)
        m.d.sync += [
            through.eq(Array(ring.there for ring in rings)[next_turn] & free),
            waits.eq(self.hold | self.edit.valid | table.busy | at_limit),
            renumbered.eq(self.renumber),
        ]
        # Another number comes by the way of the next one, for its sum with 1 is made there.
        with m.If(counts | renumbered):
            m.d.sync += [number.eq(following), following.eq(following + 1)]
        with m.If(self.renumber):
            m.d.sync += following.eq(self.last_number)

        # An edit, once all records before it are taken.
        edited = Signal()
        m.d.comb += [
            edited.eq(waits & self.quiet),
            *drive(table.edit, valid=self.edit.valid & edited, payload=self.edit.payload),
            self.edit.ready.eq(table.edit.ready & edited),
            self.error.eq(table.refused),
        ]
        self._output(m, given)
        return m

    def _output(self, m, given):
        """Ask for the slot of each leaf, and give it as an item."""
        table, record, o = self.table, given.o.payload, self.o
        way, final = Signal(range(1 + self.alternates)), Signal()
        requested, goes_on = Signal(), Signal()
        item, shown = (Signal.like(o.payload, reset_less=True, name=name) for name in ("item", "shown"))
        m.d.comb += [
            goes_on.eq(~o.valid | o.ready),
            final.eq(way == record.more),
            *drive(table, request=goes_on, node=record.leaves[way]),
            given.o.ready.eq(goes_on & final),
            self.quiet.eq(~(given.o.valid | requested | o.valid)),
            o.payload.eq(shown),
            o.p.slot.there.eq(shown.slot.there & ~shown.lost),
        ]
        with m.If(goes_on):
            m.d.sync += [
                o.valid.eq(requested),
                shown.eq(item),
                shown.slot.eq(table.slot),
                requested.eq(given.o.valid),
                *drive(item, node=table.node, alternate=way != 0, lost=record.lost, last=final),
            ]
            with m.If(given.o.valid):
                m.d.sync += way.eq(Mux(final, 0, way + 1))
