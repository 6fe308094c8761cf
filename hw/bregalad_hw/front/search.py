"""Find a number's code: how many of its attribute's edges are at or below it."""

from amaranth import Module
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH
from bregalad.protocol.rows import KEY_BYTES

from ..delay import delay
from ..members import drive

_FEW_ROWS = 32  # of a level that lies in distributed RAM


def sought_layout(rows):
    """A key on its way to its code, or an edge on its way to its place."""
    return data.StructLayout(
        {
            "key": 8 * KEY_BYTES,
            "out": 1,  # a missing value; of an edge: there is none
            "path": CODE_WIDTH,  # the code as far as it is known, from its highest bit on; an edge's number plus 1
            "row": range(rows),
            "write": 1,  # an edge
        }
    )


def _is_block(rows, level):
    return rows << level > _FEW_ROWS


def search_latency(rows):
    """Clocks that a `Search` takes: two a level, three where a block RAM has to answer."""
    return sum(3 if _is_block(rows, level) else 2 for level in range(CODE_WIDTH))


class Search(wiring.Component):
    """A binary search in eight levels, each with a memory of its own.

    Level l finds bit 7 - l of the code: it compares the key with one of the 2**l edges that the bits above choose
    among. Edge e of an attribute, 0 to 254, lies where the bits of e + 1 lead, above its lowest 1. An edge passes
    through all levels like a key, and is written at its own: keys before it find the old one, keys behind it the new.

    Parameters
    ----------
    rows : int
        Attributes whose edges are held.

    Members
    -------
    i : In(sought_layout(rows))
        A key, an edge or, if nobody looks at what comes out, anything.
    o : Out(sought_layout(rows))
        The key as it was, and its code in ``path``.

    Latency: ``latency`` clocks, `search_latency`. Throughput: 1 per clock, no stalls. An edge that was never written
    is anything.
    """

    levels = CODE_WIDTH

    def __init__(self, rows):
        self.rows = rows
        self.latency = search_latency(rows)
        super().__init__({"i": In(sought_layout(rows)), "o": Out(sought_layout(rows))})

    def elaborate(self, platform):
        m = Module()
        sought = self.i
        for level in range(self.levels):
            sought = self._level(m, level, sought)
        m.d.comb += self.o.eq(sought)
        return m

    def _level(self, m, level, sought):
        """What leaves a level, with one bit more of its path."""
        block = _is_block(self.rows, level)
        bit = CODE_WIDTH - 1 - level
        m.submodules[f"level_{level}"] = edges = memory.Memory(
            shape=data.StructLayout({"key": 8 * KEY_BYTES, "out": 1}),
            depth=max(2, self.rows << level),
            init=[],
            attrs={"ram_style": "block" if block else "distributed"},
        )
        write, read = edges.write_port(), edges.read_port()
        place = sought.path[bit + 1 :] | (sought.row << level)
        m.d.comb += [
            read.addr.eq(place),
            write.addr.eq(place),
            *drive(write.data, key=sought.key, out=sought.out),
            # The edge's level: the lowest 1 of its path.
            write.en.eq(sought.write & (sought.path[: bit + 1] == 1 << bit)),
        ]
        edge = read.data
        sought = delay(m, sought, 1, f"read_{level}")
        if block:  # which takes half a clock to answer
            edge = delay(m, edge, 1, f"edge_{level}")
            sought = delay(m, sought, 1, f"kept_{level}")
        after = delay(m, sought, 1, f"found_{level}")
        with m.If(~sought.write):
            m.d.sync += after.path[bit].eq((sought.key >= edge.key) & ~edge.out)
        return after
