"""Pins of boards, and the open tools of Gowin's devices, which Amaranth lacks."""

from amaranth.build import Attrs, Clock, Pins, PinsN, Resource, Subsignal
from amaranth.vendor import GowinPlatform, LatticeECP5Platform
from amaranth_boards.resources import LEDResources, UARTResource

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


class HimbaechelPlatform(GowinPlatform):
    """A platform that calls nextpnr-himbaechel, as Amaranth's calls its withdrawn predecessor."""

    _synthesis, _, _packing = GowinPlatform._apicula_command_templates
    _apicula_command_templates = [
        _synthesis,
        r"""
        {{invoke_tool("nextpnr-himbaechel-gowin")}}
            {{quiet("--quiet")}}
            {{get_override("nextpnr_opts")|options}}
            --log {{name}}.tim
            --device {{platform.part}}
            --vopt family={{platform._chipdb_device}}
            --vopt cst={{name}}.cst
            --json {{name}}.syn.json
            --write {{name}}.pnr.json
        """,
        _packing,
    ]
    _apicula_required_tools = ["yosys", "nextpnr-himbaechel-gowin", "gowin_pack"]


class TangNano20KPlatform(HimbaechelPlatform):
    """Sipeed Tang Nano 20K, as far as it is used here: clock, LEDs and the debugger's UART.

    Source: Sipeed's schematics 3921, revision 1.21b.
    """

    device, speed = "GW2AR-18C", "C8/I7"
    part = f"GW2AR-LV18QN88{speed}"
    family = device
    _chipdb_device = "GW2A-18C"  # the same die, without the memory beside it
    default_clk = "clk27"
    resources = [
        Resource("clk27", 0, Pins("4", dir="i"), Clock(27e6), _LEVEL),
        *LEDResources(pins="15 16 17 18 19 20", invert=True, attrs=_LEVEL),
        UARTResource(0, rx="70", tx="69", attrs=Attrs(IO_TYPE="LVCMOS33", PULL_MODE="UP")),
    ]
    connectors = []
