"""Predictor against Slots._scores: sums of beats in, predictions out, stalls on both streams."""

from collections import deque

import cocotb
from bregalad.fixed import BAYES_UNIT, bayes_log2, neighbour_log
from bregalad.geometry import MISSING, Geometry
from bregalad.protocol.registers import CellKind
from bregalad_hw.array.bayes import lead, partial_latency, partial_layout
from bregalad_hw.mcmu.predictor import Predictor
from cocotb.triggers import RisingEdge

from bregalad_sim.bits import pack
from bregalad_sim.golden import Cell, Slots
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench


class Bench(BlockBench):
    """The predictor between who asks, an array of a fixed latency and who takes them."""

    def __init__(self, dut):
        given = parameters()
        self.geometry = g = Geometry(**given["geometry"])
        self.predictor = Predictor(g, **given["options"])
        super().__init__(dut, self.predictor)
        self.golden = Slots(g)
        self.golden.cells = [Cell(CellKind.NUMERIC) for _ in range(g.max_cells)]
        self.source, self.sink = self.ends["i"], self.ends["o"]
        self.delay = 1 + partial_latency(g)  # from an operation's issue to its sums
        self.pending = deque()  # beats of each record that was asked for or will be
        self.issuable = 0  # records asked for whose beats are not all issued
        self.partials, self.coming = {}, set()  # by clock
        self.want = deque()  # what comes out: fields and the clock of its last sums
        self.unissued = deque()  # those whose last beat is to come
        self.clock = self.asked = self.given = 0
        self.busy = 0.0  # probability that a beat is not issued
        self.most = 0  # under way

    def configure(self, cells, classes, neighbours):
        """Static while nothing is under way; new statistics everywhere."""
        g, rng, golden = self.geometry, self.rng, self.golden
        golden.fields.update({"cells.count": cells, "classes.count": classes, "report.neighbours": neighbours})
        self.set_inputs(classes_in_use=classes, neighbours=neighbours)

        def count():
            return rng.choice([0, 0, 1, rng.getrandbits(rng.randint(1, g.count_width)), g.count_max])

        for slot in range(g.slots):
            golden.entries[slot].class_counts = [count() for _ in range(g.classes)]
            golden.counts[slot] = [
                [[count() for _ in range(g.classes)] for _ in range(g.bins)] for _ in range(g.max_cells)
            ]

    def record(self):
        """Queue a record's ask and beats, and what shall come out."""
        g, rng, golden = self.geometry, self.rng, self.golden
        slot = rng.randrange(g.slots)
        codes = [rng.choice([MISSING, rng.randrange(255)]) for _ in range(golden.cells_in_use)]
        scores = golden._scores(slot, codes)
        leaf = rng.randrange(2)
        self.source.items.append({"known": leaf, "class_counts": golden.entries[slot].class_counts})
        beats = []
        for at in range(0, len(codes), g.lanes):
            last, sides = at + g.lanes >= len(codes), 2 * golden.fields["report.neighbours"]
            sums, known = [[0] * g.classes for _ in range(1 + sides)], 0
            for cell in range(at, min(at + g.lanes, len(codes))):
                index = golden._own_bin(slot, cell, codes[cell])
                if index is None:
                    continue
                known += 1
                words = golden._words(slot, cell, index)
                for k in range(g.classes):
                    own, *others = (bayes_log2(BAYES_UNIT * counts[k] + 1) for counts in words)
                    sums[0][k] += own
                    for side in range(sides):
                        sums[1 + side][k] += neighbour_log(own, others[side])
            for side in range(1 + sides):
                beats.append({"sums": sums[side], "known": known * (side == 0), "last": last and side == sides})
        self.pending.append(beats)
        self.want.append([{"label": scores.index(max(scores)), "known": leaf}, None])
        self.unissued.append(self.want[-1])

    async def step(self):
        rng, dut = self.rng, self.dut
        self.drive()
        partial = self.partials.pop(self.clock, None)
        size = partial_layout(self.geometry).size
        dut.partial__valid.value = partial is not None
        dut.partial__p.value = (
            rng.getrandbits(size) if partial is None else pack(partial_layout(self.geometry), partial)
        )
        dut.partial__incoming.value = self.clock in self.coming
        self.coming.discard(self.clock)
        moved = await self.settle()
        taken, got = moved["i"] is not None, moved["o"]
        self.asked += taken
        self.issuable += taken
        if self.issuable and rng.random() >= self.busy:
            beat = self.pending[0].pop(0)
            self.partials[self.clock + self.delay] = beat
            if beat["last"]:
                self.coming.add(self.clock + self.delay - lead(self.geometry))
                self.unissued.popleft()[1] = self.clock + self.delay
                self.pending.popleft()
                self.issuable -= 1
        oldest = self.want[0] if self.want else None
        if self.sink.valid:
            assert oldest is not None and oldest[1] is not None, "a prediction of nothing"
        if oldest is not None and oldest[1] is not None:
            # Not earlier, and not later either: all before it are taken.
            due = self.clock >= oldest[1] + self.predictor.latency
            if due or self.sink.valid:
                assert self.sink.valid == due, (self.clock, oldest)
        if got is not None:
            assert got == self.want.popleft()[0]
            self.given += 1
        self.most = max(self.most, self.asked - self.given)
        await RisingEdge(dut.clk)
        self.clock += 1

    async def finish(self):
        limit = 60 * len(self.want) + 400
        while self.want:
            await self.step()
            limit -= 1
            assert limit, "a prediction is missing"
        for _ in range(3):
            await self.step()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def matches_golden(dut):
    """Records of any length, a queue that is full now and then."""
    bench = Bench(dut)
    rng, g = bench.rng, bench.geometry
    await bench.start()
    for _ in range(parameters()["rounds"]):
        bench.configure(rng.randint(1, g.max_cells), rng.choice([g.classes, 1, 2]), rng.randrange(2))
        bench.source.stall, bench.sink.stall = rng.choice([0, 0.5]), rng.choice([0, 0.5, 0.95])
        bench.busy = rng.choice([0, 0.4])
        bench.most = 0
        for _ in range(rng.randint(1, 60)):
            bench.record()
        await bench.finish()
        assert bench.most <= bench.predictor.depth


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def ties(dut):
    """Classes that are equally likely: the lower one; none in use: class 0."""
    bench = Bench(dut)
    g, golden = bench.geometry, bench.golden
    await bench.start()
    for classes in (g.classes, 0):
        bench.configure(1, classes, 0)
        for first in range(g.classes):
            golden.entries[0].class_counts = [5 * (k >= first) for k in range(g.classes)]
            golden.counts[0][0] = [[2] * g.classes for _ in range(g.bins)]
            golden.entries[1:] = [golden.entries[0]] * (g.slots - 1)
            golden.counts[1:] = [golden.counts[0]] * (g.slots - 1)
            bench.record()
            assert bench.want[-1][0]["label"] == (first if classes else 0)
            await bench.finish()


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def rate(dut):
    """A prediction per clock of records of one beat, while they are taken."""
    bench = Bench(dut)
    g = bench.geometry
    await bench.start()
    bench.configure(min(g.lanes, g.max_cells), g.classes, 0)
    for _ in range(300):
        bench.record()
    await bench.finish()
    assert bench.clock <= 300 + bench.delay + bench.predictor.latency + 4, bench.clock
