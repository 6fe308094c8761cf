"""Tracker and slot table against the golden model's paths, the cells left out."""

import cocotb
from bregalad.geometry import NONE, Geometry
from bregalad.protocol.commands import RecordFlag
from bregalad.protocol.registers import EVENTS
from bregalad.protocol.tree import MANY
from bregalad_hw.array.operation import Op
from bregalad_hw.mcmu.slots import SINCE_WIDTH, row_of
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge

from bregalad_sim.benches.counting import COUNTED, SPENT, Counting, Model
from bregalad_sim.benches.sides import SIDES
from bregalad_sim.golden import Entry
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench


class Bench(BlockBench):
    def __init__(self, dut):
        self.geometry = g = Geometry(**parameters()["geometry"])
        super().__init__(dut, Counting(g))
        self.golden = Model(g)
        self.source, self.prediction = self.ends["i"], self.ends["prediction"]
        self.requested = 0  # predictions whose first beat is to come
        self.deny = 0.0  # probability that a clock is not granted
        self.grant = False  # of the next clock
        self.locked = {}  # slot: clocks left
        self.weights = (1,)  # of records
        self.records = 0  # that are not freed
        self.seen_due = 0
        self.got = dict.fromkeys(COUNTED, 0)
        self.clock = 0
        self.issued = []  # clocks with a COUNT

    async def configure(self, cells, grace, inner_grace, predict, sides=0):
        self.golden.predicts = predict
        self.golden.fields["cells.count"] = cells
        self.set_inputs(passes=self.geometry.passes_for(cells), predict=predict)
        fields = {"grace.leaf": grace, "inner_grace.inner": inner_grace, "report.neighbours": sides}
        self.golden.fields.update(fields)
        self.set_inputs(**{f"configuration__{name.replace('.', '__')}": value for name, value in fields.items()})
        await self.number_records()

    async def number_records(self, every=0, weights=(1,)):
        """What depends on the records' numbers, and how much they may weigh."""
        self.golden.fields["every.records"] = every
        self.set_inputs(tree__every__records=every)
        self.weights = weights
        await ClockCycles(self.dut.clk, 3)  # it is steady before records come

    async def renumber(self):
        """Tell the last record's number, as the model has it."""
        self.set_inputs(renumber=1, last_number=self.golden.number)
        await RisingEdge(self.dut.clk)
        self.set_inputs(renumber=0, last_number=self.rng.getrandbits(32))
        await ClockCycles(self.dut.clk, 4)

    async def place(self, slot, **values):
        """Write a slot's row, of the table and of the model."""
        entry = Entry(**{"class_counts": [0] * self.geometry.classes, **values})
        self.golden.entries[slot] = entry
        row = row_of(self.geometry, vars(entry))
        self.set_inputs(table__w_slot=slot, table__w_en=1, table__w_link=1, table__w_entry=row)
        await RisingEdge(self.dut.clk)
        self.set_inputs(table__w_en=0)
        await RisingEdge(self.dut.clk)

    def random_entry(self, slot):
        rng, g = self.rng, self.geometry
        top = g.count_max
        return {
            "class_counts": [rng.choice([0, 1, top, rng.randint(0, top)]) for _ in range(g.classes)],
            "n": rng.choice([0, 1, top - 1, top, rng.randint(0, top)]),
            "since": rng.choice([0, 0, rng.randrange(6), (1 << SINCE_WIDTH) - 1]),
            # Downwards, so that no path is a ring.
            "link": rng.choice([NONE, *range(slot), *range(max(0, slot - 3), slot)]),
            "current": rng.choice([NONE, rng.randrange(g.max_cells)]),
            "period": rng.choice([0, 0, 1, 4, 0xFFFF]),
            "inner": bool(rng.randrange(2)),
            "halved": bool(rng.randrange(2)),
            "underflow": bool(rng.randrange(2)),
            "only": rng.choice([NONE, MANY, rng.randrange(g.classes)]),
            "inherited": rng.getrandbits(g.count_width),
            "all_up_to": rng.getrandbits(g.count_width),
            "due": rng.random() < 0.2,
            "tried": bool(rng.randrange(2)),
            "tried_at": rng.getrandbits(32),
        }

    def record(self, slot, label, flags=0, there=1, others=()):
        """Queue a record and let the model count it, also at ``others``, where it has come down alternates."""
        test, minus = bool(flags & RecordFlag.TEST), bool(flags & RecordFlag.MINUS)
        weight = 1 if test or minus else self.rng.choice(self.weights)
        self.records += 1
        for way, at in enumerate((slot, *others)):
            header = {"slot": at, "label": label, "minus": minus, "test": test, "there": there, "weight": weight}
            header |= {"alternate": way > 0, "follows": way < len(others)} if self.geometry.alternates else {}
            self.source.items.append(header)
            self.golden.count(at, label, flags, weight, there, [0] * self.golden.cells_in_use, way > 0)

    async def step(self):
        """One clock: the operation that goes is the model's next."""
        rng, dut = self.rng, self.dut
        self.drive()
        grant, self.grant = self.grant, rng.random() >= self.deny
        self.set_inputs(grant=self.grant, locked=sum(1 << slot for slot in self.locked))
        request = (await self.settle())["prediction"]
        if request is not None:
            assert self.golden.requests, "a prediction that is not wanted"
            assert request == self.golden.requests.popleft()
            self.requested += 1
        spent = [name for name in SPENT if int(getattr(dut, name).value)]
        assert len(spent) <= grant, spent
        assert int(dut.valid.value) == (spent in (["counting"], ["halving"]))
        for slot in list(self.locked):
            self.locked[slot] -= 1
        if int(dut.valid.value):
            assert self.golden.ops, "an operation too many"
            want = self.golden.ops.popleft()
            op = self.read("op")
            # A record that is only tested may read a locked slot.
            assert want.get("test") or want["slot"] not in self.locked, "a locked slot was changed"
            assert op["code"] == want["code"].value
            assert all(op[key] == want[key] for key in op if key in want and key != "code"), (op, want)
            if want.get("predict") and op["pass_"] == op["side"] == 0:
                self.requested -= 1
                assert self.requested >= 0, "beats of a prediction that was not asked for"
            number = want.get("due")
            assert int(dut.due.value) == (number is not None)
            if number is not None:
                assert int(dut.slot.value) == want["slot"]
                assert number > int(dut.counted.value), "a record with a slot that becomes due is counted"
                self.seen_due += 1
            if want["code"] is Op.COUNT:
                assert int(dut.read_at.value) == op["pass_"], "codes of another beat"
                self.issued.append(self.clock)
        else:
            assert not int(dut.due.value), "a slot is told without its node's last beat"
        self.locked = {slot: left for slot, left in self.locked.items() if left > 0}
        self.records -= int(dut.free.value)
        assert self.records >= 0, "no record is there to be freed"
        for name in COUNTED:
            self.got[name] += int(getattr(dut, name).value)
        idle = int(dut.idle.value)
        await RisingEdge(dut.clk)
        self.clock += 1
        return idle

    async def finish(self):
        """Until nothing is under way; then rows and events are the model's."""
        g, dut, golden = self.geometry, self.dut, self.golden
        limit = 40 * (len(golden.ops) + len(self.source.items)) + 500
        quiet = 0
        while quiet < 4:
            quiet = quiet + 1 if await self.step() and not self.source.items else 0
            limit -= 1
            assert limit, f"no end, {len(golden.ops)} operations are missing"
        assert not golden.ops, "operations are missing"
        assert not self.records, "a record is not freed"
        assert not golden.requests and not self.requested, "predictions are missing"
        assert int(dut.counted.value) == golden.number
        assert self.got == {name: golden.events[event] for name, event in COUNTED.items()}
        for slot in range(g.slots):
            self.set_inputs(table__r_slot=slot, table__r_en=1)
            await RisingEdge(dut.clk)
            self.set_inputs(table__r_en=0, table__r_take=1)
            await RisingEdge(dut.clk)
            await ReadOnly()
            assert self.read("table__r_entry") == row_of(g, vars(golden.entries[slot])), slot
            await RisingEdge(dut.clk)
        self.locked = {}


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def matches_golden(dut):
    """Records on few slots with paths, slots that become due, halving, weights; stalls everywhere."""
    bench = Bench(dut)
    rng, g = bench.rng, bench.geometry
    await bench.start()
    for _ in range(parameters()["rounds"]):
        grace = rng.choice([0, 1, 3, 5])
        await bench.configure(
            rng.randint(1, g.max_cells), grace, rng.choice([0, 1, 4]), rng.randrange(2), rng.randrange(2)
        )
        jumps = rng.random() < 0.5
        if jumps:
            bench.golden.number = rng.choice([0, rng.randrange(100), (1 << 31) - rng.randint(1000, 2000)])
        for slot in rng.sample(range(g.slots), g.slots):
            await bench.place(slot, **bench.random_entry(slot))
        bench.source.stall, bench.prediction.stall = rng.choice([0, 0.5]), rng.choice([0, 0.8])
        bench.deny = rng.choice([0.0, 0.0, 0.4])
        bench.locked = {slot: rng.randint(1, 30) for slot in range(g.slots) if rng.random() < 0.2}
        weights = rng.choice([(1,), (0, 1, 1, 2, 3, 5)])
        await bench.number_records(rng.choice([0, 1, 2, 3, 7]), weights)
        if jumps:
            await ClockCycles(bench.dut.clk, rng.randint(1, 60))  # in the midst of a division or not
            await bench.renumber()
        slots = rng.choice([[rng.randrange(g.slots)], range(g.slots)])
        for _ in range(rng.randint(1, 25)):
            label, flags = rng.randrange(g.classes), rng.choice([0, 0, 0, 1, 2, 3])
            others = rng.choices(slots, k=rng.randint(0, g.alternates))
            bench.record(rng.choice(slots), label, flags, rng.random() < 0.9, others)
        await bench.finish()
    dut._log.info("%d clocks, %s", bench.clock, bench.golden.events)
    assert all(bench.golden.events[name] for name in COUNTED.values())
    assert bench.seen_due


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def rings(dut):
    """Links in a ring: every record ends after so many nodes, and makes a slot due but once."""
    bench = Bench(dut)
    g = bench.geometry
    await bench.start()
    await bench.configure(1, 1, 0, 1)
    for slot in range(g.slots):
        await bench.place(slot, link=(slot + 1) % g.slots if slot else 0)
    bench.record(0, 1)
    bench.record(g.slots - 1, 0)
    bench.record(0, 0)
    await bench.finish()
    for slot in range(g.slots):
        await bench.place(slot, link=(slot - 1) % g.slots)
    bench.got, bench.golden.events = dict.fromkeys(COUNTED, 0), dict.fromkeys(EVENTS, 0)
    for slot in range(g.slots):
        bench.record(slot, 1)
    await bench.finish()


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def multiples(dut):
    """An inner slot is due with each multiple of a number, wherever and whenever numbers go on from."""
    bench = Bench(dut)
    rng, g = bench.rng, bench.geometry
    await bench.start()
    await bench.configure(1, 0, 0, 1)
    every = 3
    for _ in range(30):
        if rng.random() < 0.5:  # else the same, and nothing but the jump has it divided
            every = rng.choice([1, 2, 3, 7, 1000, (1 << 24) - 1])
        bench.golden.number = max(0, every * rng.randrange((1 << 31) // every) - rng.randint(0, 5))
        for slot in range(g.slots):
            await bench.place(slot, inner=True)
        await bench.number_records(every=every)
        await ClockCycles(dut.clk, rng.randint(1, 60))  # in the midst of a division or not
        await bench.renumber()
        for _ in range(rng.randint(1, 8)):
            bench.record(rng.randrange(g.slots), 0)
        await bench.finish()


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def rate(dut):
    """A beat per clock, for every node of a path, too, and those beside the bins of its own slot's prediction."""
    bench = Bench(dut)
    rng, g = bench.rng, bench.geometry
    await bench.start()
    for cells in {1, g.max_cells}:
        for linked, sides in ((False, 0), (True, 0), (True, 1)):
            await bench.configure(cells, 0, 0, 1, sides)
            for slot in range(g.slots):
                await bench.place(slot, link=slot - 1 if linked and slot else NONE)
            nodes = 0
            bench.issued.clear()
            for _ in range(60):
                slot = rng.randrange(g.slots)
                bench.record(slot, 0)
                nodes += slot + 1 if linked else 1
            await bench.finish()
            clocks = (nodes + 60 * sides * len(SIDES)) * g.passes_for(cells)
            assert bench.issued[-1] - bench.issued[0] + 1 == clocks, (cells, linked, sides)
