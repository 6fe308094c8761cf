"""The accelerator as a core with streams: AXI4-Lite registers, AXI4-Stream commands and reports."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.registers import REGISTERS

from ..accelerator import Accelerator
from .lite import RegisterPort, lite_signature

__all__ = ["StreamCore", "stream_signature"]

_CALM = 16  # clocks for which nothing has been under way, until all that tells of it has come


def stream_signature(data_width):
    """An AXI4-Stream of whole words, seen from who sends.

    Source: Arm IHI 0051.
    """
    return wiring.Signature({"tdata": Out(data_width), "tvalid": Out(1), "tready": In(1), "tlast": Out(1)})


class StreamCore(wiring.Component):
    """Accelerator without memory, and its registers.

    Parameters
    ----------
    geometry : Geometry
        Without a node table.

    Members
    -------
    s_axi : In(AXI4-Lite)
        The accelerator's registers. A write waits until nothing is under way.
    s_axis : In(AXI4-Stream of ``geometry.bus_width`` bits)
        Commands and records; ``tlast`` means nothing.
    m_axis : Out(AXI4-Stream of 32 bits)
        Reports; ``tlast`` with the last word of each.

    Latency, throughput: those of `RegisterPort` and `Accelerator`.

    Raises
    ------
    ValueError
        If the geometry has a node table, whose records come from memory, or more classes than hardware counts.
    """

    def __init__(self, geometry):
        if geometry.nodes:
            raise ValueError(f"a core with streams alone has no memory for rows: nodes must be 0, not {geometry.nodes}")
        self.geometry = geometry
        self.accelerator = Accelerator(geometry, memory=False)
        super().__init__(
            {
                "s_axi": In(lite_signature()),
                "s_axis": In(stream_signature(geometry.bus_width)),
                "m_axis": Out(stream_signature(32)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.accelerator = accelerator = self.accelerator
        m.submodules.port = port = RegisterPort(REGISTERS, ())
        connect(m, flipped(self.s_axi), port.axi)
        connect(m, port.csr, accelerator.csr)
        calm = Signal(range(_CALM))
        with m.If(accelerator.busy | self.s_axis.tvalid):
            m.d.sync += calm.eq(0)
        with m.Elif(calm != _CALM - 1):
            m.d.sync += calm.eq(calm + 1)
        m.d.comb += [
            port.open.eq(1),
            port.halted.eq(1),
            port.quiet.eq(calm == _CALM - 1),
            accelerator.commands.valid.eq(self.s_axis.tvalid),
            accelerator.commands.payload.eq(self.s_axis.tdata),
            self.s_axis.tready.eq(accelerator.commands.ready),
            self.m_axis.tvalid.eq(accelerator.reports.valid),
            self.m_axis.tdata.eq(accelerator.reports.p.data),
            self.m_axis.tlast.eq(accelerator.reports.p.last),
            accelerator.reports.ready.eq(self.m_axis.tready),
        ]
        return m
