"""Paths to the root, as far as their nodes are counted together."""

from amaranth import Assert, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from ..array.operation import level_of, place_of, rows_layout, slot_of, slot_shape

__all__ = ["PathTable", "path_layout"]


def _link_layout(geometry):
    """Where a path goes on."""
    return data.StructLayout({"next": slot_shape(geometry), "there": 1})  # is one


def _group_layout(geometry):
    """A slot and the next on its path to the root, no two of one level; where the path goes on."""
    g = geometry
    return data.StructLayout(
        {
            "on": g.levels,  # levels that have one
            "rows": rows_layout(g),
            "order": data.ArrayLayout(g.level_bits, g.levels),  # the slot is number 0
            **_link_layout(g).members,
        }
    )


def path_layout(geometry):
    """A slot, and the group that begins there."""
    return data.StructLayout({"slot": slot_shape(geometry), **_group_layout(geometry).members})


class PathTable(wiring.Component):
    """Keep for every slot which others are counted together with it.

    What is counted together with the slot that a link leads to is counted together with the
    link's own slot too, unless there were two of one level then: the path goes on after it. When
    a link changes, every slot whose path leads through its slot is brought up to date, one in a
    clock; should two of one level meet then, the path goes on after the link there, too. How many
    links lead to a slot is counted: to a tree's new leaf there are none, and nothing else changes.
    With one level no slot is counted together with another, so its path is its link.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    read : {en, slot: In, path: Out(path_layout)}
        ``path`` is that of the last ``slot`` with ``en``, a clock later.
    write : In({en, slot, link, there})
        The slot's link; only while settled. What is read in that clock and before the next ``settled`` is anything.
    settled : Out(1)
        Falls after a write, with several levels: for 2 clocks if the link stays what it was, 7 if no
        links lead to the slot, ``slots`` + 6 otherwise.

    Latency: 1 clock from ``en`` to ``path``; ``settled`` tells when a write is done.

    Slots have no links after configuration; a reset of the clock domain leaves them as they are if
    the table is settled, and must not come otherwise.

    Source: design, section 6.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        slot = slot_shape(g)
        super().__init__(
            {
                "read": In(wiring.Signature({"en": Out(1), "slot": Out(slot), "path": In(path_layout(g))})),
                "write": In(wiring.Signature({"en": Out(1), "slot": Out(slot), "link": Out(slot), "there": Out(1)})),
                "settled": Out(1, init=1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        asked = Signal(slot_shape(self.geometry))
        with m.If(self.read.en):
            m.d.sync += asked.eq(self.read.slot)
        m.d.comb += self.read.path.slot.eq(asked)
        if self.geometry.levels == 1:
            self._links(m)
        else:
            self._groups(m)
        return m

    def _links(self, m):
        g, path = self.geometry, self.read.path
        m.submodules.links = links = memory.Memory(shape=_link_layout(g), depth=g.slots, init=[])
        read, write = links.read_port(), links.write_port()
        m.d.comb += [
            read.en.eq(self.read.en),
            read.addr.eq(self.read.slot),
            path.on.eq(1),
            path.rows[0].eq(path.slot),
            *(path[name].eq(read.data[name]) for name in _link_layout(g).members),
            write.en.eq(self.write.en),
            write.addr.eq(self.write.slot),
            write.data.next.eq(self.write.link),
            write.data.there.eq(self.write.there),
        ]

    def _groups(self, m):
        g = self.geometry
        alone = [
            {
                "on": 1 << (slot % g.levels),
                "rows": [slot >> g.level_bits if level == slot % g.levels else 0 for level in range(g.levels)],
            }
            for slot in range(g.slots)
        ]
        m.submodules.paths = paths = memory.Memory(shape=_group_layout(g), depth=g.slots, init=alone)
        read, write = paths.read_port(), paths.write_port()
        m.d.comb += [self.read.path[name].eq(read.data[name]) for name in _group_layout(g).members]

        m.submodules.counts = counts = memory.Memory(
            shape=range(g.slots + 1), depth=g.slots, init=[]
        )  # of the links that lead to a slot
        count, recount = counts.read_port(), counts.write_port()

        slot, link, there = Signal(slot_shape(g)), Signal(slot_shape(g)), Signal()
        level = level_of(g, slot)
        old, old_there = Signal(slot_shape(g)), Signal()  # the link that was
        was, was_there = Signal(slot_shape(g)), Signal()  # the same, beside the slot's path
        behind = Signal(_group_layout(g))  # the link's
        at, looked = Signal(range(g.slots)), Signal(range(g.slots))
        found, new = read.data, write.data
        leads = Signal()  # the path that is looked at leads through the slot
        number = Signal(g.level_bits)  # of the slot on that path
        keeps, joins = Signal(g.levels), Signal()
        m.d.comb += [
            leads.eq(found.on.bit_select(level, 1) & (found.rows[level] == place_of(g, slot))),
            number.eq(found.order[level]),
            joins.eq(there & ((keeps & behind.on) == 0)),
            write.addr.eq(looked),
            new.next.eq(Mux(joins, behind.next, link)),
            new.there.eq(there & (~joins | behind.there)),
            was.eq(found.next),
            was_there.eq(found.there),
        ]
        for each in range(g.levels):
            m.d.comb += [
                keeps[each].eq(found.on[each] & (found.order[each] <= number)),
                new.on[each].eq(keeps[each] | (joins & behind.on[each])),
                new.rows[each].eq(Mux(keeps[each], found.rows[each], behind.rows[each])),
                new.order[each].eq(Mux(keeps[each], found.order[each], behind.order[each] + number + 1)),
            ]
            with m.If(found.on[each] & (found.order[each] == 1)):
                m.d.comb += [was.eq(slot_of(g, each, found.rows[each])), was_there.eq(1)]

        asked = Signal()  # how many links lead to a slot
        # A block RAM may give anything then.
        m.d.sync += Assert(~(asked & recount.en & (count.addr == recount.addr)), "a number is read as it is written")

        def settle():
            m.d.sync += self.settled.eq(1)
            m.next = "SETTLED"

        with m.FSM(name="state"):
            with m.State("SETTLED"):
                m.d.comb += [read.en.eq(self.read.en), read.addr.eq(self.read.slot)]
                m.d.sync += [
                    slot.eq(self.write.slot),
                    there.eq(self.write.there),
                    at.eq(0),
                    link.eq(Mux(self.write.there, self.write.link, 0)),
                ]
                with m.If(self.write.en):
                    m.d.sync += self.settled.eq(0)
                    m.next = "SLOT"

            with m.State("SLOT"):
                m.d.comb += [read.en.eq(1), read.addr.eq(slot)]
                m.next = "LINK"

            with m.State("LINK"):
                m.d.comb += [read.en.eq(1), read.addr.eq(link), count.addr.eq(was)]
                m.d.sync += [old.eq(was), old_there.eq(was_there)]
                m.next = "BEHIND"
                with m.If((was_there == there) & (~there | (was == link))):
                    settle()

            with m.State("BEHIND"):
                m.d.sync += behind.eq(found)
                m.d.comb += [
                    recount.en.eq(old_there),
                    recount.addr.eq(old),
                    recount.data.eq(count.data - 1),
                    count.addr.eq(link),
                    asked.eq(there),
                ]
                m.next = "COUNT"

            with m.State("COUNT"):
                m.d.comb += [recount.en.eq(there), recount.addr.eq(link), recount.data.eq(count.data + 1)]
                m.next = "LED"

            with m.State("LED"):  # a clock later, for the link may be to the slot itself
                m.d.comb += [count.addr.eq(slot), asked.eq(1)]
                m.next = "BEGIN"

            with m.State("BEGIN"):
                m.d.comb += read.en.eq(1)
                with m.If(count.data == 0):
                    m.d.comb += read.addr.eq(slot)
                    m.d.sync += looked.eq(slot)
                    m.next = "SLOT_ALONE"
                with m.Else():
                    m.d.comb += read.addr.eq(at)
                    m.d.sync += [looked.eq(at), at.eq(at + 1)]
                    m.next = "SWEEP"

            with m.State("SLOT_ALONE"):
                m.d.comb += write.en.eq(1)
                settle()

            with m.State("SWEEP"):
                m.d.comb += [read.en.eq(1), read.addr.eq(at), write.en.eq(leads)]
                m.d.sync += [looked.eq(at), at.eq(at + 1)]
                with m.If(looked == g.slots - 1):
                    settle()
