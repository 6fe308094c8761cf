"""The slot table: what the board knows about a tree node besides its statistics."""

from contextlib import nullcontext

from amaranth import Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import NONE
from bregalad.protocol.registers import find

from ..array.operation import level_of, place_of, rows_layout, slot_of, slot_shape
from .paths import PathTable, path_layout

__all__ = [
    "EMPTY_ENTRY",
    "SINCE_WIDTH",
    "SlotTable",
    "answer_one",
    "ask_one",
    "entry_layout",
    "row_of",
    "rows_signature",
    "table_signature",
]

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
            "base": g.count_width,  # how many they are
            "ask_up_to": g.count_width,  # instances up to which every trial is a proposal
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


def table_signature(geometry):
    """Access to one slot at a time, seen from who reads and writes."""
    slot, entry = slot_shape(geometry), entry_layout(geometry)
    return wiring.Signature(
        {
            "r_en": Out(1),
            "r_slot": Out(slot),
            "r_take": Out(1),
            "r_entry": In(entry),
            "w_en": Out(1),
            "w_slot": Out(slot),
            "w_entry": Out(entry),
            "w_link": Out(1),  # the link may have changed
            "settled": In(1),
        }
    )


def rows_signature(geometry):
    """Access to a slot of every level at a time, and to paths."""
    g = geometry
    rows, entries = rows_layout(g), data.ArrayLayout(entry_layout(g), g.levels)
    return wiring.Signature(
        {
            "r_en": Out(1),
            "r_rows": Out(rows),
            "r_take": Out(1),
            "r_entries": In(entries),
            "w_on": Out(g.levels),
            "w_rows": Out(rows),
            "w_entries": Out(entries),
            "w_link": Out(1),  # the link of the only slot that is written may have changed
            "path_en": Out(1),
            "path_slot": Out(slot_shape(g)),
            "path": In(path_layout(g)),
            "settled": In(1),
        }
    )


def ask_one(m, geometry, table, port):
    """Ask a table what one asks for who has a slot at a time, and asks for no other until it has the row."""
    g = geometry
    m.d.comb += [
        port.r_en.eq(table.r_en),
        port.r_take.eq(table.r_take),
        *(row.eq(place_of(g, table.r_slot)) for row in port.r_rows),
        *(port.w_on[level].eq(table.w_en & (level_of(g, table.w_slot) == level)) for level in range(g.levels)),
        port.w_link.eq(table.w_link),
        *(row.eq(place_of(g, table.w_slot)) for row in port.w_rows),
        *(entry.eq(table.w_entry) for entry in port.w_entries),
    ]


def answer_one(m, geometry, table, port):
    """Tell the same what the table says, whoever has asked it."""
    m.d.comb += [
        table.r_entry.eq(port.r_entries[level_of(geometry, table.r_slot)]),
        table.settled.eq(port.settled),
    ]


class SlotTable(wiring.Component):
    """One row per slot, a memory for each level, and its link again in a `PathTable`, so that a path
    can be followed while the rows are under way.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    port : In(rows_signature)
        With ``r_take``, each of ``r_entries`` becomes the row of the last of ``r_rows`` with ``r_en``,
        of a clock before at the latest; ``path`` is that of the last ``path_slot`` with ``path_en``.
        Both stay until the next. What is written in the clock of ``r_en`` reads as anything. Of
        ``settled`` see `PathTable`.

    Latency: 2 cycles from ``r_en`` to ``r_entries``, where ``r_take`` follows at once, and 1 from
    ``path_en`` to ``path``. Rows are empty after configuration; a reset of the clock domain leaves
    them as they are.

    Source: design, section 6.
    """

    latency = 2

    def __init__(self, geometry):
        self.geometry = geometry
        super().__init__({"port": In(rows_signature(geometry))})

    def elaborate(self, platform):
        m = Module()
        g, port = self.geometry, self.port
        m.submodules.paths = paths = PathTable(g)
        m.d.comb += [
            paths.read.en.eq(port.path_en),
            paths.read.slot.eq(port.path_slot),
            port.path.eq(paths.read.path),
            port.settled.eq(paths.settled),
        ]
        link = Signal(16)  # of the only slot that is written, if it may have changed
        m.d.comb += [
            paths.write.en.eq(port.w_link & port.w_on.any()),
            paths.write.link.eq(link),
            paths.write.there.eq(link != NONE),
        ]
        for level in range(g.levels):
            with m.If(port.w_on[level]) if level else nullcontext():
                m.d.comb += [
                    paths.write.slot.eq(slot_of(g, level, port.w_rows[level])),
                    link.eq(port.w_entries[level].link),
                ]
            places = g.slots // g.levels
            m.submodules[f"rows_{level}"] = rows = memory.Memory(
                shape=entry_layout(g), depth=places, init=[EMPTY_ENTRY] * places
            )
            write, read = rows.write_port(), rows.read_port()
            # A block RAM takes half a clock to answer: whoever chooses by what it says has a clock.
            row = Signal(entry_layout(g), name=f"row_{level}", reset_less=True)
            with m.If(port.r_take):
                m.d.sync += row.eq(read.data)
            m.d.comb += [
                read.en.eq(port.r_en),
                read.addr.eq(port.r_rows[level]),
                port.r_entries[level].eq(row),
                write.en.eq(port.w_on[level]),
                write.addr.eq(port.w_rows[level]),
                write.data.eq(port.w_entries[level]),
            ]
        return m
