"""The slot table: what the board knows about a tree node besides its statistics."""

from amaranth import Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import NONE
from bregalad.protocol.registers import find

from ..array.operation import slot_shape
from ..members import drive

SINCE_WIDTH = find("grace").fields[0].width  # it is compared with


def entry_layout(geometry):
    """A row of the slot table."""
    g = geometry
    return data.StructLayout(
        {
            "n": g.count_width,
            "since": SINCE_WIDTH,
            "link": 16,
            "current": 16,
            "timed": 1,  # has a period of its own
            "limit": 16,  # that period less 1
            "inner": 1,
            "halved": 1,
            "underflow": 1,
            "class_counts": data.ArrayLayout(g.count_width, g.classes),
            "only": 16,  # the class of all instances that the split above gave the node; NONE, MANY
            "inherited": g.count_width,  # how many they are
            "all_up_to": g.count_width,  # instances up to which every attempt is a candidate
            "due": 1,  # it is tried at the block's end
            "tried": 1,  # it has been, when the last record's number was
            "tried_at": 32,
        }
    )


def row_of(geometry, entry):
    """A row of the values of a slot's entry, which has its period as such."""
    period = entry.get("period", 0)
    known = entry | {"timed": period != 0, "limit": (period - 1) & 0xFFFF}
    return {key: known[key] for key in entry_layout(geometry).members if key in known}


EMPTY_ENTRY = {"link": NONE, "current": NONE, "only": NONE}  # a cleared slot; what is not named is 0


def link_layout(geometry):
    """A slot, and where its path to the root goes on, if it does."""
    slot = slot_shape(geometry)
    return data.StructLayout({"slot": slot, "next": slot, "there": 1})


def table_signature(geometry):
    """Access to one slot at a time, seen from who reads and writes."""
    slot, entry = slot_shape(geometry), entry_layout(geometry)
    return wiring.Signature(
        {
            **dict.fromkeys(("r_en", "r_take", "w_en"), Out(1)),
            "r_slot": Out(slot),
            "r_entry": In(entry),
            "w_slot": Out(slot),
            "w_entry": Out(entry),
            "w_link": Out(1),  # the link may have changed
        }
    )


def path_signature(geometry):
    """Access to one link at a time, seen from who reads."""
    return wiring.Signature({"en": Out(1), "slot": Out(slot_shape(geometry)), "link": In(link_layout(geometry))})


class SlotTable(wiring.Component):
    """One row per slot, and its link again in a memory of its own, so that a path can be followed while the rows are
    under way.

    Members
    -------
    port : In(table_signature)
        With ``r_take``, ``r_entry`` becomes the row of the last ``r_slot`` with ``r_en``, of a clock before at the
        latest, and stays until the next. What is written in the clock of ``r_en`` reads as anything.
    path : In({en, slot: In, link: Out(link_layout)})
        ``link`` is that of the last ``slot`` with ``en``; what is written with ``w_link`` in that clock reads as
        anything.

    Latency: 2 cycles from ``r_en`` to ``r_entry``, where ``r_take`` follows at once, and 1 from ``path.en`` to
    ``path.link``. Rows are empty after configuration; a reset of the clock domain leaves them as they are.

    Source: design, section 6.
    """

    latency = 2

    def __init__(self, geometry):
        self.geometry = geometry
        super().__init__({"port": In(table_signature(geometry)), "path": In(path_signature(geometry))})

    def elaborate(self, platform):
        m = Module()
        g, port, path = self.geometry, self.port, self.path
        m.submodules.rows = rows = memory.Memory(shape=entry_layout(g), depth=g.slots, init=[EMPTY_ENTRY] * g.slots)
        write, read = rows.write_port(), rows.read_port()
        # A block RAM takes half a clock to answer: whoever chooses by what it says has a clock.
        row = Signal(entry_layout(g), reset_less=True)
        with m.If(port.r_take):
            m.d.sync += row.eq(read.data)
        m.d.comb += [
            *drive(read, en=port.r_en, addr=port.r_slot),
            port.r_entry.eq(row),
            *drive(write, en=port.w_en, addr=port.w_slot, data=port.w_entry),
        ]

        known = link_layout(g)
        m.submodules.links = links = memory.Memory(
            shape=data.StructLayout({name: known[name].shape for name in ("next", "there")}), depth=g.slots, init=[]
        )
        write, read = links.write_port(), links.read_port()
        requested = Signal.like(path.slot)
        with m.If(path.en):
            m.d.sync += requested.eq(path.slot)
        m.d.comb += [
            path.link.slot.eq(requested),
            *drive(read, en=path.en, addr=path.slot),
            *(path.link[name].eq(read.data[name]) for name in ("next", "there")),
            *drive(write, en=port.w_en & port.w_link, addr=port.w_slot),
            *drive(write.data, next=port.w_entry.link, there=port.w_entry.link != NONE),
        ]
        return m
