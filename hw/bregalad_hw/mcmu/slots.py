"""The slot table: what the board knows about a tree node besides its statistics."""

from amaranth import Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import NONE
from bregalad.protocol.registers import find

from ..array.operation import row_shape, slot_shape
from .paths import PathTable, path_layout

__all__ = [
    "SINCE_WIDTH",
    "SlotTable",
    "connect_one",
    "empty_entry",
    "entry_layout",
    "row_of",
    "rows_layout",
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
        }
    )


def row_of(entry):
    """A row of the values of a slot's entry, which has its period as such."""
    period = entry.get("period", 0)
    return {
        **{key: value for key, value in entry.items() if key != "period"},
        "timed": period != 0,
        "limit": (period - 1) & 0xFFFF,
    }


def empty_entry():
    """A cleared slot; what is not named is 0."""
    return {"link": NONE, "current": NONE}


def link_layout(geometry):
    """A slot's link by itself."""
    return data.StructLayout({"slot": slot_shape(geometry), "there": 1})


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
            **(
                {"link_en": Out(1), "link_slot": Out(slot), "link": In(link_layout(geometry))}
                if geometry.levels == 1
                else {"settled": In(1)}
            ),
        }
    )


def rows_layout(geometry):
    """A slot's row in every level."""
    return data.ArrayLayout(row_shape(geometry), geometry.levels)


def rows_signature(geometry):
    """Access to a slot of every level at a time, and to paths; of one level `table_signature`."""
    g = geometry
    if g.levels == 1:
        return table_signature(g)
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


def connect_one(m, geometry, table, port):
    """Let who has a slot at a time, and asks for no other until it has the row, use a table."""
    g = geometry
    if g.levels == 1:
        wiring.connect(m, table, port)
        return
    m.d.comb += [
        port.r_en.eq(table.r_en),
        port.r_take.eq(table.r_take),
        *(row.eq(table.r_slot[g.level_bits :]) for row in port.r_rows),
        table.r_entry.eq(port.r_entries[table.r_slot[: g.level_bits]]),
        port.w_on.eq(table.w_en << table.w_slot[: g.level_bits]),
        port.w_link.eq(table.w_link),
        *(row.eq(table.w_slot[g.level_bits :]) for row in port.w_rows),
        *(entry.eq(table.w_entry) for entry in port.w_entries),
        table.settled.eq(port.settled),
    ]


class SlotTable(wiring.Component):
    """One row per slot, and its link again in a memory of its own, so that a path can be followed
    while the rows are under way.

    Where a path's nodes are counted together, each level's rows are a memory of their own, and
    `PathTable` takes the place of the links.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    port : In(rows_signature)
        With ``r_take``, ``r_entry`` becomes the row of the last ``r_slot`` with ``r_en``, of a
        clock before at the latest; ``link`` is the link of the last ``link_slot`` with ``link_en``.
        Both stay until the next. What is written in the clock of ``r_en`` reads as anything.
        With several levels so of each, and ``path`` as ``link``; of ``settled`` see `PathTable`.

    Latency: 2 cycles from ``r_en`` to ``r_entry``, where ``r_take`` follows at once, and 1 from
    ``link_en`` to ``link``. Rows are empty after configuration; a reset of the clock domain leaves
    them as they are.

    Source: design, section 6.
    """

    latency = 2

    def __init__(self, geometry):
        self.geometry = geometry
        super().__init__({"port": In(rows_signature(geometry))})

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        if g.levels > 1:
            self._levels(m)
            return m
        m.submodules.rows = rows = memory.Memory(shape=entry_layout(g), depth=g.slots, init=[empty_entry()] * g.slots)
        write = rows.write_port()
        read = rows.read_port()
        m.submodules.links = links = memory.Memory(shape=link_layout(g), depth=g.slots, init=[{"there": 0}] * g.slots)
        link_write, link_read = links.write_port(), links.read_port()
        port = self.port
        # A block RAM takes half a clock to answer: whoever chooses by what it says has a clock.
        row = Signal(entry_layout(g), reset_less=True)
        with m.If(port.r_take):
            m.d.sync += row.eq(read.data)
        m.d.comb += [
            read.en.eq(port.r_en),
            read.addr.eq(port.r_slot),
            port.r_entry.eq(row),
            write.en.eq(port.w_en),
            write.addr.eq(port.w_slot),
            write.data.eq(port.w_entry),
            link_write.en.eq(port.w_en & port.w_link),
            link_write.addr.eq(port.w_slot),
            link_write.data.slot.eq(port.w_entry.link),
            link_write.data.there.eq(port.w_entry.link != NONE),
            link_read.en.eq(port.link_en),
            link_read.addr.eq(port.link_slot),
            port.link.eq(link_read.data),
        ]
        return m

    def _levels(self, m):
        g, port = self.geometry, self.port
        m.submodules.paths = paths = PathTable(g)
        m.d.comb += [
            paths.read.en.eq(port.path_en),
            paths.read.slot.eq(port.path_slot),
            port.path.eq(paths.read.path),
            port.settled.eq(paths.settled),
        ]
        for level in range(g.levels):
            m.submodules[f"rows_{level}"] = rows = memory.Memory(
                shape=entry_layout(g), depth=g.slots // g.levels, init=[empty_entry()] * (g.slots // g.levels)
            )
            write, read = rows.write_port(), rows.read_port()
            row = Signal(entry_layout(g), name=f"row_{level}", reset_less=True)
            with m.If(port.r_take):
                m.d.sync += row.eq(read.data)
            written = port.w_entries[level]
            m.d.comb += [
                read.en.eq(port.r_en),
                read.addr.eq(port.r_rows[level]),
                port.r_entries[level].eq(row),
                write.en.eq(port.w_on[level]),
                write.addr.eq(port.w_rows[level]),
                write.data.eq(written),
            ]
            with m.If(port.w_on[level] & port.w_link):
                m.d.comb += [
                    paths.write.en.eq(1),
                    paths.write.slot.eq((port.w_rows[level] << g.level_bits) | level),
                    paths.write.link.eq(written.link),
                    paths.write.there.eq(written.link != NONE),
                ]
