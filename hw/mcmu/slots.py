"""The slot table: what the board knows about a tree node besides its statistics."""

from amaranth import Module
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from ...geometry import NONE
from ..array.operation import slot_shape

__all__ = ["SINCE_WIDTH", "SlotTable", "empty_entry", "entry_layout", "table_signature"]

SINCE_WIDTH = 24


def entry_layout(geometry):
    """A row of the slot table."""
    g = geometry
    return data.StructLayout({
        "n": g.count_width,
        "since": SINCE_WIDTH,
        "link": 16,
        "current": 16,
        "period": 16,
        "inner": 1,
        "halved": 1,
        "underflow": 1,
        "class_counts": data.ArrayLayout(g.count_width, g.classes),
    })


def empty_entry():
    """A cleared slot; what is not named is 0."""
    return {"link": NONE, "current": NONE}


def table_signature(geometry):
    """Access to the slot table, seen from who reads and writes."""
    slot, entry = slot_shape(geometry), entry_layout(geometry)
    return wiring.Signature({
        "r_en": Out(1), "r_slot": Out(slot), "r_entry": In(entry),
        "w_en": Out(1), "w_slot": Out(slot), "w_entry": Out(entry),
    })


class SlotTable(wiring.Component):
    """One row per slot.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    port : In(table_signature)
        ``r_entry`` is the row of the last ``r_slot`` with ``r_en``, and stays until the next; a
        row written in the same clock is read as written.

    Latency: 1 cycle from ``r_en`` to ``r_entry``. Rows are empty after configuration; a reset of
    the clock domain leaves them as they are.

    Source: design, section 6.
    """

    latency = 1

    def __init__(self, geometry):
        self.geometry = geometry
        super().__init__({"port": In(table_signature(geometry))})

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        m.submodules.rows = rows = memory.Memory(
            shape=entry_layout(g), depth=g.slots, init=[empty_entry()] * g.slots)
        write = rows.write_port()
        read = rows.read_port(transparent_for=(write,))
        port = self.port
        m.d.comb += [
            read.en.eq(port.r_en), read.addr.eq(port.r_slot), port.r_entry.eq(read.data),
            write.en.eq(port.w_en), write.addr.eq(port.w_slot), write.data.eq(port.w_entry),
        ]
        return m
