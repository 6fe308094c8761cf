"""The whole accelerator against the golden model: same commands, same reports, same events."""

import logging
import random

import cocotb
from bregalad.geometry import NONE, Geometry
from bregalad.protocol.commands import CommandFlag, Opcode, pack_command, record_layout
from bregalad.protocol.registers import CONFIGURATION, EVENTS, REGISTERS, TIMINGS, Access, CellKind, find
from bregalad.protocol.reports import ErrorCode, Kind
from bregalad_hw.accelerator import RESET_CLOCKS
from bregalad_hw.mcmu.report import word_layout
from bregalad_hw.registers import READ_LATENCY
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiSlave

from bregalad_sim.benches.sides import SIDES
from bregalad_sim.golden import Golden
from bregalad_sim.runner import parameters
from bregalad_sim.streams import Sink, Source, reset
from bregalad_sim.traffic import Traffic

MEMORY = 1 << 15
STALLS = ("stall_input", "stall_trial", "stall_lock", "stall_queue", "stall_halve", "stall_report")


class Target:
    """The golden model's memory as an AXI subordinate; remembers the response it owes."""

    def __init__(self, memory):
        self.memory = memory
        self.response = 0

    async def read(self, address, length):
        memory, self.response = self.memory, 0
        if address in memory.faults:
            self.response = int(memory.faults[address])
        elif address + length > len(memory.data):
            self.response = 3
        if self.response:
            return bytes(length)
        return bytes(memory.data[address : address + length])

    async def write(self, address, data):
        # The model executes what is sent first, and no LOAD brings what another one does.
        assert self.memory.data[address : address + len(data)] == data, f"{data.hex()} to {address:#x}"


