"""A board's memory: LiteDRAM's controller, its chip, and what stands between it and the accelerator."""

import re
from dataclasses import dataclass, field

from amaranth import ClockSignal, Instance, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..mcmu.axi import BURST, Response, axi_signature, end_taken
from ..members import assign, drive

NAME = "dram"  # of the module
_COMMENT = re.compile(r"^//.*\n", re.MULTILINE)
_COMMANDS = {"RAS": "ras_n", "CAS": "cas_n", "WE": "we_n", "CS": "cs_n"}


@dataclass(frozen=True)
class Chip:
    """A memory chip."""

    module: str  # LiteDRAM's name of it; also for chips that are as large and as slow
    width: int  # data pins
    size: int  # bytes
    cas_latency: int  # clocks
    pins: dict = field(default_factory=dict)  # bits of what goes to its pins, as `add_core` calls them
    refresh_ns: float = 0  # what a refresh takes, where LiteDRAM counts clocks that are the chip's fastest


_SDRAM = {"a": 13, "ba": 2, "cs": 1, "ras": 1, "cas": 1, "we": 1, "dqm": 2, "o": 16, "oe": 1, "i": 16}
# DDR3 is slower there than the data sheet has its latencies for, which are those of its slowest clock.
_DDR3 = {"a": 15, "ba": 3, "dm": 2, "dq": 16, "dqs_p": 2}
_DDR3 |= dict.fromkeys(("ras_n", "cas_n", "we_n", "clk_p", "cke", "odt"), 1)
CHIPS = {
    "ulx3s": Chip("MT48LC16M16", 16, 1 << 25, 2, _SDRAM),
    "ecpix5": Chip("MT41K256M16", 16, 1 << 29, 6, _DDR3, refresh_ns=260),
}


