"""Cores with the names by which vendors' tools know their ports, and with their clocks."""

from amaranth import ClockDomain, Module
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer, ResetSynchronizer
from amaranth.lib.wiring import In, Out, connect

from .core import AxiCore
from .crossing import AxiCrossing
from .stream import StreamCore

__all__ = ["AxiTop", "StreamTop"]

_BUSES = ("s_axi", "m_axi", "s_axis", "m_axis")


class _Top(wiring.Component):
    """A core with flat ports.

    Members
    -------
    aclk : In(1), aresetn : In(1)
        Clock of all buses, and its reset, 0 while it lasts, in time with the clock.
    array_clk : In(1)
        With two clocks: that of all within the buses. A reset lasts 16 of both then.
    <bus>_... : the core's buses
    interrupt : Out(1)
        Of a core that has one.
    """

    def __init__(self, core, clocks):
        if clocks not in (1, 2):
            raise ValueError(f"clocks must be 1 or 2, not {clocks!r}")
        self.core = core
        self.clocks = clocks
        members = core.signature.members
        self.buses = [bus for bus in _BUSES if bus in members]
        flat = {
            f"{bus}_{name}": member
            for bus in self.buses
            for name, member in getattr(core, bus).signature.members.items()
        }
        super().__init__(
            {
                "aclk": In(1),
                "aresetn": In(1),
                **({"array_clk": In(1)} if clocks == 2 else {}),
                **flat,
                **({"interrupt": Out(1)} if "interrupt" in members else {}),
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
        else:
            m.d.comb += [sync.clk.eq(self.aclk), sync.rst.eq(~self.aresetn)]
        for name in self.buses:
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
        if "interrupt" in self.signature.members:
            if self.clocks == 2:
                m.submodules.interrupt_sync = FFSynchronizer(core.interrupt, self.interrupt, o_domain="bus")
            else:
                m.d.comb += self.interrupt.eq(core.interrupt)
        return m


class AxiTop(_Top):
    """`AxiCore` as a module of its own.

    Parameters
    ----------
    geometry, **options
        As of `AxiCore`.
    clocks : int
        1, or 2: a clock for the buses, and one for all else.

    Members
    -------
    aclk, aresetn, s_axi_..., m_axi_..., interrupt; with two clocks array_clk

    Latency: that of `AxiCore`, and with two clocks of `AxiCrossing` on each way.

    Raises
    ------
    ValueError
        As `AxiCore`.
    """

    def __init__(self, geometry, clocks=1, **options):
        super().__init__(AxiCore(geometry, **options), clocks)


class StreamTop(_Top):
    """`StreamCore` as a module of its own.

    Parameters
    ----------
    geometry : Geometry
        As of `StreamCore`.
    clocks : int
        As of `AxiTop`.

    Members
    -------
    aclk, aresetn, s_axi_..., s_axis_..., m_axis_...; with two clocks array_clk

    Latency: that of `StreamCore`, and with two clocks of `AxiCrossing` on each way.

    Raises
    ------
    ValueError
        As `StreamCore`.
    """

    def __init__(self, geometry, clocks=1):
        super().__init__(StreamCore(geometry), clocks)
