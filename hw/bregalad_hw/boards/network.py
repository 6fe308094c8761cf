"""Boards with Gigabit Ethernet: the accelerator at a UDP port."""

from abc import ABC, abstractmethod
from ipaddress import AddressValueError, IPv4Address

from amaranth import ClockDomain, Elaboratable, Instance, Module, Signal
from amaranth.lib import io
from amaranth.lib.cdc import ResetSynchronizer
from amaranth.lib.wiring import connect

from ..link.networked import NetworkedAccelerator
from ..members import drive
from .ddr3 import DDR3
from .ethernet import NAME, mac_address, write_core
from .memory import CHIPS, MemoryGate
from .pll import ECP5Clock

ADDRESS = "192.168.1.50"


class NetworkBoard(Elaboratable, ABC):
    """Top level; a subclass is a board.

    Parameters
    ----------
    geometry : Geometry
    clock_hz : float
        Of the array; the next that the PLL has is taken.
    ip : str
        The board's IPv4 address; its MAC address follows from it.
    **sizes
        Of `Link`.
    """

    i_hz = 0  # of the resource `clock`
    clock = ""
    clock_port = "io"  # how the clock's pin ends; "p" of a differential one
    network_hz = 0  # 32 bits a clock; a Gigabit Ethernet brings 31.25 MHz of them
    control = ""  # how the transceiver's signals beside the data end
    receive_delay = transmit_delay = 0.0  # seconds; `write_core` has their meaning
    resets = True  # whether the transceiver is reset as the core begins
    memory = 0  # bytes
    small = {}  # of `NetworkedAccelerator`, where its own sizes do not fit

    def __init__(self, geometry, clock_hz, *, ip=ADDRESS, **sizes):
        try:
            address = IPv4Address(ip)
        except AddressValueError:
            address = None
        if address is None or address.is_multicast or address.is_unspecified or address.is_reserved:
            raise ValueError(f"ip must be a board's IPv4 address like {ADDRESS}, not {ip!r}")
        self.ip = int(address)
        self.pll = ECP5Clock(self.i_hz, clock_hz)
        self.network_pll = ECP5Clock(self.i_hz, self.network_hz)
        self.clock_hz = self.pll.hz
        self.networked = NetworkedAccelerator(
            geometry, clock_hz=int(self.clock_hz), memory=self.memory, **self.small, **sizes
        )

    @abstractmethod
    def lights(self, m, platform):
        """Show what the link does."""

    def add_memory(self, m, platform, clock):
        """Connect the accelerator to the board's memory, whose clocks are made of the board's."""
        raise NotImplementedError

    def light(self, m, name, port, value):
        """Connect a light's pin."""
        m.submodules[f"{name}_pin"] = pin = io.Buffer("o", port)
        m.d.comb += pin.o.eq(value)

    def elaborate(self, platform):
        m = Module()
        m.submodules.clock_pin = clock = io.Buffer("i", platform.request(self.clock, dir="-"))
        m.submodules.sync_pll = pll = self.pll
        m.submodules.network_pll = network_pll = self.network_pll
        # A reset of all registers would be the widest net of the device, and its slowest.
        m.domains.sync = sync = ClockDomain(reset_less=True)
        m.domains.network = network = ClockDomain()
        m.submodules.network_reset = ResetSynchronizer(~network_pll.locked, domain="network")
        m.d.comb += [
            pll.i.eq(clock.i),
            sync.clk.eq(pll.started),
            network_pll.i.eq(clock.i),
            network.clk.eq(network_pll.o),
        ]
        m.submodules.networked = networked = self.networked

        platform.add_file(
            f"{NAME}.v",
            write_core(self.network_hz, receive_delay=self.receive_delay, transmit_delay=self.transmit_delay),
        )
        pins = {}
        directions = dict.fromkeys(("rst", "tx_clk", f"tx_{self.control}", "tx_data"), "o")
        directions |= dict.fromkeys(("rx_clk", f"rx_{self.control}", "rx_data"), "i")
        rgmii = platform.request("eth_rgmii", 0, dir=dict.fromkeys((*directions, "mdio", "mdc"), "-"))
        for name, direction in directions.items():
            buffer = io.Buffer(direction, getattr(rgmii, name))
            m.submodules[f"{name}_pin"] = buffer
            pins[name] = buffer.o if direction == "o" else buffer.i
        running = Signal()
        m.d.comb += pins["rst"].eq(~running if self.resets else 0)

        received, goes = networked.i, networked.o
        error = Signal(4)
        m.d.comb += received.p.error.eq(error.any())
        m.submodules.ethernet = Instance(
            NAME,
            i_sys_clk=network.clk,
            i_sys_rst=network.rst,
            i_mac_address=mac_address(self.ip),
            i_ip_address=self.ip,
            i_rgmii_clock_rx=pins["rx_clk"],
            i_rgmii_rx_ctl=pins[f"rx_{self.control}"],
            i_rgmii_rx_data=pins["rx_data"],
            o_rgmii_clock_tx=pins["tx_clk"],
            o_rgmii_tx_ctl=pins[f"tx_{self.control}"],
            o_rgmii_tx_data=pins["tx_data"],
            o_rgmii_rst_n=running,
            o_source_valid=received.valid,
            i_source_ready=received.ready,
            o_source_data=received.p.data,
            o_source_last=received.p.last,
            o_source_last_be=received.p.last_be,
            o_source_error=error,
            o_source_ip_address=received.p.peer.ip,
            o_source_port=received.p.peer.port,
            i_sink_valid=goes.valid,
            o_sink_ready=goes.ready,
            i_sink_data=goes.p.data,
            i_sink_last=goes.p.last,
            i_sink_last_be=goes.p.last << 3,
            i_sink_length=goes.p.length,
            i_sink_ip_address=goes.p.peer.ip,
            i_sink_port=goes.p.peer.port,
        )
        self.lights(m, platform)
        if self.memory:
            self.add_memory(m, platform, clock.i)
        return m


