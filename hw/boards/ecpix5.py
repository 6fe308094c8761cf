"""ECPIX-5: the accelerator at a UDP port of the board's Gigabit Ethernet."""

from ipaddress import AddressValueError, IPv4Address

from amaranth import ClockDomain, Elaboratable, Instance, Module, Signal
from amaranth.lib import io
from amaranth.lib.cdc import ResetSynchronizer

from ..link.networked import NetworkedAccelerator
from .ethernet import NAME, mac_address, write_core
from .pll import ECP5Clock

__all__ = ["ADDRESS", "ECPIX5"]

ADDRESS = "192.168.1.50"
_NETWORK_HZ = 62_500_000  # 32 bits a clock: twice what a Gigabit Ethernet brings


class ECPIX5(Elaboratable):
    """Top level.

    RGB LEDs: 0 green, a session lives; 1 green, a good frame; 2 red, a damaged one or a stranger's;
    3 blue, configured.

    Parameters
    ----------
    geometry : Geometry
    clock_hz : float
        Of the array; the next that the PLL has is taken.
    ip : str
        The board's IPv4 address; its MAC address follows from it.
    **sizes
        Of `Link`.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    def __init__(self, geometry, clock_hz, *, ip=ADDRESS, **sizes):
        try:
            address = IPv4Address(ip)
        except AddressValueError:
            address = None
        if address is None or address.is_multicast or address.is_unspecified \
                or address == IPv4Address("255.255.255.255"):
            raise ValueError(f"ip must be a board's IPv4 address like {ADDRESS}, not {ip!r}")
        self.ip = int(address)
        self.pll = ECP5Clock(100e6, clock_hz)
        self.network_pll = ECP5Clock(100e6, _NETWORK_HZ)
        self.clock_hz = self.pll.hz
        self.networked = NetworkedAccelerator(geometry, clock_hz=int(self.clock_hz), **sizes)

    def elaborate(self, platform):
        m = Module()
        m.submodules.clock_pin = clock = io.Buffer("i", platform.request("clk100", dir="-"))
        for name, pll in (("sync", self.pll), ("network", self.network_pll)):
            m.submodules[f"{name}_pll"] = pll
            domain = ClockDomain(name)
            m.domains += domain
            m.submodules[f"{name}_reset"] = ResetSynchronizer(~pll.locked, domain=name)
            m.d.comb += [pll.i.eq(clock.i), domain.clk.eq(pll.o)]
            if name == "network":
                network = domain
        m.submodules.networked = networked = self.networked

        # The transceiver (KSZ9031) delays the clock that it sends, but not the one that it gets.
        platform.add_file(f"{NAME}.v", write_core(
            _NETWORK_HZ, receive_delay=0.0, transmit_delay=2e-9))
        pins = {}
        rgmii = platform.request("eth_rgmii", dir=dict.fromkeys(
            ("rst", "mdio", "mdc", "tx_clk", "tx_ctrl", "tx_data", "rx_clk", "rx_ctrl", "rx_data"),
            "-"))
        for name, direction in (("rst", "o"), ("tx_clk", "o"), ("tx_ctrl", "o"), ("tx_data", "o"),
                                ("rx_clk", "i"), ("rx_ctrl", "i"), ("rx_data", "i")):
            buffer = io.Buffer(direction, getattr(rgmii, name))
            m.submodules[f"{name}_pin"] = buffer
            pins[name] = buffer.o if direction == "o" else buffer.i
        running = Signal()
        m.d.comb += pins["rst"].eq(~running)

        came, goes = networked.i, networked.o
        error = Signal(4)
        m.d.comb += came.p.error.eq(error.any())
        m.submodules.ethernet = Instance(
            NAME,
            i_sys_clk=network.clk, i_sys_rst=network.rst,
            i_mac_address=mac_address(self.ip), i_ip_address=self.ip,
            i_rgmii_clock_rx=pins["rx_clk"], i_rgmii_rx_ctl=pins["rx_ctrl"],
            i_rgmii_rx_data=pins["rx_data"],
            o_rgmii_clock_tx=pins["tx_clk"], o_rgmii_tx_ctl=pins["tx_ctrl"],
            o_rgmii_tx_data=pins["tx_data"], o_rgmii_rst_n=running,
            o_source_valid=came.valid, i_source_ready=came.ready, o_source_data=came.p.data,
            o_source_last=came.p.last, o_source_last_be=came.p.last_be, o_source_error=error,
            o_source_ip_address=came.p.peer.ip, o_source_port=came.p.peer.port,
            i_sink_valid=goes.valid, o_sink_ready=goes.ready, i_sink_data=goes.p.data,
            i_sink_last=goes.p.last, i_sink_last_be=goes.p.last << 3,
            i_sink_length=goes.p.length, i_sink_ip_address=goes.p.peer.ip,
            i_sink_port=goes.p.peer.port,
        )
        for number, colour, value in ((0, "g", networked.alive), (1, "g", networked.receiving),
                                      (2, "r", networked.dropping), (3, "b", 1)):
            led = platform.request("rgb_led", number, dir=dict.fromkeys("rgb", "-"))
            for each in "rgb":
                m.submodules[f"led_{number}_{each}_pin"] = pin = io.Buffer("o", getattr(led, each))
                m.d.comb += pin.o.eq(value if each == colour else 0)
        return m
