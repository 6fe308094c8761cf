"""The Tang Nano 20K's pins, and the open tools of Gowin's devices, as Amaranth lacks both."""

from amaranth.build import Attrs, Clock, Pins, Resource
from amaranth.vendor import GowinPlatform
from amaranth_boards.resources import LEDResources, UARTResource

__all__ = ["TangNano20KPlatform"]


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
        Resource("clk27", 0, Pins("4", dir="i"), Clock(27e6), Attrs(IO_TYPE="LVCMOS33")),
        *LEDResources(pins="15 16 17 18 19 20", invert=True, attrs=Attrs(IO_TYPE="LVCMOS33")),
        UARTResource(0, rx="70", tx="69", attrs=Attrs(IO_TYPE="LVCMOS33", PULL_MODE="UP")),
    ]
    connectors = []
