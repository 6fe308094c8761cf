"""The accelerator: what every board's top level wraps."""

from amaranth import Assert, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.decider import DECIDER
from bregalad.protocol.leaf_rows import LEAF_ROWS
from bregalad.protocol.registers import CONFIGURATION, COUNTERS, REGISTERS, find, identity_fields
from bregalad.protocol.tree import TREE, TREE_REGISTERS

from .array.array import AttributeProcessorArray
from .controller import MemoryController
from .duplicate import add_with_reset
from .mcmu.axi import axi_signature
from .mcmu.command_queue import CommandQueue
from .mcmu.pager import chip_geometry
from .mcmu.report import REPORT_WORD
from .members import assign, drive, join
from .registers import CSR, RegisterFile

_WORDS = 16  # of commands that may wait
# More than the longest chain of registers in the largest geometry has: tests/hw/test_blocks.py adds it up.
RESET_CLOCKS = 64


class Accelerator(wiring.Component):
    """Registers, memory controller unit and attribute processor array.

    Parameters
    ----------
    geometry : Geometry
    **options
        Of `MemoryController`.

    Members
    -------
    commands : In(stream of words of ``geometry.bus_width``)
    reports : Out(stream of {data: 32, last})
    m_axi : Out(AXI4); memory_size : In(32)
        Memory that LEARN fetches rows from and LOAD writes, and its bytes; with pages at its end.
    csr : In(CSR)
        Registers, read after READ_LATENCY clocks; written only while nothing is under way and no
        command is offered. None is taken for `RESET_CLOCKS` after a write.

    reset : In(1)
        Begin anew, like a reset of the clock domain, but by registers in all parts of the chip.
        It lasts `RESET_CLOCKS` or more; until the second clock after it there are no commands and
        accesses, and reports mean nothing.

    busy : Out(1)
        ``status.busy``: a command or anything that one has begun is under way, or was a clock ago.

    Statistics and slot table are empty after configuration; a reset leaves them as they are.

    Latency, throughput: those of `MemoryController`.

    Raises
    ------
    ValueError
        If the geometry is none of hardware's.

    Source: design, section 2.
    """

    def __init__(self, geometry, **options):
        geometry.check_hardware()
        self.geometry = g = geometry
        self.options = options
        super().__init__(
            {
                "commands": In(stream.Signature(g.bus_width)),
                "reports": Out(stream.Signature(REPORT_WORD)),
                "m_axi": Out(axi_signature(g.bus_width)),
                "memory_size": In(32),
                "csr": In(CSR),
                "reset": In(1),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        kept = [register for register in REGISTERS if register.name not in COUNTERS]
        registers = RegisterFile(g, [*kept, *TREE_REGISTERS], [*CONFIGURATION, *TREE_REGISTERS])
        add_with_reset(m, "registers", registers, self.reset)
        m.submodules.controller = controller = MemoryController(g, **self.options)
        m.submodules.array = array = AttributeProcessorArray(chip_geometry(g))

        # Commands wait until what is written has gone through all registers behind it, which are no more than what a
        # reset empties. `settled` has a register of its own, for it holds up every command.
        settle, settled = Signal(range(RESET_CLOCKS)), Signal(init=1)
        with m.If(self.csr.w_en):
            m.d.sync += [settle.eq(RESET_CLOCKS - 1), settled.eq(0)]
        with m.Elif(~settled):
            m.d.sync += [settle.eq(settle - 1), settled.eq(settle == 1)]
        queue = CommandQueue(g.bus_width, _WORDS)
        add_with_reset(m, "queue", queue, self.reset)
        m.d.comb += queue.open.eq(settled & ~self.csr.w_en)
        connect(m, flipped(self.commands), queue.i)
        connect(m, queue.o, controller.commands)
        connect(m, controller.reports, flipped(self.reports))
        connect(m, controller.m_axi, flipped(self.m_axi))
        m.d.comb += [controller.memory_size.eq(self.memory_size), registers.ram_bytes.eq(controller.row_bytes)]
        configured = {
            CONFIGURATION: [controller.configuration, array.configuration],
            DECIDER: [controller.rule],
            TREE: [controller.tree],
            LEAF_ROWS: [controller.rows],
        }
        for group, ports in configured.items():
            for register in group:
                for port in ports:
                    connect(m, getattr(registers.configuration, register.name), getattr(port, register.name))
        join(m, array, controller.array)
        connect(m, array.gains, controller.gains)
        connect(m, array.summary, controller.summary)
        connect(m, array.partial, controller.partial)

        # What is under way says so until what it goes to does: without a command nothing becomes busy.
        busy, busy_now = Signal(init=1), Signal()  # a clock late, as who reads it is
        resetting = Signal()  # as blocks hear of it
        m.d.comb += busy_now.eq(controller.busy | array.busy | queue.o.valid)
        m.d.sync += [
            busy.eq(busy_now),
            resetting.eq(self.reset),
            Assert(~(resetting & self.csr.w_en), "a register is written while it is reset"),
            Assert(busy | ~busy_now | queue.o.valid, "busy without a command"),
            Assert(busy | ~(controller.happens | array.clamped), "an event of what is not under way"),
        ]
        m.d.comb += [
            controller.reset.eq(self.reset),
            array.reset.eq(self.reset),
            *(getattr(registers, name.replace(".", "_")).eq(value) for name, value in identity_fields(g).items()),
            *drive(registers, status_halted=controller.halted, status_busy=busy, status_failing=controller.failing),
            self.busy.eq(busy),
            controller.clear.eq(registers.control_clear),
            *assign(controller, array, "snap_freed", "clamped"),
        ]

        # The counters' registers are none: the controller has them in a memory.
        csr = self.csr
        number = Signal.like(csr.addr)
        m.d.comb += [
            *assign(registers.csr, csr, "addr", "w_en", "w_data"),
            number.eq(csr.addr - find(next(iter(COUNTERS))).addr // 4),
            controller.counter.eq(number),
        ]
        m.d.sync += csr.r_data.eq(Mux(number < len(COUNTERS), controller.counted, registers.csr.r_data))
        return m
