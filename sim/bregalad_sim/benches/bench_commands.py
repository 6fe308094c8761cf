"""The command ring against memories that pause and fail, and a host that writes descriptors."""

import cocotb
from bregalad.protocol.soc import BUFFER, DESCRIPTOR, PAGE, Stop
from bregalad_hw.soc.commands import CommandRing
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiReadBus, AxiSlaveRead

from bregalad_sim.benches.models import answer, pause, quiet
from bregalad_sim.bits import words_of
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

AT = 3 * PAGE  # of the ring
FIRST, BYTES = 32 * PAGE, 1 << 18  # where buffers lie, and all memory


class Target:
    """A memory with faults; remembers the response of the word it gave last."""

    def __init__(self, memory):
        self.memory, self.faults, self.response = memory, {}, 0

    async def read(self, address, length):
        self.response = self.faults.get(address, 0)
        return bytes(length) if self.response else bytes(self.memory[address : address + length])


class Bench(BlockBench):
    def __init__(self, dut):
        super().__init__(dut, CommandRing(parameters()["width"]))
        self.size = parameters()["width"] // 8
        self.memory = bytearray(BYTES)
        self.targets, self.slaves = [Target(self.memory), Target(self.memory)], []
        for number, target in enumerate(self.targets):
            prefix = f"axi__{number}_"
            quiet(dut, prefix)
            slave = AxiSlaveRead(AxiReadBus.from_prefix(dut, prefix), dut.clk, dut.rst, target)
            answer(slave.r_channel, "rresp", lambda target=target: target.response)
            self.slaves.append(slave)
        self.want, self.got = [], 0
        self.descriptors, self.consumed = [], 0  # all that were ever written; those that are done
        self.free = FIRST
        self.stops = dict.fromkeys(Stop, 0)

    async def start(self, log2, index):
        await super().start()
        self.log2, self.index = log2, index
        self.set_inputs(page=AT // PAGE, size=log2, produced=index, clear=1)
        for _ in range(3):
            await RisingEdge(self.dut.clk)
        self.set_inputs(clear=0, run=1)

    def place(self, number):
        return AT + (self.index + number) % (1 << self.log2) * DESCRIPTOR.size

    def write(self, number, descriptor):
        self.memory[self.place(number) : self.place(number) + DESCRIPTOR.size] = descriptor

    def add(self, bad=0.0):
        """A descriptor, and what it brings."""
        rng, size = self.rng, self.size
        if rng.random() < 0.5:
            opcode = rng.choice([rng.randrange(BUFFER), rng.randrange(BUFFER + 1, 256)])
            right = wrong = bytes([opcode]) + rng.randbytes(DESCRIPTOR.size - 1)
            brings = right + bytes(-len(right) % size)
        else:
            brings = rng.randbytes(rng.choice([0, 1, rng.randint(1, 8), rng.randint(1, 100)]) * size)
            if self.free + len(brings) > BYTES:
                self.free = FIRST
            self.memory[self.free : self.free + len(brings)] = brings
            values = {"opcode": BUFFER, "count": len(brings), "address": self.free}
            right = wrong = DESCRIPTOR.pack(**values)
            if rng.random() < bad:
                name = rng.choice(["count", "address"])
                wrong = DESCRIPTOR.pack(**{**values, name: values[name] + rng.randrange(1, size)})
            self.free += len(brings)
        self.write(len(self.descriptors), wrong)
        self.descriptors.append((right, wrong))
        self.want += words_of(brings, size)

    def offer(self):
        self.dut.produced.value = (self.index + len(self.descriptors)) % (1 << 32)

    async def clock(self):
        """What the core does in a clock, as (stop, idle)."""
        dut = self.dut
        self.drive()
        got = (await self.settle())["commands"]
        stop, idle, consumed = int(dut.stop.value), int(dut.idle.value), int(dut.consumed.value)
        await RisingEdge(dut.clk)
        dut.resume.value = 0
        if got is not None:
            assert got == self.want[self.got], f"word {self.got}"
            self.got += 1
        self.consumed = (consumed - self.index) % (1 << 32)
        return stop, idle

    @property
    def room(self):
        return (1 << self.log2) - (len(self.descriptors) - self.consumed)

    async def mend(self, stop):
        """Check what is told of a stop, put it right, go on."""
        dut, (right, wrong) = self.dut, self.descriptors[self.consumed]
        address = int(dut.address.value)
        if stop == Stop.MISALIGNED:
            assert right != wrong and address == int(DESCRIPTOR.unpack(wrong)["address"])
            self.write(self.consumed, right)
            self.descriptors[self.consumed] = right, right
        else:
            ring, buffer = self.targets
            target = buffer if address >= FIRST else ring
            assert stop == target.faults[address], f"{address:#x}"
            if target is ring:
                first = self.place(self.consumed)
                assert address < first + DESCRIPTOR.size and first < address + self.size
            del target.faults[address]
        for _ in range(self.rng.randrange(30)):
            assert await self.clock() == (stop, 0), "it does not stand"
        dut.resume.value = 1
        await self.clock()

    async def step(self):
        """A clock, and a stop put right; whether the core is idle."""
        stop, idle = await self.clock()
        if stop:
            self.stops[Stop(stop)] += 1
            await self.mend(stop)
        return idle

    async def halt(self):
        """Take ``run`` away until the core stops or is idle; whether it was idle."""
        self.dut.run.value = 0
        for _ in range(10_000):
            stop, idle = await self.clock()
            if stop or idle:
                break
        if idle:  # what was not taken may be another
            left = range(self.consumed, len(self.descriptors))
            for number in left:
                self.write(number, bytes(DESCRIPTOR.size))
            for _ in range(self.rng.randrange(40)):
                assert await self.clock() == (0, 1)
            for number in left:
                self.write(number, self.descriptors[number][1])
        self.dut.run.value = 1
        return idle


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(log2=[2, 5])
async def anything(dut, log2):
    """A ring that goes round, stops and faults at any time: every word once, in order."""
    bench = Bench(dut)
    rng = bench.rng
    await bench.start(log2, (1 << 32) - rng.randrange(40))
    halts = 0
    for clock in range(5_000):
        if clock % 1000 == 0:
            pause(rng, rng.choice([0, 0.5]), *bench.slaves)
            bench.stall(rng.choice([0, 0.3, 0.9]))
        if rng.random() < 0.02:
            for _ in range(rng.randint(0, bench.room)):
                bench.add(bad=0.1)
            bench.offer()
        if rng.random() < 0.01:
            target = rng.choice(bench.targets)
            first, end = (AT, AT + (DESCRIPTOR.size << log2)) if target is bench.targets[0] else (FIRST, bench.free)
            if first < end:
                word = rng.randrange(first, end) // bench.size * bench.size
                target.faults.setdefault(word, rng.choice([2, 3]))
        if rng.random() < 0.01:
            halts += await bench.halt()
        await bench.step()
    for _ in range(20_000):
        idle = await bench.step()
        if bench.consumed == len(bench.descriptors) and idle:
            break
    assert bench.got == len(bench.want) and bench.consumed == len(bench.descriptors)
    dut._log.info("%d words, %d halts, %s", bench.got, halts, bench.stops)
    assert all(bench.stops[stop] for stop in (Stop.SLVERR, Stop.DECERR, Stop.MISALIGNED)) and halts


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def index(dut):
    """More descriptors than the ring has are not believed."""
    bench = Bench(dut)
    await bench.start(3, 0)
    for _ in range(8):
        bench.add()
    dut.produced.value = 9
    while not (stop := (await bench.clock())[0]):
        pass
    assert stop == Stop.INDEX and bench.consumed == 0
    bench.offer()
    dut.resume.value = 1
    while bench.consumed < 8:
        await bench.clock()
    assert bench.got == len(bench.want)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def rate(dut):
    """The latency that is stated, and a word per clock within a buffer."""
    bench = Bench(dut)
    await bench.start(3, 0)
    for _ in range(20):
        await bench.clock()
    bench.write(0, bytes(DESCRIPTOR.size))
    bench.want += [0] * max(1, DESCRIPTOR.size // bench.size)
    bench.descriptors.append((bytes(16), bytes(16)))
    bench.offer()
    clocks = 0
    while not int(dut.axi__0__arvalid.value):
        await bench.clock()
        clocks += 1
    assert clocks == parameters()["latency"] + 1, clocks
    while bench.got < len(bench.want):
        await bench.clock()
    brings = bench.rng.randbytes(400 * bench.size)
    bench.memory[FIRST : FIRST + len(brings)] = brings
    bench.want += words_of(brings, bench.size)
    descriptor = DESCRIPTOR.pack(opcode=BUFFER, count=len(brings), address=FIRST)
    bench.write(1, descriptor)
    bench.descriptors.append((descriptor, descriptor))
    bench.offer()
    start = bench.got
    while bench.got == start:
        await bench.clock()
    clocks = 0
    while bench.got < len(bench.want):
        await bench.clock()
        clocks += 1
    assert clocks <= 400 * 1.06 + 5, clocks
