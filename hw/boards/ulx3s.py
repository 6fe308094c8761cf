"""ULX3S: the accelerator behind the board's USB serial port."""

from amaranth import Elaboratable, Module

from ..link.linked import LinkedAccelerator
from .pll import PhaseLockedLoop

__all__ = ["ULX3S"]

BAUD = 3_000_000  # the fastest that the FT231X has


class ULX3S(Elaboratable):
    """Top level.

    LEDs: 0 a session lives, 1 a good frame, 2 a damaged one or a stranger's, 7 configured.

    Parameters
    ----------
    geometry : Geometry
    clock_hz : float
        Of the array; the next that the PLL has is taken.
    """

    def __init__(self, geometry, clock_hz):
        self.pll = PhaseLockedLoop(25e6, clock_hz)
        self.clock_hz = self.pll.hz
        self.linked = LinkedAccelerator(geometry, clock_hz=int(self.clock_hz), baud=BAUD)

    def elaborate(self, platform):
        m = Module()
        m.submodules.pll = pll = self.pll
        m.submodules.linked = linked = self.linked
        uart = platform.request("uart")
        leds = [platform.request("led", number).o for number in (0, 1, 2, 7)]
        m.d.comb += [
            pll.i.eq(platform.request("clk25").i),
            linked.rx.eq(uart.rx.i),
            uart.tx.o.eq(linked.tx),
            *(led.eq(value) for led, value in zip(
                leds, (linked.alive, linked.receiving, linked.dropping, 1), strict=True)),
        ]
        return m
