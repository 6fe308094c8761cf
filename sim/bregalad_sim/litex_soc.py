"""A LiteX SoC with the core and memory, without a processor: its bus is the driver's."""

import re
from pathlib import Path

CORE, MEMORY = 0x90000000, 0x40000000  # where the bus has them


def write_soc(geometry, size, folder):
    """Write the SoC's Verilog to a folder, module ``top``, and give the paths.

    Parameters
    ----------
    geometry : Geometry
    size : int
        Bytes of memory.
    folder : Path

    Raises
    ------
    ImportError
        If LiteX is not installed.
    """
    from bregalad_hw.soc.litex import Bregalad
    from litex.build.generic_platform import Pins
    from litex.build.io import CRG
    from litex.build.sim import SimPlatform
    from litex.soc.integration.soc import SoCRegion
    from litex.soc.integration.soc_core import SoCCore
    from litex.soc.interconnect.axi import AXILiteInterface

    platform = SimPlatform("SIM", [("sys_clk", 0, Pins(1))])
    soc = SoCCore(
        platform,
        int(100e6),
        cpu_type=None,
        bus_interconnect="crossbar",
        integrated_main_ram_size=size,
        with_uart=False,
        with_timer=False,
        with_ctrl=False,
        ident_version=False,
    )
    soc.crg = CRG(platform.request("sys_clk"))
    host = AXILiteInterface(data_width=32, address_width=32)
    platform.add_extension(host.get_ios("host"))
    soc.comb += host.connect_to_pads(platform.request("host"), mode="slave")
    soc.bus.add_master("host", master=host)
    soc.bregalad = core = Bregalad(platform, geometry, str(folder))
    soc.bus.add_slave("bregalad", core.bus, SoCRegion(origin=CORE, size=0x1000, cached=False))
    soc.bus.add_master("bregalad", master=core.dma)
    soc.finalize()
    # What memory has at first is of no account, and its file is not where the model runs.
    text = platform.get_verilog(soc, name="top").main_source
    (Path(folder) / "top.v").write_text(re.sub(r"^.*\$readmemh.*$", "", text, flags=re.MULTILINE))
    return [Path(folder) / "top.v", Path(folder) / "bregalad.sv"]
