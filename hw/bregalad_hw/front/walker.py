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
    """A node that a record has reached, and what counts there."""
    return data.StructLayout(
        {
            "number": 32,
            "node": range(nodes),
            "slot": slot_layout(slots),
            "leaf": 1,  # the first node of a way; those above follow
            "alternate": 1,  # of the way, not the record's own
            "lost": 1,  # the way goes round: this is no leaf, and nothing counts
            "last": 1,  # of the record
        }
    )


def lock_layout():
    """A node to lock, before which record."""
    return data.StructLayout({"node": 16, "at": 32})


class Walker(wiring.Component):
    """Walk records down the trees of a node table, and change that between any two of them.

    Records are dealt to rings in turn, and handed over in turn, so their order is kept whatever
    their depths. A record that is handed over has been walked wholly between the same two changes:
    one is carried out when all before its record are handed over and taken, and all walks under way
    begin anew behind it. So a walk sees every change before it and none behind.

    A lock is checked where records are handed over: of the next one it is known whether it has
    passed a locked node, as the table is now. If it has, all wait for an edit. At a record's number
    locks come first, then edits. An edit that is offered while the stream stands at a lock is carried
    out even if its record is yet to come, for it would not.

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
    paths : bool
        Build what gives the nodes of whole paths.

    Members
    -------
    i : In(stream of beat_layout)
    edit : In(stream of EDIT)
        In the order of their ``at``. One that is offered before the last beat of record ``at`` is
        taken is carried out before that record.
    lock : In(stream of {node, at})
        As ``edit``. The row of a locked node, or a KEEP, unlocks it.
    limit : In(32)
        The number of the first record that must not be handed over yet; it may only grow, and is
        never less than the next one's. So a lock that is still to come is in time.
    paths : In(1)
        Give whole paths; steady. Nothing if they are not built.
    error : Out(range of EditError)
        For a clock: what was wrong with a change; else 0.
    stands : Out(1)
        The next record has passed a locked node.
    o : Out(stream of item_layout)
        For each way of a record its leaf, and with ``paths`` the nodes above, upwards.

    Latency: that of `Ring`, and 3 cycles to the leaf's item. Throughput: an item per cycle, and a
    step per ring and cycle. A change stands the stream for 7 clocks (with ``paths``, one more
    for each child), the walks that begin anew beside.
    """

    def __init__(self, nodes, attributes, slots, codes, *, walkers=1, records=16, alternates=1, paths=False):
        self.table = NodeTable(nodes, attributes, slots, walkers=walkers, paths=paths)
        self.rings = [Ring(nodes, attributes, codes, records=records, alternates=alternates) for _ in range(walkers)]
        self.alternates = alternates
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(nodes, codes))),
                "edit": In(stream.Signature(struct(EDIT))),
                "lock": In(stream.Signature(lock_layout())),
                "limit": In(32),
                "paths": In(1),
                "error": Out(range(max(EditError) + 1)),
                "stands": Out(1),
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
        there, passed_lock = Signal(), Signal()
        m.submodules.given = given = Relay(rings[0].record.shape())
        m.d.comb += [
            there.eq(Array(ring.there for ring in rings)[turn]),
            passed_lock.eq(Array(ring.stands for ring in rings)[turn]),
            given.i.payload.eq(Array(ring.record.as_value() for ring in rings)[turn]),
        ]

        # The next record waits for a change.
        number, following = Signal(32), Signal(32, init=1)
        within = Signal()  # the limit, as it was a clock ago; it only grows
        more, quiet = Signal(), Signal()
        lock_waits, lock_due = self._turn(m, "lock", self.lock, number, take)
        edit_waits, edit_due = self._turn(m, "edit", self.edit, number, take)
        m.d.comb += [
            self.stands.eq(there & passed_lock & ~table.busy),
            given.i.valid.eq(there & ~passed_lock & within & ~(lock_waits | edit_waits | more | table.busy)),
            take.eq(given.i.valid & given.i.ready),
        ]
        m.d.sync += within.eq(Mux(take, following != self.limit, number != self.limit))
        with m.If(take):
            m.d.sync += [number.eq(following), following.eq(following + 1)]

        # A change, once all before it are through.
        change = table.change
        stuck = Signal()  # and it is known that the edit is not due
        m.d.sync += stuck.eq(self.stands & self.edit.valid & ~edit_waits)
        with m.If(quiet & lock_due):
            m.d.comb += [
                change.valid.eq(1),
                change.p.lock.eq(1),
                change.p.edit.node.eq(self.lock.p.node),
                self.lock.ready.eq(change.ready),
            ]
        with m.Elif(quiet & self.edit.valid & (edit_due | more | stuck)):
            m.d.comb += [
                change.valid.eq(1),
                change.p.edit.eq(self.edit.payload),
                self.edit.ready.eq(change.ready),
            ]
            with m.If(change.ready):
                m.d.sync += more.eq((self.edit.p.flags & int(EditFlag.MORE)) != 0)
                with m.If(~edit_due & ~more):
                    m.d.comb += self.error.eq(EditError.ORDER)
        with m.If(table.refused != 0):
            m.d.comb += self.error.eq(table.refused)

        self._give(m, given, quiet)
        return m

    def _turn(self, m, name, port, number, take):
        """Whether records wait for what a port offers, to see whose turn it is or because it is; and that it is."""
        counted, known, due = (Signal(name=f"{name}_{each}") for each in ("counted", "known", "due"))
        left = Signal(32, name=f"{name}_left")  # records before it
        with m.If(~port.valid | port.ready):
            m.d.sync += [counted.eq(0), known.eq(0), due.eq(0)]
        with m.Elif(~counted):
            m.d.sync += [counted.eq(1), left.eq(port.p.at - number)]
        with m.Elif(~known):
            m.d.sync += [known.eq(1), due.eq(left[-1] | (left == 0))]
        with m.Elif(take):
            m.d.sync += left.eq(left - 1)
            with m.If(left == 1):
                m.d.sync += due.eq(1)
        return (port.valid & ~known) | due, due

    def _give(self, m, given, quiet):
        """Ask for the slot of each leaf, and with `paths` of what is above it; each is an item then."""
        table, record, o = self.table, given.o.payload, self.o
        way, final = Signal(range(1 + self.alternates)), Signal()
        number = Signal(32)
        asked, ended = Signal(), Signal()
        item, shown = (Signal.like(o.payload, reset_less=True, name=name) for name in ("item", "shown"))
        above = Signal(range(table.nodes + 1))  # nodes of this way that are still to be asked for
        climbs, goes_on = Signal(), Signal()
        length = record.ways[way].length
        m.d.comb += [
            goes_on.eq(~o.valid | o.ready),
            climbs.eq((above != 0) & table.paths),
            final.eq(way == record.more),
            table.ask.eq(goes_on),
            table.node.eq(Mux(climbs, table.parent, record.ways[way].leaf)),
            given.o.ready.eq(goes_on & ~climbs & final),
            quiet.eq(~(given.o.valid | asked | o.valid)),
            o.payload.eq(shown),
            o.p.slot.there.eq(shown.slot.there & ~shown.lost),
        ]
        with m.If(goes_on):
            m.d.sync += [
                o.valid.eq(asked),
                shown.eq(item),
                shown.slot.eq(table.slot),
                asked.eq(climbs | given.o.valid),
                item.node.eq(table.node),
                item.leaf.eq(~climbs),
            ]
            with m.If(climbs):
                m.d.sync += [above.eq(above - 1), item.last.eq(ended & (above == 1))]
            with m.Elif(given.o.valid):
                m.d.sync += [
                    item.number.eq(number),
                    item.alternate.eq(way != 0),
                    item.lost.eq(record.lost),
                    item.last.eq(final),
                    ended.eq(final),
                    way.eq(Mux(final, 0, way + 1)),
                    number.eq(number + final),
                ]
                if table.paths:
                    with m.If(self.paths):
                        m.d.sync += [above.eq(length - 1), item.last.eq(final & (length == 1))]
