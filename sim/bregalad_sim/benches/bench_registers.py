"""RegisterFile against its declaration: every field of every register."""

from collections import deque

import cocotb
from bregalad.geometry import Geometry
from bregalad.protocol.registers import CONFIGURATION, REGISTERS, Access
from bregalad_hw.registers import ADDRESS_WIDTH, RegisterFile
from cocotb.triggers import FallingEdge

from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench


class Bench(BlockBench):
    """Drives and checks every port clock by clock, at the falling edges."""

    def __init__(self, dut):
        self.geometry = Geometry(**parameters()["geometry"])
        super().__init__(dut, RegisterFile(self.geometry))
        self.registers = {register.addr // 4: register for register in REGISTERS}
        self.fields = {(register.name, field.name): field for register in REGISTERS for field in register.fields}
        self.ports = {
            (register.name, field.name): getattr(
                dut,
                f"configuration__{register.name}__{field.name}"
                if register in CONFIGURATION
                else f"{register.name}_{field.name}",
            )
            for register in REGISTERS
            for field in register.fields
        }
        self.values = {key: field.reset for key, field in self.fields.items()}
        self.reads = deque([0] * (RegisterFile.latency - 1))  # what the addresses before have

    async def start(self):
        await super().start()
        await FallingEdge(self.dut.clk)
        for key, field in self.fields.items():
            if field.access is Access.RO:
                self.values[key] = 0
        self.reads = deque([self.word(0)] * (RegisterFile.latency - 1))

    def word(self, addr):
        """What a read gives."""
        if addr not in self.registers:
            return 0
        register = self.registers[addr]
        return sum(
            self.values[register.name, field.name] << lsb
            for field, lsb in register.layout()
            if field.access is not Access.PULSE
        )

    async def step(self, addr, data=None):
        """One clock: look at an address, write it if there is data, and check everything."""
        dut, rng = self.dut, self.rng
        for key, field in self.fields.items():
            if field.access is Access.RO:
                if rng.random() < 0.2:
                    self.values[key] = rng.getrandbits(field.width)
                self.ports[key].value = self.values[key]
        dut.csr__addr.value, dut.csr__w_en.value = addr, data is not None
        dut.csr__w_data.value = rng.getrandbits(32) if data is None else data
        self.reads.append(self.word(addr))
        for key, field in self.fields.items():
            if field.access is Access.PULSE:
                self.values[key] = 0
        if data is not None and addr in self.registers:
            register = self.registers[addr]
            for name, value in register.taken(data, self.geometry).items():
                self.values[register.name, name] = value
        await FallingEdge(dut.clk)
        read = self.reads.popleft()
        assert int(dut.csr__r_data.value) == read, f"word {addr:#x} or one before"
        for key, field in self.fields.items():
            if field.access is not Access.RO:
                assert int(self.ports[key].value) == self.values[key], key


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def fields(dut):
    """Each register's reset value, then each of its bits written alone, between idle clocks."""
    bench = Bench(dut)
    await bench.start()
    for addr in bench.registers:
        await bench.step(addr)
    for addr in bench.registers:
        for bit in range(32):
            for data in (1 << bit, (1 << 32) - 1, ~(1 << bit) & (1 << 32) - 1, 0):
                await bench.step(addr, data)
            await bench.step(addr)


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def ranges(dut):
    """Every field about the ends of its range, the others at random, and what is read then."""
    bench = Bench(dut)
    await bench.start()
    for addr, register in bench.registers.items():
        for field, lsb in register.layout():
            mask = (1 << field.width) - 1
            for end in field.range(bench.geometry):
                for bits in (end - 1, end, end + 1):
                    word = bench.rng.getrandbits(32) & ~(mask << lsb) | (bits & mask) << lsb
                    await bench.step(addr, word)
                    await bench.step(addr)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def any_access(dut):
    """Random reads and writes without a gap, of addresses without a register too."""
    bench = Bench(dut)
    await bench.start()
    rng = bench.rng
    for _ in range(parameters()["clocks"]):
        addr = rng.choice([*bench.registers, rng.randrange(1 << ADDRESS_WIDTH)])
        await bench.step(addr, rng.getrandbits(32) if rng.random() < 0.5 else None)
