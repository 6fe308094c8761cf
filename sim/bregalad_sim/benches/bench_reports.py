"""The report ring against a memory that pauses and fails, and a host that reads when it likes."""

import logging
import random

import cocotb
from bregalad.protocol.soc import PAGE, Stop
from bregalad_hw.mcmu.report import word_layout
from cocotb.triggers import ReadOnly, RisingEdge
from cocotbext.axi import AxiSlaveWrite, AxiWriteBus

from bregalad_sim.runner import parameters
from bregalad_sim.streams import Source, reset

PAGES = 8
AT, SIZE = 5 * PAGE, PAGE  # of the ring


class Target:
    """Memory; what a burst has written that fails is not what it was to write."""

    def __init__(self, rng):
        self.rng, self.data, self.fails = rng, bytearray(PAGES * PAGE), False
        self.bursts = 0

    async def write(self, address, data):
        assert AT <= address and address + len(data) <= AT + SIZE, f"{address:#x} is not in the ring"
        self.data[address : address + len(data)] = self.rng.randbytes(len(data)) if self.fails else data


class Bench:
    def __init__(self, dut):
        self.dut = dut
        self.rng = rng = random.Random(cocotb.RANDOM_SEED)
        self.source = Source(dut, "i", word_layout(), rng)
        self.target = target = Target(rng)
        logging.getLogger(f"cocotb.{dut._name}.axi_").setLevel(logging.WARNING)
        self.axi = AxiSlaveWrite(AxiWriteBus.from_prefix(dut, "axi_"), dut.clk, dut.rst, target)
        send, self.faults = self.axi.b_channel.send, 0.0

        async def respond(word):
            target.bursts += 1
            word.bresp = rng.choice([2, 3]) if target.fails else 0
            target.fails = rng.random() < self.faults
            await send(word)

        self.axi.b_channel.send = respond
        self.want, self.consumed = [], 0  # words that were offered, those read
        self.stops = 0

    async def start(self, index):
        dut = self.dut
        inputs = (dut.page, dut.size, dut.pages, dut.consumed, dut.resume, dut.clear)
        await reset(dut, *inputs)
        dut.page.value, dut.size.value, dut.pages.value = AT // PAGE, (SIZE - 1).bit_length(), PAGES
        self.index = dut.consumed.value = index
        dut.clear.value = 1
        for _ in range(3):
            await RisingEdge(dut.clk)
        dut.clear.value = 0

    def report(self, length):
        words = [self.rng.getrandbits(32) for _ in range(length)]
        self.want += words
        self.source.items += [{"data": word, "last": at == length - 1} for at, word in enumerate(words)]

    async def clock(self, read):
        """A clock; the host reads with a probability."""
        dut = self.dut
        self.source.drive()
        await ReadOnly()
        self.source.settle()
        stop, produced = int(dut.stop.value), int(dut.produced.value)
        idle = int(dut.idle.value)
        await RisingEdge(dut.clk)
        dut.resume.value = 0
        if stop and self.rng.random() < 0.02:
            assert stop in (Stop.SLVERR, Stop.DECERR)
            assert int(dut.address.value) == AT + produced * 4 % SIZE
            self.stops += 1
            dut.resume.value = 1
        ready = (produced - self.index) % (1 << 32) - self.consumed
        assert 0 <= ready <= SIZE // 4
        for _ in range(self.rng.randint(0, ready) if self.rng.random() < read else 0):
            at = AT + (self.index + self.consumed) * 4 % SIZE
            found = int.from_bytes(self.target.data[at : at + 4], "little")
            assert found == self.want[self.consumed], f"word {self.consumed}"
            self.consumed += 1
        dut.consumed.value = (self.index + self.consumed) % (1 << 32)
        return idle

    async def end(self, read=1.0):
        """Until all is read."""
        for _ in range(300_000):
            idle = await self.clock(read)
            if not self.source.items and self.consumed == len(self.want):
                assert idle
                return
        raise AssertionError(f"no end: {self.consumed} of {len(self.want)} words")

    def pause(self, probability):
        for channel in (self.axi.aw_channel, self.axi.w_channel, self.axi.b_channel):
            rng = random.Random(self.rng.random())
            channel.set_pause_generator(iter(lambda rng=rng: rng.random() < probability, None))


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(slow=[False, True])
async def anything(dut, slow):
    """Reports of any length, a ring that goes round and is full, faults: every word, once, in order."""
    bench = Bench(dut)
    rng = bench.rng
    await bench.start((1 << 32) - rng.randrange(300))
    if slow:
        bench.pause(0.5)
    bench.faults = 0.2
    for _ in range(4):
        bench.source.stall = rng.choice([0, 0.5, 0.9])
        for _ in range(rng.randint(1, 12)):
            bench.report(rng.choice([1, 2, rng.randint(1, 40), rng.randint(1, 400)]))
        await bench.end(rng.choice([0.001, 0.01, 1]))
    assert bench.stops, bench.stops


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def full(dut):
    """A host that does not read stops the reports; nothing is dropped or written over."""
    bench = Bench(dut)
    await bench.start(bench.rng.getrandbits(32))
    for _ in range(5):
        bench.report(500)
    for _ in range(4000):
        await bench.clock(0)
    assert SIZE // 4 - 1 <= (int(dut.produced.value) - bench.index) % (1 << 32) <= SIZE // 4
    await bench.end()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def outside(dut):
    """A ring that leaves the window is not written; moved, nothing is lost."""
    bench = Bench(dut)
    await bench.start(0)
    dut.pages.value = AT // PAGE
    bench.report(3)
    for _ in range(100):
        await bench.clock(0) if not int(dut.stop.value) else await RisingEdge(dut.clk)
    assert int(dut.stop.value) == Stop.DECERR and bench.target.bursts == 0
    dut.pages.value = PAGES
    await bench.end()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def rate(dut):
    """The latency that is stated, and a word per clock but for the memory's answers."""
    bench = Bench(dut)
    await bench.start(0)
    bench.report(1)
    clocks = 0
    while not int(dut.axi__awvalid.value):
        await bench.clock(1)
        clocks += bool(not bench.source.items)
    assert clocks == parameters()["latency"] + 1, clocks
    await bench.end()
    lanes = parameters()["width"] // 32
    count, clocks = 1000, 0
    bench.report(count)
    while bench.source.items:
        await bench.clock(1)
        clocks += 1
    least = 0.4 if lanes == 1 else 0.9
    assert count / clocks > least, count / clocks
    await bench.end()
