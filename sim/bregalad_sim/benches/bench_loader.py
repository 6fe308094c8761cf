"""The loader against a memory that pauses and fails: what it writes, and what it says of it."""

import logging
import random

import cocotb
from amaranth import unsigned
from cocotb.triggers import ReadOnly, RisingEdge
from cocotbext.axi import AxiSlaveWrite, AxiWriteBus

from bregalad_sim.runner import parameters
from bregalad_sim.streams import Source, reset

SIZE = 1 << 12


class Target:
    """Memory, and the response that it gives."""

    def __init__(self):
        self.data = bytearray(SIZE)
        self.response = 0

    async def write(self, address, data):
        assert address + len(data) <= SIZE, "written behind the memory's end"
        self.data[address : address + len(data)] = data


class Bench:
    def __init__(self, dut):
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.size = parameters()["width"] // 8
        self.source = Source(dut, "load__payload", unsigned(8 * self.size), self.rng)
        self.target = target = Target()
        logging.getLogger(f"cocotb.{dut._name}.axi_").setLevel(logging.WARNING)
        self.axi = AxiSlaveWrite(AxiWriteBus.from_prefix(dut, "axi_"), dut.clk, dut.rst, target)
        send = self.axi.b_channel.send

        async def respond(word):
            word.bresp = target.response
            await send(word)

        self.axi.b_channel.send = respond

    async def start(self):
        dut = self.dut
        await reset(dut, dut.load__start, dut.load__drop, dut.load__address, dut.load__count)
        dut.memory_size.value = SIZE

    async def load(self, address, data, stall, drop):
        """Whether it failed, and the clocks it took."""
        dut, size = self.dut, self.size
        payload = bytes(address % size) + data
        payload += bytes(-len(payload) % size)
        words = [int.from_bytes(payload[at : at + size], "little") for at in range(0, len(payload), size)]
        behind = self.rng.getrandbits(8 * size)  # the next command
        self.source.items += [*words, behind]
        self.source.stall = stall
        dut.load__address.value, dut.load__count.value = address, len(data)
        dut.load__start.value, dut.load__drop.value = 1, drop
        clocks = 0
        while True:
            self.source.drive()
            await ReadOnly()
            self.source.settle()
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

    def pause(self, probability):
        axi = self.axi
        for channel in (axi.aw_channel, axi.w_channel, axi.b_channel):
            rng = random.Random(self.rng.random())
            channel.set_pause_generator(iter(lambda rng=rng: rng.random() < probability, None))


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.6])
async def ranges(dut, stall):
    """Any place and length; what is outside, or to be dropped, changes nothing."""
    bench = Bench(dut)
    await bench.start()
    bench.pause(stall)
    rng, size, target = bench.rng, bench.size, bench.target
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
