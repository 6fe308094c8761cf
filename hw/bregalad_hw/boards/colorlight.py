"""The Colorlight 5A-75B's pins of revision 8, which Amaranth lacks."""

from amaranth.build import Attrs, Clock, Pins, PinsN, Resource, Subsignal
from amaranth.vendor import LatticeECP5Platform
from amaranth_boards.resources import LEDResources

__all__ = ["Colorlight5A75BRevision8Platform"]

_LEVEL = Attrs(IO_TYPE="LVCMOS33")


class Colorlight5A75BRevision8Platform(LatticeECP5Platform):
    """Colorlight 5A-75B, revisions 8.0 and 8.2, as far as it is used here: clock, LED and the first Ethernet port.

    Revision 8.2 has the device in grade 7, so what is met for grade 6 is met there.

    Source: q3k/chubby75, 5a-75b/hardware_V8.0.md and hardware_V8.2.md.
    """

    device, package, speed = "LFE5U-25F", "BG256", "6"
    default_clk = "clk25"
    resources = [
        Resource("clk25", 0, Pins("P6", dir="i"), Clock(25e6), _LEVEL),
        *LEDResources(pins="T6", invert=True, attrs=_LEVEL),
        Resource(
            "eth_rgmii",
            0,
            Subsignal("rst", PinsN("R6", dir="o")),
            Subsignal("mdc", Pins("R5", dir="o")),
            Subsignal("mdio", Pins("T4", dir="io")),
            Subsignal("tx_clk", Pins("L1", dir="o")),
            Subsignal("tx_ctl", Pins("L2", dir="o")),
            Subsignal("tx_data", Pins("M2 M1 P1 R1", dir="o")),
            Subsignal("rx_clk", Pins("J1", dir="i")),
            Subsignal("rx_ctl", Pins("J2", dir="i")),
            Subsignal("rx_data", Pins("K2 J3 K1 K3", dir="i")),
            _LEVEL,
        ),
    ]
    connectors = []
