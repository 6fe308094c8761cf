"""AttemptScheduler: order, locks, room in the array and in the queues, stalls on all sides."""

from collections import deque

import cocotb
from bregalad.geometry import NONE, Geometry
from bregalad_hw.array.operation import Op
from bregalad_hw.mcmu.scheduler import AttemptScheduler, head_layout
from cocotb.triggers import RisingEdge

from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

FIRST_SNAP = 2  # clocks from a push, at least
PATIENCE = 8  # clocks between the push and the first SNAP


class Bench(BlockBench):
    """The scheduler between who pushes attempts, an array and the report writer."""

    def __init__(self, dut):
        given = parameters()
        self.geometry = g = Geometry(**given["geometry"])
        self.depth, self.heads, self.snapshots = given["depth"], given["heads"], given["snapshots"]
        super().__init__(dut, AttemptScheduler(g, depth=self.depth, heads=self.heads, snapshots=self.snapshots))
        self.source, self.head = self.ends["i"], self.ends["head"]
        self.waiting = deque()  # attempts whose snapshot is not taken
        self.coming = deque()  # heads that are not taken
        self.unreported = 0
        self.reportable = deque()  # per head taken: its attempt's number
        self.snapped = self.taken = 0
        self.next_snap = (0, 0)  # pass, bin
        self.clock = 0
        self.pushes = deque()  # clocks, of `waiting`
        self.used = 0  # passes in the array
        self.due = None  # clock in which a SNAP has to go
        self.idle = self.alone = 0  # clocks without a SNAP that could go, without an attempt
        self.seen = dict.fromkeys(("attempts", "locked", "queue_full", "heads_full", "array_full", "prompt"), 0)

    def attempt(self):
        """An attempt of a slot that is not locked: nobody pushes another one."""
        rng, g = self.rng, self.geometry
        free = [slot for slot in range(g.slots) if all(attempt["head"]["slot"] != slot for attempt in self.waiting)]
        if not free:
            return
        beside = ("flags", "number", "n", "inherited", "all_up_to")
        self.source.items.append(
            {
                "head": {
                    **{name: rng.getrandbits(head_layout(g)[name].width) for name in beside},
                    "slot": rng.choice(free),
                    "class_counts": [rng.getrandbits(g.count_width) for _ in range(g.classes)],
                },
                "current": rng.choice([NONE, rng.randrange(g.max_cells)]),
            }
        )

    async def step(self, passes, rate, drain_rate, report_rate):
        """One clock; the rates are probabilities that attempts, results and reports move on."""
        rng, g, dut = self.rng, self.geometry, self.dut
        if not self.source.items and rng.random() < rate:
            self.attempt()
        self.drive()
        freed = bool(self.used) and rng.random() < drain_rate
        ready = self.used < self.snapshots
        reported = bool(self.reportable) and self.reportable[0] < self.snapped and rng.random() < report_rate
        asked = {name: rng.randrange(g.slots) for name in "ac"}
        self.set_inputs(slot_a=asked["a"], slot_c=asked["c"], snap_freed=freed, reported=reported)
        moved = await self.settle()
        head, attempt = moved["head"], moved["i"]

        assert int(dut.quiet.value) == (not self.unreported)

        snaps, could = int(dut.valid.value), self.waiting and (ready or self.next_snap[1])
        opened, done = self.check_snap(passes, ready) if snaps else (False, False)
        self.idle = self.idle + 1 if could and not snaps else 0
        assert self.idle < PATIENCE, "no SNAP goes although it could"
        locked = {waiting["head"]["slot"] for waiting in list(self.waiting)[done:]}
        for name, slot in asked.items():
            assert int(getattr(dut, f"locked_{name}").value) == (slot in locked), slot
            self.seen["locked"] += slot in locked
        if self.clock == self.due:
            assert int(dut.valid.value), "the first SNAP comes as soon as it may"
        if self.alone > PATIENCE and self.waiting and ready:
            self.due = self.pushes[0] + FIRST_SNAP
        self.alone = 0 if self.waiting else self.alone + 1

        self.used += opened
        assert self.used <= self.snapshots, "more passes than the array holds"
        self.seen["array_full"] += self.used == self.snapshots
        self.used -= freed

        if head is not None:
            assert self.coming, "a head without an attempt"
            assert head == self.coming.popleft()
            self.reportable.append(self.taken)
            self.taken += 1
        if reported:
            self.reportable.popleft()
        self.check_room(done)
        if done:
            self.waiting.popleft()
            self.pushes.popleft()
            self.snapped += 1
        if attempt is not None:
            self.waiting.append(attempt)
            self.pushes.append(self.clock)
            self.coming.append(attempt["head"])
            self.seen["attempts"] += 1
            assert len(self.coming) <= self.heads, "more heads than `heads` wait"
        self.unreported += (attempt is not None) - reported
        self.clock += 1
        await RisingEdge(dut.clk)

    def check_snap(self, passes, ready):
        """SNAPs go pass by pass, bin by bin, of the attempts in order; whether one begins a pass, ends an attempt."""
        assert self.waiting, "a SNAP without an attempt"
        oldest, (pass_, bin_) = self.waiting[0], self.next_snap
        op = self.read("op")
        assert op["code"] == Op.SNAP.value
        assert (op["slot"], op["pass_"], op["bin"]) == (oldest["head"]["slot"], pass_, bin_)
        assert int(self.dut.current.value) == oldest["current"]
        opened = bin_ == 0
        if opened and pass_ == 0:
            after = self.clock - self.pushes[0]
            assert after >= FIRST_SNAP, "the push's operation has not gone yet"
            self.seen["prompt"] += after == FIRST_SNAP
        assert ready or not opened, "a pass began without room"
        bin_ = (bin_ + 1) % self.geometry.bins
        pass_ += bin_ == 0
        done = pass_ == passes
        self.next_snap = (0 if done else pass_, bin_)
        return opened, done

    def check_room(self, done):
        """An attempt is accepted if, and only if, there is room for it."""
        accepts = int(self.dut.i__ready.value)
        if len(self.waiting) == self.depth:
            assert done or not accepts, "more attempts than `depth` wait"
            self.seen["queue_full"] += 1
        elif int(self.dut.held.value):
            assert not accepts, "an attempt is taken in a clock that is the snapshot's"
        elif not accepts:
            self.seen["heads_full"] += 1
            assert self.unreported >= self.heads - 1, "no room although there is"


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def in_order(dut):
    """Attempts now and then or as many as go, with little or much room after them."""
    bench = Bench(dut)
    rng, g = bench.rng, bench.geometry
    await bench.start()
    for index in range(parameters()["rounds"]):
        passes = rng.randint(1, g.passes)
        dut.passes.value = passes
        rates = [rng.choice([0.02, 0.5, 1.0]), rng.choice([0.02, 0.5]), rng.choice([0.02, 0.5])]
        bench.head.stall = rng.choice([0.0, 0.5, 0.98])
        if index % 5 == 0:  # nothing but the report writer is slow
            rates, bench.head.stall = [1.0, 0.5, 0.02], 0.98
        if index % 5 == 3:  # nothing but the gain units are slow
            rates, bench.head.stall = [1.0, 0.02, 0.5], 0.0
        for _ in range(parameters()["clocks"]):
            await bench.step(passes, *rates)
        bench.head.stall = rng.choice([0.0, 0.5])
        limit = 5000
        while bench.source.items or bench.unreported or bench.used:
            await bench.step(passes, 0.0, 0.5, 0.5)
            limit -= 1
            assert limit, "an attempt does not end"
        for _ in range(PATIENCE):
            await bench.step(passes, 0.0, 0.5, 0.5)
        assert not bench.coming and not bench.waiting
    dut._log.info("%s", bench.seen)
    assert all(bench.seen.values()), bench.seen
