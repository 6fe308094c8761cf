"""The report ring against a memory that pauses and fails, and a host that reads when it likes."""

import cocotb
from bregalad.protocol.soc import PAGE, Stop
from bregalad_hw.soc.reports import ReportRing
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiSlaveWrite, AxiWriteBus

from bregalad_sim.benches.models import answer, pause, quiet
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

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


class Bench(BlockBench):
    def __init__(self, dut):
        super().__init__(dut, ReportRing(parameters()["width"]))
        self.source, self.target = self.ends["i"], Target(self.rng)
        quiet(dut, "axi_")
        self.axi = AxiSlaveWrite(AxiWriteBus.from_prefix(dut, "axi_"), dut.clk, dut.rst, self.target)
        answer(self.axi.b_channel, "bresp", self._response)
        self.faults = 0.0
        self.want, self.consumed = [], 0  # words that were offered, those read
        self.stops = 0

    def _response(self):
        target, rng = self.target, self.rng
        target.bursts += 1
        response = rng.choice([2, 3]) if target.fails else 0
        target.fails = rng.random() < self.faults
        return response

    async def start(self, index):
        await super().start()
        self.index = index
        self.set_inputs(page=AT // PAGE, size=(SIZE - 1).bit_length(), pages=PAGES, consumed=index, clear=1)
        for _ in range(3):
            await RisingEdge(self.dut.clk)
        self.set_inputs(clear=0)

    def report(self, length):
        words = [self.rng.getrandbits(32) for _ in range(length)]
        self.want += words
        self.source.items += [{"data": word, "last": at == length - 1} for at, word in enumerate(words)]

    async def clock(self, read):
        """A clock; the host reads with a probability."""
        dut = self.dut
        self.drive()
        await self.settle()
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


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(slow=[False, True])
async def anything(dut, slow):
    """Reports of any length, a ring that goes round and is full, faults: every word, once, in order."""
    bench = Bench(dut)
    rng = bench.rng
    await bench.start((1 << 32) - rng.randrange(300))
    if slow:
        pause(rng, 0.5, bench.axi)
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
