"""Two managers of one memory port: the rows' and the pages'."""

from amaranth import Array, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..members import assign, drive
from .axi import BURST, axi_signature, end_taken

_UNDER_WAY = 7  # bits of how many bursts are


class MemoryTurns(wiring.Component):
    """Give one of two managers the bus at a time, for memories tell no IDs: the other waits until all is answered.

    Reads and writes have turns of their own. The second manager has them first.

    Parameters
    ----------
    data_width : int

    Members
    -------
    i : In(axi_signature) x 2
        They take words and answers in every clock, and write a word a burst, offered with its address.
    o : Out(axi_signature)

    Latency: 1 clock to ``arvalid``, ``awvalid`` and ``wvalid``, 0 back. Throughput: a read burst per clock, a word
    written in two.
    """

    def __init__(self, data_width):
        super().__init__({"i": In(axi_signature(data_width)).array(2), "o": Out(axi_signature(data_width))})

    def elaborate(self, platform):
        m = Module()
        o = self.o

        def turn(name, wants, free, answered):
            """Whose burst is taken in this clock, and whose are under way."""
            owner, count = Signal(name=f"{name}_owner"), Signal(_UNDER_WAY, name=f"{name}_under_way")
            chosen, take = Signal(name=f"{name}_chosen"), Signal(name=f"{name}_take")
            m.d.comb += [
                chosen.eq(wants[1]),
                take.eq((wants[0] | wants[1]) & free & ((count == 0) | (owner == chosen) & ~count.all())),
            ]
            m.d.sync += count.eq(count + take - answered)
            with m.If(take):
                m.d.sync += owner.eq(chosen)
            return chosen, take, owner

        chosen, take, owner = turn(
            "read", [port.arvalid for port in self.i], ~o.arvalid | o.arready, o.rvalid & o.rready & o.rlast
        )
        first = Array(self.i)[chosen]
        end_taken(m, o, "ar")
        with m.If(take):
            m.d.sync += [o.arvalid.eq(1), *assign(o, first, "araddr", *(f"ar{name}" for name in BURST))]
        m.d.comb += o.rready.eq(1)
        for number, port in enumerate(self.i):
            m.d.comb += [
                *drive(port, arready=take & (chosen == number), rvalid=o.rvalid & (owner == number)),
                *assign(port, o, "rdata", "rresp", "rlast"),
            ]

        chosen, take, owner = turn(
            "write",
            [port.awvalid & port.wvalid for port in self.i],
            ~o.awvalid & ~o.wvalid,
            o.bvalid & o.bready,
        )
        first = Array(self.i)[chosen]
        end_taken(m, o, "aw", "w")
        with m.If(take):
            m.d.sync += [o.awvalid.eq(1), o.wvalid.eq(1)]
            m.d.sync += assign(o, first, "wdata", "wstrb", "awaddr", *(f"aw{name}" for name in BURST))
        m.d.comb += [o.wlast.eq(1), o.bready.eq(1)]
        for number, port in enumerate(self.i):
            m.d.comb += [
                *drive(port, awready=take & (chosen == number), wready=take & (chosen == number)),
                *drive(port, bvalid=o.bvalid & (owner == number), bresp=o.bresp),
            ]
        return m