class ECPIX5(NetworkBoard):
    """LambdaConcept ECPIX-5; `NetworkBoard` has the parameters.

    RGB LEDs: 0 green, a session lives; 1 green, a good frame; 2 red, a damaged one or a stranger's; 3 blue, configured.
    """

    clock, i_hz = "clk100", 100e6
    network_hz = 62_500_000
    control = "ctrl"
    transmit_delay = 2e-9  # the KSZ9031 delays the clock that it sends, but not the one it gets

    def lights(self, m, platform):
        networked = self.networked
        for number, colour, value in (
            (0, "g", networked.alive),
            (1, "g", networked.receiving),
            (2, "r", networked.dropping),
            (3, "b", 1),
        ):
            led = platform.request("rgb_led", number, dir=dict.fromkeys("rgb", "-"))
            for each in "rgb":
                self.light(m, f"led_{number}_{each}", getattr(led, each), value if each == colour else 0)


class ECPIX5Memory(ECPIX5):
    """LambdaConcept ECPIX-5 with its DDR3; `NetworkBoard` has the parameters.

    Attributes
    ----------
    memory_hz : float
        Of the memory's controller; the chip's clock is twice as fast.
    """

    chip = CHIPS["ecpix5"]
    memory = chip.size
    memory_hz = 80e6

    def __init__(self, geometry, clock_hz, **options):
        super().__init__(geometry, clock_hz, **options)
        self.ddr3 = DDR3(self.chip, self.i_hz, self.memory_hz, geometry.bus_width)

    def add_memory(self, m, platform, clock):
        networked = self.networked
        m.submodules.memory_gate = gate = MemoryGate(networked.framed.geometry.bus_width, self.memory)
        m.submodules.ddr3 = ddr3 = self.ddr3
        connect(m, networked.m_axi, gate.i)
        connect(m, gate.o, ddr3.axi)
        m.d.comb += [
            ddr3.i.eq(clock),
            *drive(gate, open=ddr3.open, reset=networked.reset),
            networked.lost.eq(ddr3.failed),
        ]


class Colorlight5A75B(NetworkBoard):
    """Colorlight 5A-75B, revision 7.0, its first Ethernet port; `NetworkBoard` has the parameters.

    The LED: a session lives.
    """

    clock, i_hz = "clk25", 25e6
    network_hz = 40_000_000
    control = "ctl"
    receive_delay = 2e-9  # the B50612D delays the clock that it gets, but not the one it sends
    small = {"walkers": 1, "row_bytes": 4096, "ring_words": 2048}

    def lights(self, m, platform):
        self.light(m, "led", platform.request("led", 0, dir="-"), self.networked.alive)


class Colorlight5A75BRevision8(Colorlight5A75B):
    """Colorlight 5A-75B, revisions 8.0 and 8.2; `NetworkBoard` has the parameters.

    Its RTL8211FD transceivers delay as the B50612D does. One of them makes the board's clock, and not while it is
    reset.
    """

    resets = False


class VersaECP5(NetworkBoard):
    """Lattice ECP5 Versa, its first Ethernet port; `NetworkBoard` has the parameters.

    LEDs: 0, a session lives; 1, a good frame; 2, a damaged one or a stranger's; 7, configured.
    """

    clock, i_hz = "clk100", 100e6
    clock_port = "p"
    network_hz = 62_500_000
    control = "ctl"  # and no delays: the 88E1512 delays the clocks of both directions

    def lights(self, m, platform):
        networked = self.networked
        for number, value in ((0, networked.alive), (1, networked.receiving), (2, networked.dropping), (7, 1)):
            self.light(m, f"led_{number}", platform.request("led", number, dir="-"), value)
