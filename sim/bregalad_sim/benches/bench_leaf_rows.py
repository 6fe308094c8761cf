"""LeafRows against the golden model: few nodes, so that items meet on the same rows; stalls on both streams."""

from collections import deque

import cocotb
from bregalad.geometry import Geometry
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.rows import MOST_WEIGHT
from bregalad_hw.front.leaf_rows import LeafRows
from cocotb.triggers import RisingEdge

from bregalad_sim.benches.leaf_rows import configure, shown
from bregalad_sim.golden import leaf_rows
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench


class Bench(BlockBench):
    def __init__(self, dut):
        given = parameters()
        self.geometry = g = Geometry(**given["geometry"])
        self.nodes = given["nodes"]
        self.block = LeafRows(g, self.nodes, width=given["width"])
        super().__init__(dut, self.block)
        self.golden = leaf_rows.LeafRows(g, self.nodes, width=given["width"])
        self.source, self.sink = self.ends["i"], self.ends["o"]
        self.want = deque()

    def add(self, op, node=0, label=0, *, bayes=None, word=0, value=0, weight=1, **bits):
        """An item, and the result that it is to have."""
        rng, g = self.rng, self.geometry
        bits = {"test": False, "alternate": False} | bits
        match op:
            case RowOp.RECORD:
                want = self.golden.record(node, label, **bits, bayes=bayes, weight=weight)
            case RowOp.READ:
                want = self.golden.read(node, word)
            case RowOp.WRITE:
                want = self.golden.write(node, word, value)
            case RowOp.MARK:
                want = self.golden.mark()
        self.source.items.append(
            {
                "op": op,
                "node": node,
                "label": label,
                **bits,
                "weight": weight,
                "known": bayes is not None,
                "bayes": rng.randrange(g.classes) if bayes is None else bayes,
                "word": word,
                "value": value,
            }
        )
        if want is not None:
            self.want.append(shown(vars(want)))

    def record(self, nodes):
        rng, g = self.rng, self.geometry
        bayes = rng.choice([None, rng.randrange(g.classes)]) if g.naive_bayes else None
        bits = {name: rng.random() < 0.15 for name in ("test", "alternate")}
        self.add(
            RowOp.RECORD,
            rng.randrange(nodes),
            rng.choice([rng.randrange(g.classes), 0]),
            bayes=bayes,
            weight=1 if bits["test"] else rng.choice([0, 1, 1, 1, 1, 2, 3, rng.randint(0, MOST_WEIGHT)]),
            **bits,
        )

    def write_row(self, node):
        """A new leaf's row: its counts are what its lead says."""
        rng = self.rng
        most = (1 << self.golden.width) - 1
        lead = rng.choice([0, rng.randrange(4), most - rng.randrange(3)])
        counts = [rng.randint(max(0, lead - 2), lead) for _ in range(self.geometry.classes)]
        counts[rng.randrange(len(counts))] = lead
        majority = counts.index(lead) if lead else rng.randrange(len(counts))
        words = [
            majority | rng.getrandbits(14) << 18,
            lead,
            rng.choice([0, 1, 0xFFFFFFFF, 1 << 31, rng.getrandbits(32)]),
            *counts,
        ]
        order = list(enumerate(words))
        rng.shuffle(order)
        for word, value in order:
            self.add(RowOp.WRITE, node, word=word, value=value)

    def access(self, nodes):
        rng, g = self.rng, self.geometry
        node, op = rng.randrange(nodes), rng.choice(list(RowOp)[1:])
        if op == RowOp.WRITE:
            self.write_row(node)
        elif op == RowOp.READ:
            self.add(op, node, word=rng.randrange(len(RowWord) + g.classes))
        else:
            self.add(op)

    def read_all(self):
        """Every word of every node."""
        for node in range(self.nodes):
            for word in range(len(RowWord) + self.geometry.classes):
                self.add(RowOp.READ, node, word=word)

    async def run(self):
        """Until all results are there; clocks."""
        limit = clocks = 100 * len(self.source.items) + 200
        while (self.want or self.source.items) and limit:
            await self.step()
            limit -= 1
        assert limit, "a result is missing"
        for _ in range(self.block.latency + 2):
            await self.step()
        assert int(self.dut.quiet.value)
        return clocks - limit

    async def step(self):
        """One clock; ``(an item was taken, a result was taken)``."""
        self.drive()
        moved = await self.settle()
        taken, got = moved["i"], moved["o"]
        if self.want and not self.source.items and taken is None:
            assert not int(self.dut.quiet.value), "a result is to come"
        if got is not None:
            want = self.want.popleft()
            assert shown(got) == want, f"got {got}, want {want}"
        await RisingEdge(self.dut.clk)
        return taken is not None, got is not None


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def matches_golden(dut):
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    bench.read_all()  # all are 0
    await bench.run()
    for _ in range(parameters()["rounds"]):
        configure(bench, bench.golden)
        bench.source.stall, bench.sink.stall = (rng.choice([0, 0, 0.5, 0.9]) for _ in range(2))
        nodes = rng.choice([1, 2, bench.nodes])
        accesses = rng.choice([0, 0.05, 0.5])
        for _ in range(rng.randint(1, 80)):
            if rng.random() < accesses:
                bench.access(nodes)
            else:
                bench.record(nodes)
        await bench.run()
    bench.read_all()
    await bench.run()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def rate_and_latency(dut):
    """A record per clock, all of one leaf, each with a result; results stand, and no record is lost."""
    bench = Bench(dut)
    await bench.start()
    configure(bench, bench.golden, reported=1)
    for word in range(len(RowWord) + bench.geometry.classes):
        bench.add(RowOp.WRITE, 1, word=word)
    await bench.run()
    bench.add(RowOp.MARK)
    taken = None
    for clock in range(20):
        item, result = await bench.step()
        taken = clock if item else taken
        if result:
            assert clock - taken == bench.block.latency
            break
    for _ in range(300):
        bench.add(RowOp.RECORD, 1, bench.rng.randrange(bench.geometry.classes))
    assert await bench.run() <= 300 + bench.block.latency + 1
    for _ in range(40):
        bench.add(RowOp.RECORD, 1)
    bench.sink.stall = 1.0
    for _ in range(60):
        await bench.step()
    assert bench.source.items, "more was taken than there is room for"
    bench.sink.stall = 0.0
    await bench.run()
