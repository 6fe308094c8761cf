"""SlotEditor against Golden: a slot's row, its bins and bin window, and what is answered, stalls everywhere."""

from collections import deque

import cocotb
from bregalad.geometry import MISSING, NONE, Geometry
from bregalad.protocol.commands import COMMAND_BYTES, COMMANDS, CommandFlag, Opcode, pack_command
from bregalad.protocol.reports import Kind, entry_body
from bregalad.protocol.tree import MANY, TreeOpcode, mixed, pack_tree
from bregalad_hw.array.operation import Op
from bregalad_hw.mcmu.editor import SlotEditor
from bregalad_hw.mcmu.slots import EMPTY_ENTRY, entry_layout, row_of
from cocotb.triggers import RisingEdge

from bregalad_sim.benches.operations import execute_pass
from bregalad_sim.bits import pack, unpack, words_of
from bregalad_sim.golden import Golden, Slots
from bregalad_sim.golden.tree import attempt_flags
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench
from bregalad_sim.traffic import Traffic


class Bench(BlockBench):
    """The editor between a slot table and an array that do what they are told."""

    def __init__(self, dut):
        self.geometry = g = Geometry(**parameters()["geometry"])
        super().__init__(dut, SlotEditor(g))
        rng = self.rng
        self.golden = Golden(g)
        self.golden.write_register("cells", g.max_cells)
        self.traffic = Traffic(g, rng, self.golden.memory)
        self.payload = self.ends["edit__payload"]
        empty = pack(entry_layout(g), EMPTY_ENTRY)
        self.rows = [empty] * g.slots
        self.fetched = self.shown = empty  # the row that was read, the one that is seen
        self.array = Slots(g)
        self.deny = 0.0  # probability that a clock grants nothing
        self.under_way = deque([None] * rng.randint(1, 20))  # counts on their way back from the array
        self.jobs, self.attempts, self.numbers = deque(), deque(), deque()  # that are to come
        self.tries = 0
        self.marked = self.marks = False  # a slot is due by the command, as told and as it should be
        self.seen = dict.fromkeys(("edits", "dropped", "counts", "denied", "kept", "tried"), 0)

    async def step(self):
        """One clock; whether the command is done with it."""
        dut, g, rng = self.dut, self.geometry, self.rng
        self.drive()
        grant = rng.random() >= self.deny
        count = self.under_way.popleft()
        dut.grant.value = grant
        dut.answer_valid.value = count is not None
        dut.answer.value = rng.getrandbits(g.count_width) if count is None else count
        dut.table__r_entry.value = self.shown
        taken = await self.settle()
        self._check(taken["edit__job"], taken["attempt"], taken["counts"])
        op = self.read("op") if int(dut.valid.value) else None
        self.seen["denied"] += op is not None and not grant
        self.under_way.append(self._execute(op, int(dut.count.value)) if op is not None and grant else None)
        if int(dut.table__r_take.value):
            self.shown = self.fetched
        if int(dut.table__r_en.value):
            # Between commands it asks for whatever the head has there.
            slot = int(dut.table__r_slot.value)
            self.fetched = self.rows[slot] if slot < self.geometry.slots else 0
        if int(dut.table__w_en.value):
            assert int(dut.table__w_link.value), "the link is written with the row"
            self.rows[int(dut.table__w_slot.value)] = int(dut.table__w_entry.value)
        done = bool(int(dut.edit__done.value))
        self.tries += int(dut.tried.value)
        self.marked |= bool(int(dut.mark.value))
        await RisingEdge(dut.clk)
        return done

    def _execute(self, op, count):
        """What the array does; the count that a READ sends back."""
        op |= {"code": Op(op["code"])}
        assert op["code"] in (Op.PLACE, Op.CLEAR, Op.READ, Op.WRITE), f"{op} is none of the editor's"
        return next(iter(execute_pass(self.array, op, [MISSING] * self.geometry.lanes, count)[0]), None)

    def _check(self, job, attempt, number):
        if job is not None:
            words = [job["kind"] | job["flags"] << 8 | job["slot"] << 16, *job["words"][: job["count"]]]
            if job["kind"] == Kind.ENTRY:
                words += job["class_counts"]
            got = b"".join(word.to_bytes(4, "little") for word in words)
            want = self.jobs.popleft()
            assert got == want, f"{Kind(job['kind']).name}: got {got.hex(' ', 4)}, want {want.hex(' ', 4)}"
        if attempt is not None:
            assert attempt == self.attempts.popleft()
        if number is not None:
            assert number == self.numbers.popleft(), "a READ's count"
            self.seen["counts"] += 1

    def command(self):
        """Bytes of a random command that is the editor's, and whether it is dropped."""
        g, rng = self.geometry, self.rng
        kind, slot = rng.random(), rng.randrange(g.slots)
        if kind < 0.2:
            if kind < 0.15:
                self._make_due(slot)
            return pack_command(g, Opcode.ATTEMPT, slot=slot), False
        if kind < 0.3:
            waiting = [slot for slot, entry in enumerate(self.golden.entries) if entry.since]
            slot = rng.choice(waiting or [slot])
            near = min(self.golden.entries[slot].since + rng.randrange(2), 0xFFFF)
            period = rng.choice([0, 1, near, rng.getrandbits(16)])
            return pack_tree(g, TreeOpcode.PERIOD, slot=slot, period=period), False
        if kind < 0.5:
            return self.traffic._write(slot), rng.random() < 0.3
        return self.traffic.slot_command(), False

    def _make_due(self, slot):
        """As records of few classes do."""
        g, rng, entry = self.geometry, self.rng, self.golden.entries[slot]
        entry.due, entry.halved = True, rng.random() < 0.2
        entry.only = rng.choice([NONE, NONE, MANY, *range(g.classes)])
        entry.class_counts = [rng.choice([0, 1, g.count_max]), rng.choice([0, 1]), *[0] * (g.classes - 2)]
        rng.shuffle(entry.class_counts)
        self.rows[slot] = pack(entry_layout(g), row_of(g, vars(entry)))

    def count_records(self):
        """Some more records have come."""
        golden, dut = self.golden, self.dut
        golden.number = (golden.number + self.rng.randrange(1 << 20)) & 0xFFFFFFFF
        dut.number.value = golden.number

    def expect(self, data):
        """Let the golden model execute a command, and know what it answers."""
        g, golden = self.geometry, self.golden
        self.marks = False
        if data[0] == Opcode.ATTEMPT:
            slot = int(COMMANDS[Opcode.ATTEMPT].unpack(data)["slot"])
            entry = golden.entries[slot]
            kept = golden.fields["decider.decides"] and not (entry.halved or mixed(entry.only, entry.class_counts))
            self.seen["kept" if kept else "tried"] += entry.due
            if entry.due and not kept:
                head = {name: getattr(entry, name) for name in ("n", "class_counts", "inherited", "all_up_to")}
                head |= {"slot": slot, "flags": attempt_flags(entry), "number": golden.number}
                self.attempts.append({"head": head, "current": entry.current})
            if entry.due:
                golden._attempt(slot)
                golden._reports.clear()
            return
        report = golden.execute(data)
        self.marks, golden._all_due = golden._all_due, False
        if data[0] != Opcode.READ:
            return
        head = 8 if report[0] == Kind.STATISTICS else len(report)
        self.jobs.append(report[:head])
        self.numbers += [int.from_bytes(report[at : at + 4], "little") for at in range(head, len(report), 4)]
        assert len(report) == head or len(report) - head == 4 * g.bins * g.classes

    async def execute(self, data, drop=False):
        """Have the editor do a command; the clocks that it takes."""
        if not drop:
            self.expect(data)
        head, size = max(COMMAND_BYTES, self.geometry.bus_bytes), self.geometry.bus_bytes
        self.set_inputs(edit__head=int.from_bytes(data[:COMMAND_BYTES], "little"))
        assert not await self.step(), "done without a command"
        self.set_inputs(edit__start=1, edit__drop=drop)
        self.payload.items += words_of(data[head:], size)
        clocks, done = 1, await self.step()
        self.set_inputs(edit__start=0, edit__drop=self.rng.getrandbits(1))
        while not done:
            done = await self.step()
            clocks += 1
            assert clocks < 20_000, "the command does not end"
        return clocks

    def compare(self):
        """Rows, bins and bin windows are those of the golden model."""
        g, golden = self.geometry, self.golden
        assert self.tries == golden.events["attempts"]
        for slot, (bits, entry) in enumerate(zip(self.rows, golden.entries, strict=True)):
            row = unpack(entry_layout(g), bits)
            want = row_of(g, vars(entry))
            if not entry.period:
                want["limit"] = row["limit"]
            assert row == want, slot
            assert self.array.bin_window[slot] == golden.bin_window[slot], slot
            assert self.array.counts[slot] == golden.counts[slot], slot


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def matches_golden(dut):
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    for number in range(parameters()["commands"]):
        bench.stall(rng.choice([0.0, 0.0, 0.5, 0.9]))
        bench.deny = rng.choice([0.0, 0.3, 0.8])
        bench.count_records()
        bench.golden.fields["decider.decides"] = rng.randrange(2)
        bench.set_inputs(decides=bench.golden.fields["decider.decides"])
        data, drop = bench.command()
        await bench.execute(data, drop)
        assert not bench.payload.items, "the payload is not taken"
        assert not bench.jobs and not bench.attempts
        assert bench.marked == (bench.marks and not drop)
        bench.marked = False
        bench.seen["marked"] = bench.seen.get("marked", 0) + bench.marks
        dut.edit__head.value = rng.getrandbits(8 * COMMAND_BYTES)  # what is not started must not matter
        bench.seen["edits"] += not drop
        bench.seen["dropped"] += drop
        for _ in range(rng.choice([0, 0, 1, 30])):
            assert not await bench.step(), "done without a command"
        if number % 10 == 0:
            bench.compare()
    bench.stall(0.0)
    for _ in range(1000):
        await bench.step()
    assert not bench.numbers, "counts of READs do not come"
    bench.compare()
    dut._log.info(f"{bench.seen}")
    assert all(bench.seen.values()), bench.seen


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def takes_the_clocks_that_it_says(dut):
    """Without stalls: a clock for every bin of every pass, for every count; two or three for a word."""
    bench = Bench(dut)
    g = bench.geometry
    await bench.start()
    entry = entry_body(g).size
    most = {
        Opcode.ATTEMPT: 9,  # of a slot that is due
        Opcode.CLEAR: g.passes * (g.bins + 1) + 8,
        Opcode.PLACE: g.passes * (g.bins + 1) + g.passes + 8,
        Opcode.READ: g.bins * g.classes + g.passes + 8,
        Opcode.WRITE: max(3 * entry // 4, 3 * g.bins * g.classes) + g.passes + 8,
    }
    size = g.bins * g.classes
    last = {"cell": g.max_cells - 1}
    for opcode, values, payload in (
        (Opcode.ATTEMPT, {}, b""),
        (Opcode.CLEAR, {}, b""),
        (Opcode.PLACE, {"parent": 0, **last}, b""),
        (Opcode.PLACE, {"flags": CommandFlag.KEEP}, b""),
        (Opcode.READ, last, b""),
        (Opcode.READ, {"cell": NONE}, b""),
        (Opcode.WRITE, {"cell": 0}, bytes(4 * size)),
        (Opcode.WRITE, {"cell": NONE}, bytes(entry)),
    ):
        data = pack_command(g, opcode, slot=1, payload=payload, **values)
        clocks = await bench.execute(data)
        slow = opcode == Opcode.READ and size > 16  # no more are on their way at a time
        assert clocks <= most[opcode] + slow * 2 * size, (opcode, clocks)
        for _ in range(60):
            await bench.step()
        assert not bench.numbers, "counts of READs do not come"
