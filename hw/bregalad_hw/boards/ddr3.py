"""A board's DDR3: LiteDRAM's controller and its pins at an ECP5, in clocks of their own."""

from amaranth import ClockDomain, ClockSignal, DomainRenamer, Instance, Module, Signal
from amaranth.lib import io, wiring
from amaranth.lib.cdc import FFSynchronizer, ResetSynchronizer
from amaranth.lib.wiring import In, Out, connect, flipped

from ..mcmu.axi import axi_signature
from .levelling import PHASES, Leveller, dfi_signature
from .memory import NAME, Core, axi_ports
from .pll import ECP5Clock

PHY = f"{NAME}_phy"  # of the module
_INIT_HZ = 25e6  # at most; of the clock that starts the others
_REST = 512  # clocks after each step of the initialisation: what the chip's loop and its resistors take
# What the leveller tells the pins, and LiteDRAM's register that does it: what it holds, or that it is written.
_CONTROL = {
    "select": ("_dly_sel", "storage"),
    "delay_reset": ("_rdly_dq_rst", "re"),
    "delay_step": ("_rdly_dq_inc", "re"),
    "slip_reset": ("_rdly_dq_bitslip_rst", "re"),
    "slip_step": ("_rdly_dq_bitslip", "re"),
    "burst_clear": ("_burstdet_clr", "re"),
}
# The board's names of pins, and LiteDRAM's of what goes there.
_OUTPUTS = {name: name for name in ("a", "ba", "dm", "odt")}
_OUTPUTS |= {"ras": "ras_n", "cas": "cas_n", "we": "we_n", "clk": "clk_p", "clk_en": "cke"}


