"""The accelerator as a core: AXI4-Lite registers, an AXI4 manager, an interrupt."""

from amaranth import Assert, Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.registers import REGISTERS
from bregalad.protocol.soc import SOC_REGISTERS, SOC_VERSION, Stop
from bregalad.protocol.tree import TREE_REGISTERS

from ..accelerator import Accelerator
from ..duplicate import add_with_reset
from ..mcmu.axi import BOUNDARY, axi_signature
from ..members import drive, join
from ..registers import RegisterFile
from .commands import CommandRing
from .control import ResetControl
from .lite import LITE, RegisterPort
from .reports import ReportRing
from .shared import ID_WIDTH, SharedReads, SharedWrites

# Written only while the core is stopped: what bursts under way go by.
_STOPPED = (
    "window_low",
    "window_high",
    "window_size",
    "commands_ring",
    "commands_size",
    "reports_ring",
    "reports_size",
)
_RECORDS, _LOADS, _REPORTS = 2, 0, 1  # IDs; 0 and 1 of reads are the command ring's


class AxiCore(wiring.Component):
    """Accelerator, rings, bus and registers.

    Parameters
    ----------
    geometry : Geometry
        ``bus_width`` is the bus's.
    outstanding : int
        Read bursts of records, and of what a BUFFER names, under way at most.
    burst : int
        Their bus words, a power of two up to 256; as many as 4 KiB have if those are less.

    Members
    -------
    s_axi : In(AXI4-Lite)
        Registers.
    m_axi : Out(AXI4)
        Memory: descriptors, commands, records; reports, what LOAD brings.
    interrupt : Out(1)
        While a status is 1 that the mask names.

    Latency: as `RegisterPort` of registers; of commands that of `CommandRing`, `Accelerator` and `ReportRing`, one
    after the other. Throughput: as theirs.

    Raises
    ------
    ValueError
        If the geometry is none of hardware's, or a parameter is out of range.

    Source: host/bregalad/protocol/soc.py.
    """

    def __init__(self, geometry, *, outstanding=4, burst=64):
        self.geometry = g = geometry
        geometry.check_hardware()
        self.burst = min(burst, BOUNDARY * 8 // g.bus_width)
        self.accelerator = Accelerator(g, outstanding=outstanding, burst=burst)
        self.commands = CommandRing(g.bus_width, outstanding=outstanding, burst=self.burst)
        self.reports = ReportRing(g.bus_width, burst=min(self.burst, 16))
        super().__init__(
            {
                "s_axi": In(LITE),
                "m_axi": Out(axi_signature(g.bus_width, ID_WIDTH)),
                "interrupt": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        m.submodules.control = control = ResetControl()
        m.submodules.accelerator = accelerator = self.accelerator
        m.submodules.port = port = RegisterPort([*REGISTERS, *TREE_REGISTERS], SOC_REGISTERS, stopped=_STOPPED)
        m.submodules.registers = registers = RegisterFile(g, SOC_REGISTERS, ())
        m.submodules.reads = reads = SharedReads(g.bus_width, 3)
        m.submodules.writes = writes = SharedWrites(g.bus_width, 2)
        commands, reports = self.commands, self.reports
        for name in ("commands", "reports"):
            add_with_reset(m, name, getattr(self, name), control.reset)

        connect(m, flipped(self.s_axi), port.axi)
        connect(m, port.csr, accelerator.csr)
        connect(m, port.core_csr, registers.csr)
        connect(m, commands.commands, accelerator.commands)
        connect(m, accelerator.reports, reports.i)
        join(m, accelerator.m_axi, reads.i[_RECORDS], writes.i[_LOADS])
        connect(m, reports.axi, writes.i[_REPORTS])
        for number, manager in enumerate(commands.axi):
            connect(m, manager, reads.i[number])
        join(m, self.m_axi, reads.o, writes.o)

        base = Cat(self._low(registers.window_low_page), registers.window_high_base)
        run = registers.control_run & control.ready
        pending = commands.consumed != registers.commands_produced_count
        # Whatever is under way says so in each clock until the next that it goes to does: a ring is idle a clock after
        # it has handed over its last word, and then the accelerator is busy.
        idle, still = commands.idle & reports.idle, Signal()
        quiet, stopped = Signal(), Signal()  # a clock late; only this port's next access can change them
        m.d.comb += still.eq(~accelerator.busy & commands.idle & control.ready)
        m.d.sync += [
            quiet.eq(still & ~(run & pending)),
            stopped.eq(still & ~run & reports.idle & reads.quiet & writes.quiet),
            Assert(~quiet | ~(accelerator.busy | commands.commands.valid), "a command was under way"),
            Assert(~stopped | (idle & ~self.m_axi.arvalid & ~self.m_axi.awvalid), "a burst was under way"),
        ]

        status = Signal(3)
        m.d.sync += [
            status.eq(
                Cat(
                    reports.produced != registers.reports_consumed_count,
                    ~pending,
                    Cat(part.stop != Stop.NOTHING for part in (commands, reports)).any(),
                )
            ),
            self.interrupt.eq((status & self._bits(registers, "interrupt_mask")).any()),
        ]
        m.d.comb += [
            *drive(control, start=registers.control_reset, quiet=reads.quiet & writes.quiet),
            *drive(accelerator, reset=control.reset, memory_size=self._low(registers.window_size_page)),
            *drive(reads, base=base, pages=registers.window_size_page, stop=control.stop),
            *drive(writes, base=base, stop=control.stop),
            *drive(port, quiet=quiet, halted=stopped, open=control.ready),
            *drive(commands, page=registers.commands_ring_page, size=registers.commands_size_log2),
            *drive(commands, produced=registers.commands_produced_count, run=run, resume=registers.control_resume),
            commands.clear.eq(control.reset),
            *drive(reports, page=registers.reports_ring_page, size=registers.reports_size_log2),
            *drive(reports, pages=registers.window_size_page, consumed=registers.reports_consumed_count),
            *drive(reports, resume=registers.control_resume, clear=control.reset),
            *drive(registers, core_version=SOC_VERSION, core_bus_bytes=g.bus_bytes, core_burst=self.burst),
            *drive(registers, state_idle=idle, state_resetting=~control.ready, state_commands=commands.stop),
            *drive(registers, state_reports=reports.stop, commands_consumed_count=commands.consumed),
            *drive(registers, failed_low_address=commands.address[:32], failed_high_address=commands.address[32:]),
            *drive(registers, reports_produced_count=reports.produced, reports_failed_address=reports.address),
            self._bits(registers, "interrupt").eq(status),
        ]
        return m

    @staticmethod
    def _low(page):
        """A page's byte address."""
        return Cat(Const(0, 12), page)

    @staticmethod
    def _bits(registers, name):
        """All fields of a register."""
        return Cat(getattr(registers, f"{name}_{field}") for field in ("reports", "commands", "stopped"))
