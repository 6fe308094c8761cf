"""The core with streams against the golden model: any commands, whatever sender, receiver and registers do."""

import logging
import random

import cocotb
from bregalad.geometry import Geometry
from bregalad.protocol.commands import Opcode, pack_command
from bregalad.protocol.registers import find
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, with_timeout
from cocotbext.axi import (
    AxiLiteBus,
    AxiLiteMaster,
    AxiStreamBus,
    AxiStreamFrame,
    AxiStreamSink,
    AxiStreamSource,
)

from bregalad_sim.golden import Golden
from bregalad_sim.runner import parameters
from bregalad_sim.traffic import Traffic

PERIOD = 10  # ns


class Bench:
    """The core and a golden model beside it."""

    def __init__(self, dut):
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.geometry = Geometry(**parameters()["geometry"])
        self.golden = Golden(self.geometry, 0)
        logging.getLogger(f"cocotb.{dut._name}").setLevel(logging.WARNING)
        clock = {"clock": dut.aclk, "reset": dut.aresetn, "reset_active_level": False}
        self.source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), **clock)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), **clock)
        self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), **clock)

    async def start(self, period):
        dut = self.dut
        cocotb.start_soon(Clock(dut.aclk, PERIOD, "ns").start())
        if hasattr(dut, "array_clk"):
            cocotb.start_soon(Clock(dut.array_clk, period, "ps").start())
        dut.aresetn.value = 0
        await ClockCycles(dut.aclk, 64)
        dut.aresetn.value = 1
        await ClockCycles(dut.aclk, 4)

    def pause(self, probability):
        """Sender and receiver pause at random."""
        for port in (self.source, self.sink):
            rng = random.Random(self.rng.random())
            port.set_pause_generator(iter(lambda rng=rng: rng.random() < probability, None))

    async def write(self, name, **fields):
        value = sum(fields.get(f.name, 0) << lsb for f, lsb in find(name).layout())
        await self.registers.write(find(name).addr, value.to_bytes(4, "little"))
        self.golden.write_register(name, value)

    async def execute(self, data):
        """Send commands in frames of any size to both; every report is a frame, and the golden model's."""
        word, want = self.geometry.bus_bytes, self.golden.execute(data)
        at = 0
        while at < len(data):
            size = self.rng.randint(1, 64) * word
            self.source.send_nowait(AxiStreamFrame(data[at : at + size]))
            at += size
        found = b""
        while len(found) < len(want):
            found += bytes((await with_timeout(self.sink.recv(), 5, "ms")).tdata)
            assert want.startswith(found), "reports are not the golden model's"


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def anything(dut):
    bench = Bench(dut)
    rng, g = bench.rng, bench.geometry
    await bench.start(rng.choice([3_702, 27_182]) // 2 * 2)
    await bench.execute(b"".join(pack_command(g, Opcode.CLEAR, slot=slot) for slot in range(g.slots)))
    for probability in (0, 0.3, 0.7):
        bench.pause(probability)
        traffic = Traffic(g, rng, bench.golden.memory, rings=0)
        for name, fields in traffic.configuration():
            await bench.write(name, **fields)
        stream = b"".join(traffic.command(faults=probability == 0.7) for _ in range(30))
        await bench.execute(stream + pack_command(g, Opcode.RESET) + pack_command(g, Opcode.FENCE, token=7))
    found = await bench.registers.read(find("identity").addr, 4)
    assert int.from_bytes(found.data, "little") == bench.golden.read_register("identity")
    assert int((await bench.registers.read(0x400, 4)).resp) == 2, "there are no rings"
