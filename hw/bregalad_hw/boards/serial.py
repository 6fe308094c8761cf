"""Boards with a serial port: the accelerator behind it."""

from amaranth import ClockDomain, Elaboratable, Module, Signal
from amaranth.lib import io
from amaranth.lib.wiring import connect

from ..link.linked import LinkedAccelerator
from .memory import CHIPS, MemoryGate, add_core
from .pll import ECP5Clock, GW2AClock, Series7Clock


class SerialBoard(Elaboratable):
    """Top level; a subclass is a board.

    Lights: a session lives, a good frame, a damaged one or a stranger's, configured.

    Parameters
    ----------
    geometry : Geometry
    clock_hz : float
        Of the array; the next that the PLL has is taken.
    baud : int, optional
        Bits per second of the serial port; the board's own by default.
    **sizes
        Of `Link`.
    """

    loop = ECP5Clock
    i_hz = 0  # of the resource `clock`
    clock = ""
    lights = ()  # numbers of the resources `led`
    handshake = ()  # pins of the serial port that are not used
    memory = 0  # bytes
    clocks = {}  # of the loop, besides the array's
    baud = 3_000_000  # the fastest that the ULX3S' FT231X has

    def __init__(self, geometry, clock_hz, *, baud=None, **sizes):
        self.pll = self.loop(self.i_hz, clock_hz, **self.clocks)
        self.clock_hz = self.pll.hz
        self.geometry = geometry
        self.linked = LinkedAccelerator(
            geometry,
            clock_hz=int(self.clock_hz),
            baud=self.baud if baud is None else baud,
            memory=self.memory,
            **({"walkers": None} if self.memory else {}),  # which is faster than a line
            **sizes,
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.pll = pll = self.pll
        # A reset of all registers would be the widest net of the device, and its slowest.
        m.domains.sync = sync = ClockDomain(reset_less=True)
        m.submodules.linked = linked = self.linked
        uart = platform.request("uart", dir=dict.fromkeys(("rx", "tx", *self.handshake), "-"))
        m.submodules.clock_pin = clock = io.Buffer("i", platform.request(self.clock, dir="-"))
        m.submodules.rx_pin = rx = io.Buffer("i", uart.rx)
        m.submodules.tx_pin = tx = io.Buffer("o", uart.tx)
        m.d.comb += [pll.i.eq(clock.i), sync.clk.eq(pll.started), linked.rx.eq(rx.i), tx.o.eq(linked.tx)]
        values = linked.alive, linked.receiving, linked.dropping, 1
        for number, value in zip(self.lights, values, strict=True):
            led = io.Buffer("o", platform.request("led", number, dir="-"))
            m.submodules[f"led_{number}_pin"] = led
            m.d.comb += led.o.eq(value)
        if self.memory:
            self.add_memory(m, platform)
        return m

    def add_memory(self, m, platform):
        """Connect the accelerator to the board's memory."""
        raise NotImplementedError


class ULX3S(SerialBoard):
    """Radiona ULX3S; `SerialBoard` has the parameters.

    Where GPIO0 of its ESP32 is not driven high, that one's stock firmware loads another bitstream after some seconds.
    """

    clock, i_hz = "clk25", 25e6
    lights = 0, 1, 2, 7
    handshake = "rts", "dtr"

    def elaborate(self, platform):
        m = super().elaborate(platform)
        names = "en", "tx", "rx", "gpio0", "gpio5", "gpio16", "gpio17"
        esp32 = platform.request("esp32", dir=dict.fromkeys(names, "-"))
        m.submodules.gpio0_pin = gpio0 = io.Buffer("o", esp32.gpio0)
        m.d.comb += gpio0.o.eq(1)
        return m


class ULX3SMemory(ULX3S):
    """Radiona ULX3S with its SDRAM; `SerialBoard` has the parameters.

    At 50 MHz and with the chip's clock a quarter of a period behind, as LiteX has used this chip on many boards.
    """

    chip = CHIPS["ulx3s"]
    memory = chip.size
    clocks = {"lag": 90}

    def add_memory(self, m, platform):
        linked = self.linked
        m.submodules.gate = gate = MemoryGate(self.geometry.bus_width, self.memory)
        connect(m, linked.m_axi, gate.i)
        pins = {name: Signal(width, name=f"chip_{name}") for name, width in self.chip.pins.items()}
        m.submodules.dram = add_core(platform, self.chip, int(self.clock_hz), gate, pins)
        m.d.comb += gate.reset.eq(linked.reset)

        names = "a", "ba", "dqm", "cs", "ras", "cas", "we"
        directions = dict.fromkeys(("clk", "clk_en", "dq", *names), "-")
        chip = platform.request("sdram", dir=directions)
        for name in names:
            m.submodules[f"{name}_pin"] = pin = io.FFBuffer("o", getattr(chip, name))
            m.d.comb += pin.o.eq(pins[name])
        m.submodules.dq_pin = dq = io.FFBuffer("io", chip.dq)
        m.d.comb += [dq.o.eq(pins["o"]), dq.oe.eq(pins["oe"]), pins["i"].eq(dq.i)]
        # Until the array's clock starts, all these registers are 0, which would be commands.
        m.submodules.clk_en_pin = clock_enable = io.FFBuffer("o", chip.clk_en)
        m.domains.chip = domain = ClockDomain(reset_less=True)
        m.submodules.clk_pin = clock = io.DDRBuffer("o", chip.clk, o_domain="chip")
        m.d.comb += [clock_enable.o.eq(1), domain.clk.eq(self.pll.second), clock.o[0].eq(1), clock.o[1].eq(0)]


class ArtyA7(SerialBoard):
    """Digilent Arty A7; `SerialBoard` has the parameters."""

    loop = Series7Clock
    clock, i_hz = "clk100", 100e6
    lights = 0, 1, 2, 3


class TangNano20K(SerialBoard):
    """Sipeed Tang Nano 20K; `SerialBoard` has the parameters."""

    loop = GW2AClock
    clock, i_hz = "clk27", 27e6
    lights = 0, 1, 2, 5
    baud = 1_000_000  # its debugger poses as an FT2232, which has this rate exactly
