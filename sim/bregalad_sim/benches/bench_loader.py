"""The loader against a memory that pauses and fails: what it writes, and what it says of it."""

import cocotb
from bregalad_hw.mcmu.loader import Loader
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiSlaveWrite, AxiWriteBus

from bregalad_sim.benches.models import answer, pause, quiet
from bregalad_sim.bits import words_of
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

SIZE = 1 << 12


class Target:
    """Memory, and the response that it gives."""

    def __init__(self):
        self.data = bytearray(SIZE)
        self.response = 0

    async def write(self, address, data):
        assert address + len(data) <= SIZE, "written behind the memory's end"
        self.data[address : address + len(data)] = data


class Bench(BlockBench):
    def __init__(self, dut):
        super().__init__(dut, Loader(parameters()["width"]))
        self.size = parameters()["width"] // 8
        self.source = self.ends["load__payload"]
        self.target = target = Target()
        quiet(dut, "axi_")
        self.axi = AxiSlaveWrite(AxiWriteBus.from_prefix(dut, "axi_"), dut.clk, dut.rst, target)
        answer(self.axi.b_channel, "bresp", lambda: target.response)

    async def start(self):
        await super().start()
        self.set_inputs(memory_size=SIZE)

    async def load(self, address, data, stall, drop):
        """Whether it failed, and the clocks it took."""
        dut, size = self.dut, self.size
        payload = bytes(address % size) + data
        payload += bytes(-len(payload) % size)
        words = words_of(payload, size)
        behind = self.rng.getrandbits(8 * size)  # the next command
        self.source.items += [*words, behind]
        self.source.stall = stall
        self.set_inputs(load__address=address, load__count=len(data), load__start=1, load__drop=drop)
        clocks = 0
        while True:
            self.drive()
            await self.settle()
            done, failed = int(dut.load__done.value), int(dut.load__failed.value)
            await RisingEdge(dut.clk)
            dut.load__start.value = 0
            clocks += 1
            assert clocks < 100 + 100 * len(words), "no end"
            if done:
                assert list(self.source.items) == [behind], "a word was left, or one too many taken"
                self.source.items.clear()
                self.source.offered = False
                return failed, clocks


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.6])
async def ranges(dut, stall):
    """Any place and length; what is outside, or to be dropped, changes nothing."""
    bench = Bench(dut)
    await bench.start()
    rng, size, target = bench.rng, bench.size, bench.target
    pause(rng, stall, bench.axi)
    seen = dict.fromkeys(("fits", "outside", "far", "dropped", "error"), 0)
    for _ in range(400):
        count = rng.choice([0, rng.randint(1, size), rng.randint(1, 6 * size)])
        near = rng.choice([0, rng.randrange(SIZE), SIZE - count, SIZE - count + 1, SIZE])
        address = rng.choice([near, near, near, near + (1 << 32), rng.getrandbits(64)])
        drop = rng.random() < 0.1
        target.response = rng.choice([0, 0, 0, 2])
        fits = address + count <= SIZE
        data, want = rng.randbytes(count), bytearray(target.data)
        if fits and not drop:
            want[address : address + count] = data
        failed, _ = await bench.load(address, data, stall, drop)
        refused = (
            not drop and fits and target.response and address % size + count
        )  # a word without bytes is written, too
        assert failed == (not drop and not fits or bool(refused))
        assert target.data == want, f"{count} bytes at {address:#x}"
        for what, now in (
            ("fits", fits and count and not drop),
            ("outside", not fits),
            ("far", address >> 32 and (address & 0xFFFFFFFF) + count <= SIZE),
            ("dropped", drop),
            ("error", refused),
        ):
            seen[what] += bool(now)
    dut._log.info("%s", seen)
    assert all(seen.values()), seen


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def rate(dut):
    """A word per clock."""
    bench = Bench(dut)
    await bench.start()
    count = SIZE // bench.size
    failed, clocks = await bench.load(0, bench.rng.randbytes(SIZE), 0.0, False)
    assert not failed and clocks <= count + 20, clocks
