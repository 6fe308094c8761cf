"""The core with the names by which vendors' tools know its ports, and with its clocks."""

from amaranth import ClockDomain, Module
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer, ResetSynchronizer
from amaranth.lib.wiring import In, Out, connect

from .core import AxiCore
from .crossing import AxiCrossing

_BUSES = ("s_axi", "m_axi")


class AxiTop(wiring.Component):
    """`AxiCore` as a module of its own, with flat ports.

    Parameters
    ----------
    geometry, **options
        As of `AxiCore`.
    clocks : int
        1, or 2: a clock for the buses, and one for all else.

    Members
    -------
    aclk : In(1), aresetn : In(1)
        Clock of all buses, and its reset, 0 while it lasts, in time with the clock.
    array_clk : In(1)
        With two clocks: that of all within the buses. A reset lasts 16 of both then.
    s_axi_..., m_axi_..., interrupt : those of the core

    Latency: that of `AxiCore`, and with two clocks of `AxiCrossing` on each way.
    """

    def __init__(self, geometry, clocks=1, **options):
        if clocks not in (1, 2):
            raise ValueError(f"clocks must be 1 or 2, not {clocks!r}")
        self.core = core = AxiCore(geometry, **options)
        self.clocks = clocks
        flat = {
            f"{bus}_{name}": member for bus in _BUSES for name, member in getattr(core, bus).signature.members.items()
        }
        super().__init__(
            {
                "aclk": In(1),
                "aresetn": In(1),
                **({"array_clk": In(1)} if clocks == 2 else {}),
                **flat,
                "interrupt": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.core = core = self.core
        m.domains.sync = sync = ClockDomain()
        if self.clocks == 2:
            m.domains.bus = bus = ClockDomain()
            m.d.comb += [bus.clk.eq(self.aclk), bus.rst.eq(~self.aresetn), sync.clk.eq(self.array_clk)]
            m.submodules.reset = ResetSynchronizer(~self.aresetn, domain="sync")
            m.submodules.interrupt_sync = FFSynchronizer(core.interrupt, self.interrupt, o_domain="bus")
        else:
            m.d.comb += [sync.clk.eq(self.aclk), sync.rst.eq(~self.aresetn), self.interrupt.eq(core.interrupt)]
        for name in _BUSES:
            inner = getattr(core, name)
            outer, member = inner, core.signature.members[name]
            if self.clocks == 2:
                manages = member.flow is Out
                signature = member.signature if manages else member.signature.flip()
                domains = ("sync", "bus") if manages else ("bus", "sync")
                m.submodules[f"{name}_crossing"] = crossing = AxiCrossing(signature, *domains)
                near, outer = (crossing.i, crossing.o) if manages else (crossing.o, crossing.i)
                connect(m, inner, near)
            for part in outer.signature.members:
                ours, theirs = getattr(self, f"{name}_{part}"), getattr(outer, part)
                out = self.signature.members[f"{name}_{part}"].flow is Out
                m.d.comb += ours.eq(theirs) if out else theirs.eq(ours)
        return m
