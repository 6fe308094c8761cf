"""The memory of a board without one."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from ..mcmu.axi import Response, read_signature

__all__ = ["AbsentMemory"]


class AbsentMemory(wiring.Component):
    """Answer every word with DECERR.

    Parameters
    ----------
    data_width : int
        Bits of a bus word.

    Members
    -------
    axi : In(AXI4 read)

    Latency: 1 clock from ``arvalid`` to ``rvalid``.
    """

    def __init__(self, data_width):
        super().__init__({"axi": In(read_signature(data_width))})

    def elaborate(self, platform):
        m = Module()
        axi = self.axi
        left = Signal(8)
        m.d.comb += [
            axi.arready.eq(~axi.rvalid),
            axi.rresp.eq(Response.DECERR),
            axi.rlast.eq(left == 0),
        ]
        with m.If(axi.rvalid):
            with m.If(axi.rready):
                m.d.sync += [left.eq(left - 1), axi.rvalid.eq(left != 0)]
        with m.Elif(axi.arvalid):
            m.d.sync += [axi.rvalid.eq(1), axi.rid.eq(axi.arid), left.eq(axi.arlen)]
        return m
