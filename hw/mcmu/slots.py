"""The slot table: what the board knows about a tree node besides its statistics."""

from amaranth import Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from ...geometry import NONE
from ..array.operation import slot_shape

__all__ = ["SINCE_WIDTH", "SlotTable", "empty_entry", "entry_layout", "row_of",
           "table_signature"]

SINCE_WIDTH = 24


def entry_layout(geometry):
    """A row of the slot table."""
    g = geometry
    return data.StructLayout({
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
    })


def row_of(entry):
    """A row of the values of a slot's entry, which has its period as such."""
    period = entry.get("period", 0)
    return {**{key: value for key, value in entry.items() if key != "period"},
            "timed": period != 0, "limit": (period - 1) & 0xFFFF}


def empty_entry():
    """A cleared slot; what is not named is 0."""
    return {"link": NONE, "current": NONE}


def link_layout(geometry):
    """A slot's link by itself."""
    return data.StructLayout({"slot": slot_shape(geometry), "there": 1})


def table_signature(geometry):
    """Access to the slot table, seen from who reads and writes."""
    slot, entry = slot_shape(geometry), entry_layout(geometry)
    return wiring.Signature({
        "r_en": Out(1), "r_slot": Out(slot), "r_take": Out(1), "r_entry": In(entry),
        "w_en": Out(1), "w_slot": Out(slot), "w_entry": Out(entry),
        "w_link": Out(1),  # the link may have changed
        "link_en": Out(1), "link_slot": Out(slot), "link": In(link_layout(geometry)),
    })


class SlotTable(wiring.Component):
    """One row per slot, and its link again in a memory of its own, so that a path can be followed
    while the rows are under way.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    port : In(table_signature)
        With ``r_take``, ``r_entry`` becomes the row of the last ``r_slot`` with ``r_en``, of a
        clock before at the latest; ``link`` is the link of the last ``link_slot`` with ``link_en``.
        Both stay until the next. What is written in the clock of ``r_en`` reads as anything.

    Latency: 2 cycles from ``r_en`` to ``r_entry``, where ``r_take`` follows at once, and 1 from
    ``link_en`` to ``link``. Rows are empty after configuration; a reset of the clock domain leaves
    them as they are.

    Source: design, section 6.
    """

    latency = 2

    def __init__(self, geometry):
        self.geometry = geometry
        super().__init__({"port": In(table_signature(geometry))})

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        m.submodules.rows = rows = memory.Memory(
            shape=entry_layout(g), depth=g.slots, init=[empty_entry()] * g.slots)
        write = rows.write_port()
        read = rows.read_port()
        m.submodules.links = links = memory.Memory(
            shape=link_layout(g), depth=g.slots, init=[{"there": 0}] * g.slots)
        link_write, link_read = links.write_port(), links.read_port()
        port = self.port
        # A block RAM takes half a clock to answer: whoever chooses by what it says has a clock.
        row = Signal(entry_layout(g), reset_less=True)
        with m.If(port.r_take):
            m.d.sync += row.eq(read.data)
        m.d.comb += [
            read.en.eq(port.r_en), read.addr.eq(port.r_slot), port.r_entry.eq(row),
            write.en.eq(port.w_en), write.addr.eq(port.w_slot), write.data.eq(port.w_entry),
            link_write.en.eq(port.w_en & port.w_link), link_write.addr.eq(port.w_slot),
            link_write.data.slot.eq(port.w_entry.link),
            link_write.data.there.eq(port.w_entry.link != NONE),
            link_read.en.eq(port.link_en), link_read.addr.eq(port.link_slot),
            port.link.eq(link_read.data),
        ]
        return m
