"""Merge against the golden model's `join` and `top`, stalls on all streams."""

import cocotb
from bregalad.geometry import NONE, Geometry
from bregalad.protocol.registers import CellKind
from bregalad_hw.array.merge import Merge
from cocotb.triggers import RisingEdge

from bregalad_sim.bits import attempt_fields
from bregalad_sim.golden import Candidate, Cell, join, top
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench


class Bench(BlockBench):
    def __init__(self, dut):
        self.geometry = g = Geometry(**parameters()["geometry"])
        super().__init__(dut, Merge(g))
        self.source, self.gains, self.summary = (self.ends[name] for name in ("i", "gains", "summary"))
        self.seen = dict.fromkeys(("ties", "joined", "current", "empty"), 0)

    def attempt(self):
        """Random cells of attributes, as gain units find them, go in; what should come out."""
        rng, g = self.rng, self.geometry
        cells = rng.choice([1, 2, g.max_cells, rng.randint(1, g.max_cells)])
        configs, parts = [], []
        kinds = [CellKind.NUMERIC, CellKind.MULTIWAY, CellKind.ONE_VS_REST, CellKind.IGNORED]
        kinds = rng.choice([kinds, kinds[:3], kinds[1:3], kinds[3:]])
        half = 1 << g.gain_width - 1
        # Few different gains tie; the outermost ones wrap when they are added.
        gains = rng.choice([[0], [-1, 0, 1], [-half, half - 1], range(-half, half)])
        kind = rng.choice(kinds)
        for cell in range(cells):
            first = rng.random() < 0.5
            if first or rng.random() < 0.2:
                kind = rng.choice(kinds)
            configs.append(Cell(kind, int(first)))
            part = Candidate()
            if kind != CellKind.IGNORED:
                multiway = kind == CellKind.MULTIWAY
                part = Candidate(
                    cell,
                    0 if multiway else rng.randrange(256),
                    rng.choice(gains),
                    [0 if multiway else rng.randint(0, g.count_max) for _ in range(g.classes)],
                )
            parts.append(part)
        candidates = join(g, configs, parts)
        heads = [c.cell for c in candidates if c is not None and c.valid]
        current = rng.choice([NONE, *heads[:1], rng.randrange(cells)])
        for cell, (config, part) in enumerate(zip(configs, parts, strict=True)):
            joins = part.valid and not config.first
            self.source.items.append(
                {
                    "part": {
                        "valid": part.valid,
                        "joins": joins,
                        "value": part.value,
                        "additive": part.valid and config.kind == CellKind.MULTIWAY,
                        "gain": part.gain,
                        "left": part.left,
                    },
                    "cell": cell,
                    "current": cell == current,
                    "last": cell == cells - 1,
                }
            )
        best, second, chosen = top(candidates, current)
        self.seen["ties"] += best.valid and second.valid and best.gain == second.gain
        self.seen["joined"] += candidates.count(None)
        self.seen["current"] += chosen.valid
        self.seen["empty"] += not best.valid
        return attempt_fields(g, candidates, (best, second, chosen))

    async def run(self, attempts, report_all, stall_in, stall_out):
        """Compare the results of some attempts; clocks from the first cell to the last result."""
        dut = self.dut
        dut.report_all.value = report_all
        self.source.stall = stall_in
        self.gains.stall = self.summary.stall = stall_out
        want, cells, ends = [], 0, []
        for _ in range(attempts):
            gains, summary = self.attempt()
            want += gains if report_all else [summary]
            cells += len(gains)
            ends.append(len(want))
        got, clock, first, last_in = 0, 0, None, []
        sink, other = (self.gains, self.summary) if report_all else (self.summary, self.gains)
        latency = Merge.gains_latency if report_all else Merge.summary_latency
        prompt = not stall_in and not stall_out
        limit = 40 * (cells + attempts) + 200
        while got < len(want) or int(dut.busy.value):
            self.drive()
            moved = await self.settle()
            item, result = moved["i"], moved[sink.name]
            if item is not None:
                first = clock if first is None else first
                if item["last"]:
                    last_in.append(clock)
            assert not other.valid, f"{other.name} of the other kind"
            assert not sink.valid or int(dut.busy.value)
            if result is not None:
                assert got < len(want), "a result too many"
                assert result == want[got], (got, report_all)
                got += 1
                if prompt and got in ends:
                    # The stages stand still after what leaves: a clock, at most twice.
                    late = clock - last_in[ends.index(got)] - latency
                    assert late in ((0, 1, 2) if report_all or got > 1 else (0,))
            await RisingEdge(dut.clk)
            clock += 1
            assert clock < limit, "no end"
        assert not self.source.items
        if prompt:
            least = cells + attempts - 2
            assert least <= last_in[-1] - first <= least + (cells if report_all else 0) + attempts, (
                "a cell per clock, or two with every candidate, and two per attempt"
            )


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def matches_golden(dut):
    """Attempts of any cells: ties, attributes of several cells, gains that wrap, nothing valid."""
    bench = Bench(dut)
    await bench.start()
    for index in range(parameters()["rounds"]):
        stalls = [(0.0, 0.0), (0.0, 0.7), (0.7, 0.0), (0.4, 0.4)][index // 2 % 4]
        await bench.run(10, index % 2, *stalls)
    dut._log.info("%s", bench.seen)
    assert all(bench.seen.values()), bench.seen
