"""Run-time configuration: from the registers to the blocks that it concerns."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.registers import CONFIGURATION

__all__ = ["Limits", "configuration_signature"]


def configuration_signature(registers=CONFIGURATION):
    """What the host has written, seen from the registers: ``<register>.<field>``."""
    return wiring.Signature(
        {
            register.name: Out(
                wiring.Signature({field.name: Out(field.width, init=field.reset) for field in register.fields})
            )
            for register in registers
        }
    )


class Limits(wiring.Component):
    """Keep the cells and classes in use within what the board has.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    i : In(configuration_signature())
    o : Out(configuration_signature())
        ``cells.count`` from 1 to ``geometry.max_cells``, ``classes.count`` up to ``geometry.classes``; else as `i`.

    Latency: 1 cycle for the cells, none for the others.
    """

    latency = 1

    def __init__(self, geometry):
        self.geometry = geometry
        super().__init__({"i": In(configuration_signature()), "o": Out(configuration_signature())})

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        connect(m, flipped(self.i), flipped(self.o))
        # What follows takes the place of what was connected.
        written, cells = self.i.cells.count, Signal.like(self.i.cells.count)
        with m.If(written == 0):
            m.d.sync += cells.eq(1)
        with m.Elif(written > g.max_cells):
            m.d.sync += cells.eq(g.max_cells)
        with m.Else():
            m.d.sync += cells.eq(written)
        classes = self.i.classes.count
        m.d.comb += [
            self.o.cells.count.eq(cells),
            self.o.classes.count.eq(Mux(classes > g.classes, g.classes, classes)),
        ]
        return m