class DDR3(wiring.Component):
    """A DDR3 chip behind an AXI4 port.

    Parameters
    ----------
    chip : Chip
    i_hz, o_hz : float
        The board's clock, and the controller's that is wanted. The chip's is twice as fast.
    data_width : int
        Bits of the AXI4 port.

    Members
    -------
    i : In(1)
        The board's clock.
    axi : In(axi_signature)
        In domain ``sync``.
    open : Out(1)
        The chip can be used.
    failed : Out(1)
        As of `Leveller`.

    Latency: the controller's; some 30 of its clocks. Throughput: 8 bytes in each of them, less what refreshes and new
    rows take.
    """

    def __init__(self, chip, i_hz, o_hz, data_width):
        self.chip = chip
        slower = -(-2 * o_hz // _INIT_HZ)
        self.pll = ECP5Clock(i_hz, 2 * o_hz, lag=0, slower=int(slower))
        self.hz = self.pll.hz / 2
        super().__init__({"i": In(1), "axi": In(axi_signature(data_width)), "open": Out(1), "failed": Out(1)})

    def elaborate(self, platform):
        m = Module()
        chip, data_width = self.chip, len(self.axi.rdata)
        controller, settings, steps = write_controller(chip, int(self.hz), data_width)
        platform.add_file(f"{NAME}.v", controller)
        platform.add_file(f"{PHY}.v", write_phy(chip, int(self.hz)))

        # The fast clock is stopped while the pins are started; the controller's is made of it there.
        m.submodules.pll = pll = self.pll
        m.domains.dram, m.domains.dram_init = domain, init = ClockDomain("dram"), ClockDomain("dram_init")
        fast, stop, restart = Signal(), Signal(), Signal()
        m.submodules.gate = Instance("ECLKSYNCB", i_ECLKI=pll.o, i_STOP=stop, o_ECLKO=fast)
        m.submodules.divider = Instance(
            "CLKDIVF", p_DIV="2.0", i_CLKI=fast, i_RST=restart, i_ALIGNWD=0, o_CDIVX=domain.clk
        )
        m.submodules.reset = ResetSynchronizer(~pll.locked | restart, domain="dram")
        m.submodules.init_reset = ResetSynchronizer(~pll.locked, domain="dram_init")
        m.d.comb += [pll.i.eq(self.i), init.clk.eq(pll.second)]

        leveller = Leveller(
            steps,
            chip.pins["a"],
            chip.pins["ba"],
            chip.width,
            read_phase=settings.rdphase,
            write_phase=settings.wrphase,
        )
        m.submodules.leveller = DomainRenamer("dram")(leveller)
        m.submodules.opened = FFSynchronizer(leveller.ready, self.open)
        m.submodules.given_up = FFSynchronizer(leveller.failed, self.failed)

        dfi = dfi_signature(chip.pins["a"], chip.pins["ba"], chip.width).create()
        connect(m, dfi, leveller.controller)
        m.submodules.controller = Instance(
            NAME,
            i_dram_clk=domain.clk,
            i_ready=leveller.ready,
            i_clk=ClockSignal(),
            **_dfi_ports(dfi, from_controller=True),
            **axi_ports(flipped(self.axi), chip.size),
        )
        pads, pins = {}, platform.request("ddr3", dir=dict.fromkeys((*_OUTPUTS, "dq", "dqs"), "-"))
        for name, port in _OUTPUTS.items():
            pads[f"o_pads_{port}"] = value = Signal(chip.pins[port], name=f"pads_{port}")
            pin = getattr(pins, name)
            # LiteDRAM has levels, and between its registers and the pins there can be no inverter.
            m.submodules[f"{name}_pin"] = buffer = io.Buffer("o", ~pin if any(pin.invert) else pin)
            m.d.comb += buffer.o.eq(value)
        m.submodules.phy = Instance(
            PHY,
            i_dram_clk=domain.clk,
            i_dram_rst=domain.rst,
            i_fast_clk=fast,
            i_init_clk=init.clk,
            i_init_rst=init.rst,
            o_stop=stop,
            o_restart=restart,
            o_burst_seen=leveller.burst_seen,
            **{f"i_{name}": getattr(leveller, name) for name in _CONTROL},
            **_dfi_ports(leveller.phy, from_controller=False),
            **pads,
            io_pads_dq=pins.dq.io,
            io_pads_dqs_p=pins.dqs.p,
        )
        return m


def _dfi_ports(dfi, from_controller):
    """DFI as ports of an Instance: of the controller, or of the pins' side."""
    ports = {}
    for phase in PHASES:
        signals = getattr(dfi, phase)
        for name in signals.signature.members:
            given = name in ("rddata", "rddata_valid")
            ports[f"{'oi'[given == from_controller]}_dfi_{phase}_{name}"] = getattr(signals, name)
    return ports


def _phy(chip, clock_hz):
    """LiteDRAM's side of the pins, and its pads."""
    from litedram.phy import ECP5DDRPHY
    from migen import Record

    pads = Record(list(chip.pins.items()), name="pads")
    return ECP5DDRPHY(pads, sys_clk_freq=clock_hz, cl=chip.cas_latency), pads


def _export_dfi(core, dfi, from_controller):
    for phase in PHASES:
        for name, _, _ in getattr(dfi, phase).layout:
            given = (name in ("rddata", "rddata_valid")) == from_controller
            core.export(f"dfi_{phase}_{name}", getattr(getattr(dfi, phase), name), given)


def write_controller(chip, clock_hz, data_width):
    """The controller's Verilog, module `NAME`, the PHY's settings, and the steps of the chip's initialisation.

    Parameters
    ----------
    chip : Chip
    clock_hz : int
        Of its clock ``dram_clk``, half the chip's.
    data_width : int
        Bits of the AXI4 port, which has the clock ``clk``.

    Ports
    -----
    dram_clk, clk
    ready, axi_...
        As of `memory.write_core`.
    dfi_...
        What the PHY is told, in both of its phases.
    """
    core = Core()
    from litedram import modules
    from litedram.init import get_sdram_phy_init_sequence

    settings = _phy(chip, clock_hz)[0].settings
    timing = getattr(modules, chip.module)(clock_hz, "1:2")
    timing.timing_settings.tRFC = timing.ns_to_cycles(chip.refresh_ns)
    core.add_domain("sys", core.add_port("dram_clk"), ~core.add_port("ready"))
    core.add_domain("user", core.add_port("clk"))
    dfi = core.add_controller(settings, timing, clock_hz, data_width, chip.size, domain="user")
    _export_dfi(core, dfi, from_controller=True)
    steps, _ = get_sdram_phy_init_sequence(settings, timing.timing_settings)
    steps = [(address, bank, command, wait + _REST) for _, address, bank, command, wait in steps]
    return core.verilog(NAME), settings, steps


def write_phy(chip, clock_hz):
    """The Verilog of what stands between controller and pins, module `PHY`: LiteDRAM's, for an ECP5.

    Parameters
    ----------
    chip : Chip
    clock_hz : int
        Of its clock ``dram_clk``, half the chip's.

    Ports
    -----
    dram_clk, dram_rst
    fast_clk
        Twice as fast, and stopped while ``stop`` is 1; ``dram_clk`` is reset while ``restart`` is.
    init_clk, init_rst
        What starts the others.
    select, delay_reset, delay_step, slip_reset, slip_step, burst_clear, burst_seen
        As of `Leveller`.
    dfi_...
        Of the controller.
    pads_...
        By the names of the chip's ``pins``.
    """
    core = Core()
    from litex.build.lattice.common import lattice_ecp5_special_overrides

    phy, pads = _phy(chip, clock_hz)
    core.module.submodules.phy = phy
    core.add_domain("sys", core.add_port("dram_clk"), core.add_port("dram_rst"))
    core.add_domain("sys2x", core.add_port("fast_clk"))
    core.add_domain("init", core.add_port("init_clk"), core.add_port("init_rst"))
    core.export("stop", phy.init.stop)
    core.export("restart", phy.init.reset)
    core.export("burst_seen", phy._burstdet_seen.status)
    for name, (register, part) in _CONTROL.items():
        core.export(name, getattr(getattr(phy, register), part), given=True)
    _export_dfi(core, phy.dfi, from_controller=False)
    core.ports |= set(pads.flatten())
    return core.verilog(PHY, lattice_ecp5_special_overrides)
