"""ULX3S: the accelerator behind the board's USB serial port."""

from amaranth import ClockDomain, Elaboratable, Module
from amaranth.lib import io

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
    baud : int
        Bits per second of the serial port.
    **sizes
        Of `Link`.
    """

    def __init__(self, geometry, clock_hz, *, baud=BAUD, **sizes):
        self.pll = PhaseLockedLoop(25e6, clock_hz)
        self.clock_hz = self.pll.hz
        self.linked = LinkedAccelerator(geometry, clock_hz=int(self.clock_hz), baud=baud, **sizes)

    def elaborate(self, platform):
        m = Module()
        m.submodules.pll = pll = self.pll
        # A reset of all registers would be the widest net of the device, and its slowest.
        m.domains.sync = sync = ClockDomain(reset_less=True)
        m.submodules.linked = linked = self.linked
        uart = platform.request("uart", dir=dict.fromkeys(("rx", "tx", "rts", "dtr"), "-"))
        m.submodules.clock_pin = clock = io.Buffer("i", platform.request("clk25", dir="-"))
        m.submodules.rx_pin = rx = io.Buffer("i", uart.rx)
        m.submodules.tx_pin = tx = io.Buffer("o", uart.tx)
        m.d.comb += [pll.i.eq(clock.i), sync.clk.eq(pll.started),
                     linked.rx.eq(rx.i), tx.o.eq(linked.tx)]
        for number, value in ((0, linked.alive), (1, linked.receiving), (2, linked.dropping),
                              (7, 1)):
            led = io.Buffer("o", platform.request("led", number, dir="-"))
            m.submodules[f"led_{number}_pin"] = led
            m.d.comb += led.o.eq(value)
        return m
