"""The core in a LiteX SoC."""

from litex.gen import LiteXModule
from litex.soc.interconnect.axi import AXIInterface, AXILiteInterface
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import ClockSignal, Instance, ResetSignal, Signal

from ..mcmu.axi import ADDRESS_WIDTH
from .crossing import BACK, CHANNELS
from .lite import LITE_ADDRESS_WIDTH
from .package import NAME, write_package
from .shared import ID_WIDTH


class Bregalad(LiteXModule):
    """The core with its buses and its event, in a SoC with a processor that takes interrupts::

        from bregalad import Geometry
        from bregalad_hw.soc.litex import Bregalad
        from litex.soc.integration.soc import SoCRegion

        region = SoCRegion(origin=0x90000000, size=0x1000, cached=False)
        soc.bregalad = Bregalad(soc.platform, Geometry(nodes=512))
        soc.bus.add_slave("bregalad", soc.bregalad.bus, region)
        soc.bus.add_master("bregalad", master=soc.bregalad.dma)
        soc.irq.add("bregalad")

    Parameters
    ----------
    platform : Platform
        Given the core's Verilog.
    geometry : Geometry
    folder : str
        Where the Verilog is written.
    address_width : int
        Of the SoC's bus.
    **options
        Of `AxiTop`.

    Members
    -------
    bus : AXILiteInterface
        To the registers.
    dma : AXIInterface
        From the core, to memory.
    ev : EventManager
        Its event ``core`` is the core's interrupt.
    """

    def __init__(self, platform, geometry, folder="bregalad", address_width=32, **options):
        self.bus = bus = AXILiteInterface(data_width=32, address_width=address_width)
        self.dma = dma = AXIInterface(data_width=geometry.bus_width, address_width=address_width, id_width=ID_WIDTH)
        self.ev = EventManager()
        self.ev.core = EventSourceLevel()
        self.ev.finalize()
        ports = {"i_aclk": ClockSignal(), "i_aresetn": ~ResetSignal(), "o_interrupt": self.ev.core.trigger}
        for name in CHANNELS:
            ports |= _channel("s_axi", name, getattr(bus, name), "o" if name in BACK else "i")
            ports |= _channel("m_axi", name, getattr(dma, name), "i" if name in BACK else "o")
        for name in ("aw", "ar"):
            ports[f"i_s_axi_{name}addr"] = getattr(bus, name).addr[:LITE_ADDRESS_WIDTH]
            ports[f"o_m_axi_{name}addr"] = address = Signal(ADDRESS_WIDTH)
            self.comb += getattr(dma, name).addr.eq(address)
        self.specials += Instance(NAME, **ports)
        source = next(path for path in write_package(geometry, folder, **options) if path.suffix == ".sv")
        platform.add_source(str(source))


def _channel(bus, name, channel, way):
    """The ports of a channel but for its address; ``way`` is the direction of what goes with ``valid``."""
    back = "o" if way == "i" else "i"
    ports = {f"{way}_{bus}_{name}valid": channel.valid, f"{back}_{bus}_{name}ready": channel.ready}
    description = channel.description
    fields = [field for field, *_ in description.payload_layout]
    if bus == "m_axi":
        fields += ["id"] * (name != "w")
        if name in ("w", "r"):
            ports[f"{way}_{bus}_{name}last"] = channel.last
    for field in fields:
        if field not in ("addr", "lock", "qos", "region"):
            ports[f"{way}_{bus}_{name}{field}"] = getattr(channel, field)
    return ports
