"""The posted writer against a memory that pauses and refuses: every word comes to it once all are answered."""

from collections import deque

import cocotb
from bregalad_hw.mcmu.posted import PostedWriter
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiSlaveWrite, AxiWriteBus

from bregalad_sim.benches.models import answer, pause, quiet
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench


class Target:
    """Memory of words by address that refuses some, and the responses that it gives."""

    def __init__(self, rng):
        self.rng, self.words, self.responses, self.refused = rng, {}, deque(), 0.0

    async def write(self, address, data):
        fails = self.rng.random() < self.refused
        self.responses.append(2 * fails)
        if not fails:
            assert address not in self.words, "written twice"
            self.words[address] = int.from_bytes(data, "little")


class Bench(BlockBench):
    def __init__(self, dut):
        self.width = parameters()["width"]
        super().__init__(dut, PostedWriter(self.width))
        self.target = Target(self.rng)
        quiet(dut, "axi_")
        self.axi = AxiSlaveWrite(AxiWriteBus.from_prefix(dut, "axi_"), dut.clk, dut.rst, self.target)
        answer(self.axi.b_channel, "bresp", self.target.responses.popleft)

    async def write(self, words, stall):
        """Clocks until all these words of addresses are in memory."""
        self.target.words.clear()
        self.ends["i"].items += [{"address": address, "data": data} for address, data in words.items()]
        self.ends["i"].stall = stall
        clocks, done = 0, False
        while not done:
            offered = bool(self.ends["i"].items)
            self.drive()
            await self.settle()
            done = not offered and bool(int(self.dut.empty.value))
            await RisingEdge(self.dut.clk)
            clocks += 1
            assert clocks < 1000 + 100 * len(words), "no end"
        assert self.target.words == words
        return clocks


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.6])
async def words(dut, stall):
    """Any words, refused now and then, or most of the time."""
    bench = Bench(dut)
    await bench.start()
    rng, size = bench.rng, bench.width // 8
    pause(rng, stall, bench.axi)
    for bench.target.refused in (0.0, 0.05, 0.5, 0.9):
        for _ in range(10):
            addresses = rng.sample(range(1 << 16), rng.randint(1, 60))
            await bench.write({size * each: rng.getrandbits(bench.width) for each in addresses}, stall)
            assert bench.target.refused or not int(dut.failed.value)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def rate(dut):
    """A word per clock, as fast as memory answers."""
    bench = Bench(dut)
    await bench.start()
    size = bench.width // 8
    clocks = await bench.write({size * each: each for each in range(200)}, 0.0)
    assert clocks <= 220, clocks