class MemoryGate(wiring.Component):
    """What an accelerator may do to a memory that answers any address, begins late and knows no reset.

    Parameters
    ----------
    data_width : int
        Bits of a bus word.
    size : int
        Bytes of the memory, a power of two.

    Members
    -------
    i : In(axi_signature)
        From the accelerator: read bursts that begin and end on the same side of the memory's end, and writes of a word
        each. A burst behind the end is answered with DECERR, in order.
    reset : In(1)
        The accelerator's. What it has asked for until then is not answered; what it asks for later waits until all of
        that is done.
    o : Out(axi_signature)
        To the memory.
    open : In(1)
        The memory is ready.

    Latency: 0 clocks, a write's 1. Throughput: as the memory's, a write in two clocks.
    """

    def __init__(self, data_width, size):
        self.size = size
        super().__init__(
            {
                "i": In(axi_signature(data_width)),
                "reset": In(1),
                "o": Out(axi_signature(data_width)),
                "open": In(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        i, o = self.i, self.o
        bursts, words = Signal(8), Signal(8)  # that the memory owes
        stale = Signal()  # and all of them to nobody
        shut = self.reset | stale
        m.d.sync += stale.eq(self.reset | (stale & ((bursts != 0) | (words != 0))))

        address_bits = (self.size - 1).bit_length()
        outside = i.araddr[address_bits:] != 0
        left = Signal(8)  # words of a burst behind the end, less one
        refusing = Signal()
        may_read = self.open & ~shut & ~refusing & ~bursts.all()
        m.d.comb += [
            *assign(o, i, "arid", "araddr", *(f"ar{name}" for name in BURST)),
            o.arvalid.eq(i.arvalid & may_read & ~outside),
            i.arready.eq(may_read & Mux(outside, bursts == 0, o.arready)),
            o.rready.eq(shut | i.rready),
            *drive(i, rvalid=(o.rvalid | refusing) & ~shut, rdata=o.rdata),
            i.rresp.eq(Mux(refusing, Response.DECERR, o.rresp)),
            i.rlast.eq(Mux(refusing, left == 0, o.rlast)),
        ]
        m.d.sync += bursts.eq(bursts + (o.arvalid & o.arready) - (o.rvalid & o.rready & o.rlast))
        with m.If(shut):
            m.d.sync += refusing.eq(0)
        with m.Elif(refusing):
            with m.If(i.rready):
                m.d.sync += [left.eq(left - 1), refusing.eq(left != 0)]
        with m.Elif(i.arvalid & i.arready & outside):
            m.d.sync += [left.eq(i.arlen), refusing.eq(1)]

        # Address and word are taken together, so that a reset leaves no memory waiting for a word.
        free = self.open & ~shut & ~o.awvalid & ~o.wvalid & ~words.all()
        put = i.awvalid & i.wvalid & free
        m.d.comb += [
            *drive(i, awready=put, wready=put),
            *drive(o, wlast=1, bready=shut | i.bready),
            *drive(i, bvalid=o.bvalid & ~shut, bresp=o.bresp),
        ]
        m.d.sync += words.eq(words + put - (o.bvalid & o.bready))
        end_taken(m, o, "aw", "w")
        with m.If(put):
            m.d.sync += [o.awvalid.eq(1), o.wvalid.eq(1)]
            m.d.sync += assign(o, i, "wdata", "wstrb", "awaddr", "awsize", "awburst", "awcache", "awprot")
        return m


def axi_ports(axi, size):
    """The controller's port as ports of an Instance.

    Parameters
    ----------
    axi : axi_signature
        Seen from the manager's side, as `MemoryGate` has it.
    size : int
        Bytes of the memory.
    """
    ports = {}
    for name, member in axi.signature.members.items():
        if name.endswith(("cache", "prot", "bid", "rid")):
            continue
        value = getattr(axi, name)
        ports[f"{'io'[member.flow is In]}_axi_{name}"] = value[: (size - 1).bit_length()] if "addr" in name else value
    return ports


def add_core(platform, chip, clock_hz, gate, pins):
    """The controller as an Instance, in domain ``sync``, behind a gate.

    Parameters
    ----------
    platform : Platform
        Given the controller's Verilog.
    chip, clock_hz
        Of `write_core`.
    gate : MemoryGate
    pins : dict of Signal
        By the names of the chip's ``pins``.
    """
    axi = gate.o
    platform.add_file(f"{NAME}.v", write_core(chip, clock_hz, len(axi.rdata)))
    ports = {"i_sys_clk": ClockSignal(), "o_ready": gate.open, **axi_ports(axi, chip.size)}
    for name, pin in pins.items():
        ports[f"{'oi'[name == 'i']}_chip_{name}"] = pin
    return Instance(NAME, **ports)


class Core:
    """A module in Migen that becomes Verilog: its ports, of LiteEth's core or LiteDRAM's controller.

    Members
    -------
    module : migen.Module
    ports : set

    Raises
    ------
    ImportError
        If LiteX is not installed, of which LiteEth and LiteDRAM are parts.
    """

    def __init__(self):
        try:
            from migen import Module
        except ImportError as error:
            raise ImportError("boards with Ethernet or memory need LiteX: pip install 'bregalad[boards]'") from error
        self.module = Module()
        self.ports = set()

    def add_port(self, name, width=1):
        """A port that nothing else is known of."""
        from migen import Signal

        port = Signal(width, name=name)
        self.ports.add(port)
        return port

    def export(self, name, signal, given=False):
        """A port for a signal, which is given from outside or shown there."""
        port = self.add_port(name, len(signal))
        self.module.comb += signal.eq(port) if given else port.eq(signal)

    def add_domain(self, domain, clock, reset=None):
        """A clock domain of a port, whose name reports know it by; without a reset if there is none."""
        from migen import ClockDomain

        made = ClockDomain(domain, reset_less=reset is None)
        made.clk = clock
        self.module.clock_domains += made
        if reset is not None:
            self.module.comb += made.rst.eq(reset)

    def add_controller(self, settings, timing, clock_hz, data_width, size, domain="sys"):
        """LiteDRAM's controller in domain ``sys``, whose DFI is returned.

        Parameters
        ----------
        settings : PhySettings
        timing : SDRAMModule
        clock_hz : int
            Of the controller.
        data_width, size : int
            Of the AXI4 port, whose ports are ``axi_...``, and of the memory, in bytes.
        domain : str
            Of that port.
        """
        from litedram.core.controller import LiteDRAMController
        from litedram.core.crossbar import LiteDRAMCrossbar
        from litedram.frontend.axi import LiteDRAMAXI2Native, LiteDRAMAXIPort
        from litex.soc.interconnect.stream import ClockDomainCrossing

        core = self.module
        core.submodules.controller = controller = LiteDRAMController(
            settings, timing.geom_settings, timing.timing_settings, clock_hz
        )
        core.submodules.crossbar = crossbar = LiteDRAMCrossbar(controller.interface)
        axi = LiteDRAMAXIPort(data_width=data_width, address_width=(size - 1).bit_length(), id_width=1)
        core.submodules.port = LiteDRAMAXI2Native(axi, crossbar.get_port(data_width=data_width))
        for channel, fields, from_host in (
            ("ar", ("valid", "addr", "len", "size", "burst", "id"), True),
            ("aw", ("valid", "addr", "len", "size", "burst", "id"), True),
            ("w", ("valid", "data", "strb", "last"), True),
            ("r", ("valid", "data", "resp", "last"), False),
            ("b", ("valid", "resp"), False),
        ):
            stream = getattr(axi, channel)
            if domain != "sys":
                ends = (domain, "sys") if from_host else ("sys", domain)
                # As deep as the distributed RAM, so that a word may go each clock.
                crossing = ClockDomainCrossing(stream.description, *ends, depth=16)
                core.submodules += crossing
                core.comb += crossing.source.connect(stream) if from_host else stream.connect(crossing.sink)
                stream = crossing.sink if from_host else crossing.source
            self.export(f"axi_{channel}ready", stream.ready, given=not from_host)
            for name in fields:
                self.export(f"axi_{channel}{name}", getattr(stream, name), given=from_host)
        return controller.dfi

    def verilog(self, name, overrides=None):
        """The text of a module of that name."""
        from litex.gen.fhdl.verilog import convert

        text = str(convert(self.module, self.ports, name, special_overrides=overrides or {}))
        return _COMMENT.sub("", text)  # comments tell the time


def write_core(chip, clock_hz, data_width):
    """The controller's Verilog, module `NAME`, for a chip of single data rate at the controller's clock.

    Parameters
    ----------
    chip : Chip
    clock_hz : int
        Of its clock ``sys_clk``.
    data_width : int
        Bits of the AXI4 port, at least the chip's.

    Ports
    -----
    sys_clk
    ready
        The chip is initialised. Before, what comes by ``axi_...`` is lost.
    axi_...
        The port, of IDs of one bit.
    chip_a, chip_ba, chip_cs, chip_ras, chip_cas, chip_we, chip_dqm, chip_o, chip_oe
        To registers at the pins, 1 where the pins' names say so, not their levels. The chip's clock enable is always 1.
    chip_i
        From registers at the data pins.
    """
    made = Core()
    from litedram import modules
    from litedram.common import PhySettings
    from litedram.init import get_sdram_phy_init_sequence
    from migen import Array, ClockDomainsRenamer, If, Module, Signal
    from migen import Mux as Choice

    module = getattr(modules, chip.module)(clock_hz, "1:1")
    # As LiteDRAM's GENSDRPHY has them, whose pins are ours.
    settings = PhySettings(
        phytype="GENSDRPHY",
        memtype="SDR",
        databits=chip.width,
        dfi_databits=chip.width,
        nphases=1,
        rdphase=0,
        wrphase=0,
        cl=chip.cas_latency,
        read_latency=chip.cas_latency + 1,
        write_latency=0,
    )
    core = made.module
    clock, ready = made.add_port("sys_clk"), made.add_port("ready")
    made.add_domain("sys", clock, ~ready)  # the controller is reset until the chip can be used
    made.add_domain("init", clock)
    dfi = made.add_controller(settings, module, clock_hz, data_width, chip.size)

    # One command after the other, each with the clocks to wait after it; LiteX's processor would send them.
    steps, _ = get_sdram_phy_init_sequence(settings, module.timing_settings)
    rest = module.timing_settings.tRFC + module.timing_settings.tRP  # more than any command needs
    steps = [(address, bank, command, wait + rest) for _, address, bank, command, wait in steps]

    def column(values):
        return Array(values)[at]

    init, phase = Module(), dfi.p0
    at, waits = Signal(max=len(steps) + 1), Signal(max=max(wait for *_, wait in steps) + 1)
    chosen = {name: Signal(reset=1) for name in _COMMANDS.values()}
    address, bank = Signal(len(phase.address)), Signal(len(phase.bank))
    idle = [signal.eq(1) for signal in chosen.values()]
    init.sync += [
        *idle,
        If(~ready, waits.eq(waits - 1)),
        If(
            ~ready & (waits == 0),
            If(at == len(steps), ready.eq(1)).Else(
                at.eq(at + 1),
                waits.eq(column([wait for *_, wait in steps])),
                address.eq(column([step[0] for step in steps])),
                bank.eq(column([step[1] for step in steps])),
                *(
                    chosen[name].eq(column([f"DFII_COMMAND_{short}" not in step[2] for step in steps]))
                    for short, name in _COMMANDS.items()
                ),
            ),
        ),
    ]
    core.submodules.init = ClockDomainsRenamer("init")(init)

    export = made.export
    export("chip_a", Choice(ready, phase.address, address))
    export("chip_ba", Choice(ready, phase.bank, bank))
    for name, signal in chosen.items():
        export(f"chip_{name.removesuffix('_n')}", ~Choice(ready, getattr(phase, name), signal))
    export("chip_dqm", Choice(phase.wrdata_en, phase.wrdata_mask, 0))
    export("chip_o", phase.wrdata)
    export("chip_oe", phase.wrdata_en)
    export("chip_i", phase.rddata, given=True)
    return made.verilog(NAME)