class Bench:
    """The accelerator, a golden model beside it, and what drives both."""

    def __init__(self, dut, geometry, seed):
        self.dut, self.geometry = dut, geometry
        self.rng = rng = random.Random(seed)
        self.golden = Golden(geometry, MEMORY)
        self.received = bytearray()
        self.ends = []  # lengths of `received` where a report ended
        self.commands = Source(dut, "commands", geometry.bus_width, random.Random(rng.random()))
        self.reports = Sink(dut, "reports", word_layout(), random.Random(rng.random()))
        target = Target(self.golden.memory)
        for name in ("cocotb.dut.m_axi", f"cocotb.{dut._name}.m_axi"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self.axi = AxiSlave(AxiBus.from_prefix(dut, "m_axi_"), dut.clk, dut.rst, target)
        send = self.axi.read_if.r_channel.send

        async def respond(word):
            word.rresp = target.response
            await send(word)

        self.axi.read_if.r_channel.send = respond

    async def start(self):
        dut = self.dut
        await reset(dut, dut.csr__addr, dut.csr__w_en, dut.csr__w_data, dut.reset)
        dut.memory_size.value = MEMORY
        cocotb.start_soon(self._run())

    async def _run(self):
        while True:
            self.commands.drive()
            self.reports.drive()
            await ReadOnly()
            self.commands.settle()
            if word := self.reports.settle():
                self.received += word["data"].to_bytes(4, "little")
                if word["last"]:
                    self.ends.append(len(self.received))
            await RisingEdge(self.dut.clk)

    async def write(self, name, **fields):
        """Write a register's fields, of board and model."""
        await self.write_word(name, sum(fields.get(f.name, 0) << lsb for f, lsb in find(name).layout()))

    async def write_word(self, name, value):
        dut = self.dut
        dut.csr__addr.value, dut.csr__w_data.value = find(name).addr // 4, value
        dut.csr__w_en.value = 1
        await RisingEdge(dut.clk)
        dut.csr__w_en.value = 0
        self.golden.write_register(name, value)

    async def read(self, name):
        dut = self.dut
        dut.csr__addr.value = find(name).addr // 4
        await ClockCycles(dut.clk, READ_LATENCY)
        await ReadOnly()
        value = int(dut.csr__r_data.value)
        await RisingEdge(dut.clk)
        return value

    def send(self, data):
        size = self.geometry.bus_bytes
        self.commands.items += [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]

    async def execute(self, data, timeout_us=2000):
        """Send commands to both; compare the reports and where each ends."""
        self.received.clear()
        self.ends.clear()
        reports = []
        report = self.golden._report

        def note(layout, **values):
            report(layout, **values)
            reports.append(self.golden._reports[-1])

        self.golden._report = note
        want = self.golden.execute(data)
        self.golden._report = report
        self.send(data)

        async def finish():
            while self.commands.items or len(self.received) < len(want):
                await RisingEdge(self.dut.clk)
            await ClockCycles(self.dut.clk, 40)

        try:
            await with_timeout(finish(), timeout_us, "us")
        finally:
            self.compare(reports)

    def compare(self, reports):
        start = 0
        for index, (want, end) in enumerate(zip(reports, self.ends, strict=False)):
            got = bytes(self.received[start:end])
            assert got == want, (
                f"report {index}, {Kind(want[0]).name}:\n got {got.hex(' ', 4)}\nwant {want.hex(' ', 4)}"
            )
            start = end
        assert len(reports) == len(self.ends), f"{len(self.ends)} of {len(reports)} reports"
        assert start == len(self.received), "words after the last report"

    async def counters(self):
        return {name: await self.read(name) for name in (*EVENTS, *TIMINGS)}

    async def check_counters(self):
        """Events as the model's; every clock of a LEARN accounted for.

        Beats of several levels may share a clock, and those beside a prediction's are not counted.
        """
        got = await self.counters()
        for name in EVENTS:
            assert got[name] == self.golden.events[name] & 0xFFFFFFFF, (
                f"{name}: {got[name]}, not {self.golden.events[name]}"
            )
        beats = got["learning"] - sum(got[name] for name in STALLS)
        least = -(-got["beats"] // self.geometry.levels)
        most = got["beats"] + len(SIDES) * got["predictions"] * self.geometry.passes
        assert least <= beats <= most, f"{got['beats']} beats in {beats} clocks"
        return got

    def pause(self, probability):
        """Let the memory's channels pause."""
        read, write = self.axi.read_if, self.axi.write_if
        for channel in (read.r_channel, read.ar_channel, write.aw_channel, write.w_channel, write.b_channel):
            rng = random.Random(self.rng.random())
            channel.clear_pause_generator()
            # A channel whose generator is taken away stays as it was left.
            channel.pause = False
            if probability:
                channel.set_pause_generator(iter(lambda rng=rng: rng.random() < probability, None))


def geometry():
    return Geometry(**parameters()["geometry"])


async def begin(dut):
    seed = random.Random(cocotb.RANDOM_SEED).random()
    bench = Bench(dut, geometry(), seed)
    await bench.start()
    # A reset leaves memories as the test before left them.
    g = bench.geometry
    clear = b"".join(pack_command(g, Opcode.CLEAR, slot=slot) for slot in range(g.slots))
    await bench.execute(clear + pack_command(g, Opcode.FENCE))
    return bench


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def anything(dut):
    """Random streams of all commands under random configurations, stalls and faults."""
    bench = await begin(dut)
    g, rng, golden = bench.geometry, bench.rng, bench.golden
    for index in range(parameters().get("rounds", 10)):
        traffic = Traffic(g, rng, golden.memory, rings=0)  # `corners` has them
        golden.memory.faults.clear()
        for name, fields in traffic.configuration():
            await bench.write(name, **fields)
        bench.commands.stall = rng.choice([0, 0, 0.3, 0.8])
        bench.reports.stall = rng.choice([0, 0, 0.3, 0.8])
        bench.pause(rng.choice([0, 0.5]))
        faults = index % 2 == 1
        stream = b"".join(traffic.command(faults) for _ in range(parameters().get("length", 25)))
        stream += pack_command(g, Opcode.RESET) + pack_command(g, Opcode.FENCE, token=index)
        await bench.execute(stream, timeout_us=6000)
        got = await bench.check_counters()
        assert (await bench.read("status")) == 0
        dut._log.info("round %d: %s", index, got)


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def any_word(dut):
    """Any word in any register, then a random stream: the board goes on as the model, and so when all is set anew.

    All is set first, too: a reset leaves the cells' configuration as the test before left it.
    """
    bench = await begin(dut)
    g, rng, golden = bench.geometry, bench.rng, bench.golden
    for index in range(parameters().get("rounds", 10) | 1):
        traffic = Traffic(g, rng, golden.memory, rings=0)
        golden.memory.faults.clear()
        if index % 2 == 0:
            for name, fields in traffic.configuration():
                await bench.write(name, **fields)
        else:
            for name, word in traffic.words():
                await bench.write_word(name, word)
            for register in CONFIGURATION:
                assert await bench.read(register.name) == golden.read_register(register.name), register.name
        stream = b"".join(traffic.command(faults=True) for _ in range(parameters().get("length", 25)))
        stream += pack_command(g, Opcode.RESET) + traffic.checkpoint(slots=3, token=index)
        await bench.execute(stream, timeout_us=6000)
        await bench.check_counters()
        assert (await bench.read("status")) == 0


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def restart(dut):
    """A reset amid anything: nothing is left of it but what the memories hold."""
    bench = await begin(dut)
    g, rng = bench.geometry, bench.rng

    async def stream():
        """Configure; commands without faults, and without memory, which has no reset."""
        traffic = Traffic(g, rng, bench.golden.memory, rings=0)
        for name, fields in traffic.configuration():
            await bench.write(name, **fields)
        commands = (traffic.command(faults=False) for _ in range(15))
        return b"".join(
            command
            for command in commands
            if command[0] != Opcode.LOAD and (command[0] != Opcode.LEARN or not command[1] & CommandFlag.MEMORY)
        )

    for round_ in range(4 * parameters().get("rounds", 10)):
        bench.reports.stall = rng.choice([0, 0.8, 1])
        trials = b"".join(
            pack_command(g, Opcode.TRIAL, slot=slot) for slot in rng.sample(range(g.slots), min(g.slots, 8))
        )
        bench.send(rng.choice([trials + await stream(), await stream() + trials]))
        await ClockCycles(dut.clk, rng.randrange(1, rng.choice([100, 1000])))
        bench.commands.items.clear()
        bench.commands.offered = False
        dut.reset.value = 1
        for _ in range(RESET_CLOCKS):
            await RisingEdge(dut.clk)
            bench.reports.held = None
        dut.reset.value = 0
        await ClockCycles(dut.clk, 2)
        if round_ % 8 != 7:  # what a reset leaves behind may take several to show
            continue
        bench.golden = Golden(g, MEMORY)
        bench.reports.stall = 0
        clear = b"".join(pack_command(g, Opcode.CLEAR, slot=slot) for slot in range(g.slots))
        await bench.execute(clear + await stream() + pack_command(g, Opcode.FENCE), timeout_us=6000)
        await bench.check_counters()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def corners(dut):
    """Rings of links, and a fault in every word of a LEARN, in records of most beats."""
    bench = await begin(dut)
    g, rng, golden = bench.geometry, bench.rng, bench.golden
    traffic = Traffic(g, rng, golden.memory)
    for name, fields in traffic.configuration():
        await bench.write(name, **fields)
    traffic.cells = g.max_cells
    await bench.write("cells", count=g.max_cells)
    await bench.write("grace", leaf=100)
    await bench.write("inner_grace", inner=0)

    def learn(count, slots, **values):
        records = b"".join(traffic.record(slots) for _ in range(count))
        return records, pack_command(g, Opcode.LEARN, count=count, **values)

    def read_all():
        return b"".join(
            pack_command(g, Opcode.READ, slot=slot, cell=cell) for slot in range(3) for cell in (NONE, g.max_cells - 1)
        )

    # Slot 0 links to itself, 1 and 2 to each other: the path limit ends both.
    stream = b"".join(pack_command(g, Opcode.PLACE, slot=a, parent=a, link=b) for a, b in ((0, 0), (1, 2), (2, 1)))
    for slots in ([0], [1], [0, 1, 2]):
        records, _ = learn(3, slots)
        stream += pack_command(g, Opcode.LEARN, count=3, payload=records) + read_all()
    await bench.execute(stream + pack_command(g, Opcode.FENCE), timeout_us=2000)
    await bench.check_counters()

    stream = b"".join(pack_command(g, Opcode.CLEAR, slot=slot) for slot in range(3))
    await bench.execute(stream + pack_command(g, Opcode.FENCE))
    # The first beat ends with a word: a fault in the next leaves half a record behind.
    start = 4096 - 4 - g.lanes
    records, command = learn(4, [0, 1, 2], flags=CommandFlag.MEMORY, address=start)
    golden.memory.data[start : start + len(records)] = records
    for word in range(start // g.bus_bytes * g.bus_bytes, start + len(records), g.bus_bytes):
        golden.memory.faults = {word: rng.choice([ErrorCode.SLAVE, ErrorCode.DECODE])}
        behind, _ = learn(2, [0, 1, 2])
        stream = command + pack_command(g, Opcode.FENCE) + pack_command(g, Opcode.RESET)
        stream += pack_command(g, Opcode.LEARN, count=2, payload=behind) + read_all()
        await bench.execute(stream)
        await bench.check_counters()
    golden.memory.faults = {}


@cocotb.test(timeout_time=100, timeout_unit="us")
async def registers(dut):
    """Every field of the map: reset value, and what can be written."""
    bench = Bench(dut, geometry(), random.Random(cocotb.RANDOM_SEED).random())
    await bench.start()
    for register in REGISTERS:
        if register.addr < find("records").addr:
            assert await bench.read(register.name) == bench.golden.read_register(register.name)
    for register in REGISTERS:
        if all(field.access is Access.RW for field in register.fields):
            fields = {f.name: bench.rng.getrandbits(f.width) for f in register.fields}
            await bench.write(register.name, **fields)
            assert await bench.read(register.name) == bench.golden.read_register(register.name)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def settling(dut):
    """No command is taken in the 8 clocks after a write to a register."""
    bench = Bench(dut, geometry(), random.Random(cocotb.RANDOM_SEED).random())
    await bench.start()
    for _ in range(8):
        await ClockCycles(dut.clk, bench.rng.randrange(4))
        dut.csr__addr.value, dut.csr__w_data.value = find("cells").addr // 4, 1
        dut.csr__w_en.value = 1
        for clock in range(12):
            await ReadOnly()
            assert not clock or int(dut.commands__ready.value) == (clock > 8), clock
            await RisingEdge(dut.clk)
            dut.csr__w_en.value = 0


async def measure(bench, cells, count, memory, grace, predictions=0):
    """Beats, clocks and counters of one long LEARN on random slots."""
    g, rng, golden = bench.geometry, bench.rng, bench.golden
    for cell in range(g.max_cells):
        await bench.write("cell", index=cell, kind=CellKind.NUMERIC, first=1, write=1)
    await bench.write("cells", count=cells)
    await bench.write("grace", leaf=grace)
    await bench.write("report", predictions=predictions)
    layout = record_layout(cells)
    # Slots at random phases of their grace period, as in a run that is long under way.
    stream = b""
    for slot in range(g.slots):
        words = [0, rng.randrange(grace) if grace else 0, 0xFFFFFFFF, 0, *[0] * g.classes]
        stream += pack_command(
            g, Opcode.WRITE, slot=slot, cell=NONE, payload=b"".join(w.to_bytes(4, "little") for w in words)
        )
    await bench.execute(stream + pack_command(g, Opcode.FENCE), timeout_us=5000)
    await bench.write("control", clear=1)
    records = b"".join(
        layout.pack(
            slot=rng.randrange(g.slots),
            label=rng.randrange(g.classes),
            codes=[rng.randrange(255) for _ in range(cells)],
        )
        for _ in range(count)
    )
    if memory:
        golden.memory.data[3 : 3 + len(records)] = records
        stream = pack_command(g, Opcode.LEARN, flags=CommandFlag.MEMORY, count=count, address=3)
    else:
        stream = pack_command(g, Opcode.LEARN, count=count, payload=records)
    await bench.execute(stream + pack_command(g, Opcode.FENCE), timeout_us=50000)
    got = await bench.check_counters()
    rate = got["beats"] / got["learning"]
    bench.dut._log.info(
        "cells %d, memory %d, grace %d, predictions %d: %.4f beats per clock, %s",
        cells,
        memory,
        grace,
        predictions,
        rate,
        {k: got[k] for k in (*STALLS, "trials")},
    )
    return rate, got


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def full_rate(dut):
    """Without trials, one beat per clock, from the stream and from memory, predicted or not."""
    bench = await begin(dut)
    g = bench.geometry
    count = parameters().get("count", 400)
    for cells in (1, min(g.lanes, g.bus_bytes - 4), min(g.max_cells, 2 * g.lanes)):
        if cells < 1:
            continue
        for memory, predictions in ((False, 0), (True, 0), (False, 1)):
            rate, got = await measure(bench, cells, min(count, (MEMORY - 64) // (4 + cells)), memory, 0, predictions)
            assert got["predictions"] == got["records"] * (predictions and g.naive_bayes)
            beats = g.passes_for(cells)
            supply = beats * g.bus_bytes / (cells + 4)
            # What is left is the start: the multiplication and the memory's latency.
            ideal = got["beats"] / min(1, supply)
            assert got["learning"] <= ideal * 1.01 + (60 if memory else 15), (rate, supply, got)


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def with_trials(dut):
    """Grace 200 on random slots: only the snapshots' clocks and a few more are lost."""
    bench = await begin(dut)
    g = bench.geometry
    cells = min(g.lanes, g.bus_bytes - 4)
    # Fewer records have too few trials: their number alone would move the rate by 2 %.
    for predictions in range(1 + g.naive_bayes):
        rate, got = await measure(bench, cells, parameters().get("trial_records", 16000), False, 200, predictions)
        assert rate >= parameters().get("rate", 0.0), (rate, got)
