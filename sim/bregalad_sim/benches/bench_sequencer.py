"""Sequencer against Golden: what it starts, in which order and when, stalls everywhere."""

import random
from collections import deque

import cocotb
from amaranth import unsigned
from amaranth.hdl import Shape
from bregalad.geometry import Geometry
from bregalad.protocol.commands import COMMAND_BYTES, COMMANDS, CommandFlag, Opcode, pack_command, record_layout
from bregalad.protocol.reports import ERROR
from bregalad_hw.mcmu.dma import descriptor_layout
from bregalad_hw.mcmu.report import job_layout
from bregalad_hw.mcmu.sequencer import start_layout
from cocotb.triggers import ReadOnly, RisingEdge

from bregalad_sim.bits import unpack
from bregalad_sim.golden import Golden
from bregalad_sim.runner import parameters
from bregalad_sim.streams import Sink, Source, reset
from bregalad_sim.traffic import Traffic


class Bench:
    """The sequencer between models of dispenser, DMA, editor, loader, tracker and scheduler.

    What is to come is a list of events, in order: ("start", count, offset, memory, discard, words, error),
    ("descriptor", address, length), ("edit", head, drop, words), ("load", address, count, drop, words, failed) and
    ("job", bytes of FENCE or ERROR, or what the editor answers).
    """

    def __init__(self, dut):
        self.dut = dut
        self.rng = rng = random.Random(cocotb.RANDOM_SEED)
        self.geometry = g = Geometry(**parameters()["geometry"])
        self.golden = Golden(g, 4096)
        self.traffic = Traffic(g, rng, self.golden.memory)
        self.commands = Source(dut, "commands", unsigned(g.bus_width), rng)
        self.inline = Sink(dut, "inline", unsigned(g.bus_width), rng)
        self.payload = Sink(dut, "edit__payload", unsigned(g.bus_width), rng)
        self.bytes = Sink(dut, "load__payload", unsigned(g.bus_width), rng)
        self.start = Sink(dut, "start", start_layout(g), rng)
        self.descriptor = Sink(dut, "descriptor", descriptor_layout(), rng)
        self.job = Sink(dut, "job", job_layout(g), rng)
        self.answer = Source(dut, "edit__job", job_layout(g), rng)
        takers = self.inline, self.payload, self.bytes
        self.ends = (self.commands, *takers, self.start, self.descriptor, self.job, self.answer)
        self.events = deque()
        self.words = deque()  # that the dispenser, or the editor, takes
        self.dispensing = None  # clocks left after the words; None: nothing
        self.wants_descriptor = False
        self.failure = self.failed = None  # of the LEARN that is dispensed, and of the last one: ERROR report
        self.editing = None  # the head, from `start` to `done`
        self.edit_clocks = 0
        self.loading = None  # address, count and whether it fails, from `start` to `done`
        self.after = dict.fromkeys(("idle", "quiet", "locked"), 0)  # clocks until it holds, or is open
        self.seen = dict.fromkeys(
            ("start", "descriptor", "edit", "load", "job", "discarded", "dropped", "failed", "unloaded"), 0
        )

    async def begin(self):
        dut = self.dut
        await reset(
            dut,
            dut.cells,
            dut.dispensing,
            dut.failed,
            dut.error,
            dut.address,
            dut.counted,
            dut.edit__done,
            dut.load__done,
            dut.load__failed,
            dut.locked,
            dut.idle,
            dut.quiet,
        )

    def configure(self):
        cells = self.rng.choice([1, self.rng.randint(1, self.geometry.max_cells), self.geometry.max_cells])
        self.traffic.cells = cells
        self.golden.write_register("cells", cells)
        self.golden.write_register("grace", 0)
        self.dut.cells.value = cells

    def command(self):
        """Queue a random command, and the events that it is to cause."""
        g, golden = self.geometry, self.golden
        data = self.traffic.command(faults=True)
        if self.rng.random() < 0.05:
            data = self.traffic.wrong()
        if golden.halted and self.rng.random() < 0.2:
            data = pack_command(g, Opcode.RESET)
        self.commands.items += self._words(data)
        head = max(COMMAND_BYTES, g.bus_bytes)
        payload = self._words(data[head:])
        halted = golden.halted
        report = golden.execute(data)
        error = report[-ERROR.size :] if golden.halted and not halted else None  # trials may come before it
        first = int.from_bytes(data[:COMMAND_BYTES], "little")
        match data[0]:
            case Opcode.LEARN:
                self._learn(COMMANDS[Opcode.LEARN].unpack(data), payload, halted, error)
            case Opcode.RESET:
                pass
            case Opcode.LOAD:
                command = COMMANDS[Opcode.LOAD].unpack(data)
                where = int(command["address"]), int(command["count"])
                self.events.append(("load", *where, halted, payload, error is not None))
                if error:
                    self.events.append(("job", error))
            case _ if halted:
                if data[0] == Opcode.WRITE:
                    self.events.append(("edit", first, 1, payload))
            case _ if error:
                self.events.append(("job", error))
                if data[0] == Opcode.WRITE:
                    self.events.append(("edit", first, 1, payload))
            case Opcode.FENCE:
                self.events.append(("job", report))
            case _:
                self.events.append(("edit", first, 0, payload))

    def _learn(self, command, payload, halted, error):
        g = self.geometry
        count, memory = int(command["count"]), bool(command["flags"] & CommandFlag.MEMORY)
        if not count or halted and memory:
            return
        address = int(command["address"]) if memory else 0
        self.events.append(("start", count, address % g.bus_bytes, memory, halted, payload, error))
        if memory:
            self.events.append(("descriptor", address, count * record_layout(self.traffic.cells).size))
        if error:
            self.events.append(("job", error))

    def _words(self, data):
        size = self.geometry.bus_bytes
        return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]

    async def step(self):
        dut, rng = self.dut, self.rng
        self.inline.stall = self.stall if self.dispensing is not None and self.words else 1.0
        self.payload.stall = self.stall if self.editing is not None and self.words else 1.0
        self.bytes.stall = self.stall if self.loading is not None and self.words else 1.0
        if self.dispensing is not None:
            self.start.stall = 1.0
        else:
            self.start.stall = self.stall
        for end in self.ends:
            end.drive()
        done = self.editing is not None and not (self.words or self.edit_clocks or self.answer.items)
        idle = not self.after["idle"] and self.dispensing is None
        quiet = idle and not self.after["quiet"]
        dut.dispensing.value = self.dispensing is not None
        dut.edit__done.value = done
        loaded = self.loading is not None and not (self.words or self.edit_clocks)
        dut.load__done.value = loaded
        dut.load__failed.value = self.loading[-1] if loaded else rng.getrandbits(1)
        dut.idle.value, dut.quiet.value = idle, quiet
        locked = bool(self.after["locked"])  # whatever slot is asked for
        dut.locked.value = locked
        dut.failed.value = self.failed is not None
        error = ERROR.unpack(self.failed) if self.failed is not None else None
        dut.error.value = int(error["flags"]) if error is not None else rng.getrandbits(2)
        dut.address.value = int(error["address"]) if error is not None else rng.getrandbits(64)
        dut.counted.value = int(error["count"]) if error is not None else rng.getrandbits(32)
        await ReadOnly()
        self.commands.settle()
        self.answer.settle()
        for end in (self.inline, self.payload, self.bytes):
            word = end.settle()
            if word is not None:
                assert word == self.words.popleft(), end.name
            if not self.words:
                end.held = None  # what is offered beyond them is another's
        start, descriptor, job = self.start.settle(), self.descriptor.settle(), self.job.settle()
        self._count_down()
        if self.editing is not None:
            assert int(dut.edit__head.value) == self.editing, "the head changed before the edit was done"
        if done:
            self.editing = None
        if self.loading is not None:
            assert (int(dut.load__address.value), int(dut.load__count.value)) == self.loading[:2]
        if loaded:
            self.loading = None
        if start is not None:
            self._start(start)
        if descriptor is not None:
            kind, address, length = self._next("descriptor")
            assert (descriptor["address"], descriptor["length"]) == (address, length)
            self.wants_descriptor = False
        if job is not None:
            _, want = self._next("job")
            if isinstance(want, dict):
                assert job == want and self.editing is not None, "the editor's answer"
            else:
                words = [job["kind"] | job["flags"] << 8 | job["slot"] << 16, *job["words"][: job["count"]]]
                got = b"".join(word.to_bytes(4, "little") for word in words)
                assert got == want, f"got {got.hex(' ', 4)}, want {want.hex(' ', 4)}"
                assert idle and quiet, "reported before what came before"
        if int(dut.edit__start.value):  # where a WRITE is refused, in the clock of its report
            self._edit(idle, quiet, locked)
        if int(dut.load__start.value):
            self._load(idle)
        if int(dut.waiting.value):
            assert self.dispensing is None and self.editing is None and self.loading is None
        if self.dispensing is not None and self.dispensing != "new":
            assert int(dut.learning.value)
        if self.dispensing == "new":
            self.dispensing = rng.choice([0, 1, 20])
        await RisingEdge(dut.clk)

    def _count_down(self):
        for name, left in self.after.items():
            self.after[name] = max(0, left - 1)
        self.edit_clocks = max(0, self.edit_clocks - 1)
        if self.dispensing is None or self.words or self.wants_descriptor:
            return
        if self.dispensing:
            self.dispensing -= 1
            return
        self.dispensing = None
        self.failed, self.failure = self.failure, None
        self.seen["failed"] += self.failed is not None
        self.after["idle"] = self.rng.choice([0, 3, 30])
        self.after["quiet"] = self.after["idle"] + self.rng.choice([0, 5, 60])
        self.after["locked"] = self.rng.choice([0, 0, 50])

    def _edit(self, idle, quiet, locked):
        _, head, drop, words = self._next("edit")
        assert (int(self.dut.edit__head.value), int(self.dut.edit__drop.value)) == (head, drop)
        opcode = head & 0xFF
        if not drop:
            assert idle and not locked, "a slot changes under a record or a trial"
            assert opcode != Opcode.READ or quiet, "READ is answered before what came before"
        self.editing, self.words = head, deque(words)
        self.edit_clocks = self.rng.choice([1, 2, 20])
        self.seen["dropped"] += drop
        if opcode == Opcode.READ:
            bits = self.rng.getrandbits(Shape.cast(job_layout(self.geometry)).width)
            self.answer.items.append(unpack(job_layout(self.geometry), bits))
            self.events.appendleft(("job", self.answer.items[0]))
        if opcode == Opcode.TRIAL:
            self.after["locked"] = self.edit_clocks + self.rng.choice([0, 20])
            self.after["quiet"] = self.after["locked"] + self.rng.choice([1, 60])

    def _load(self, idle):
        _, address, count, drop, words, failed = self._next("load")
        assert int(self.dut.load__drop.value) == drop
        assert drop or idle, "memory changes under a LEARN"
        self.loading, self.words = (address, count, failed), deque(words)
        self.edit_clocks = self.rng.choice([1, 2, 20])
        self.seen["unloaded"] += drop

    def _start(self, start):
        _, count, offset, memory, discard, words, self.failure = self._next("start")
        assert (start["count"], start["offset"]) == (count, offset)
        assert int(self.dut.memory.value) == memory and int(self.dut.discard.value) == discard
        self.failed = None
        self.wants_descriptor = memory
        self.words = deque(words)
        self.dispensing = "new"
        self.seen["discarded"] += discard

    def _next(self, kind):
        assert self.events, f"{kind} without a command"
        assert self.events[0][0] == kind, f"{kind} instead of {self.events[0]}"
        self.seen[kind] += 1
        return self.events.popleft()


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def matches_golden(dut):
    bench = Bench(dut)
    rng = bench.rng
    await bench.begin()
    for _ in range(parameters()["rounds"]):
        bench.configure()
        bench.traffic.free = 0
        bench.traffic.loaded = []
        bench.golden.memory.faults = {}
        bench.stall = rng.choice([0.0, 0.3, 0.8])
        for end in bench.ends:
            end.stall = bench.stall
        for _ in range(20):
            bench.command()
        clocks = 0
        while (
            bench.commands.items
            or bench.events
            or any(what is not None for what in (bench.editing, bench.loading, bench.dispensing))
        ):
            await bench.step()
            clocks += 1
            assert clocks < 20_000, f"nothing goes on; {list(bench.events)[:2]} is to come"
        for _ in range(20):
            await bench.step()
        assert int(dut.waiting.value) and int(dut.halted.value) == bench.golden.halted
    dut._log.info(f"{bench.seen}")
    assert all(bench.seen.values()), bench.seen
