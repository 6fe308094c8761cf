"""Judge against the golden model: random trials and such at the bound, stalls on both streams."""

import random

import cocotb
from amaranth import unsigned
from bregalad.geometry import Geometry
from bregalad_hw.front.judge import Judge, trial_layout
from cocotb.triggers import ReadOnly, RisingEdge

from bregalad_sim.benches.verdicts import FIELDS, Made
from bregalad_sim.bits import candidate_fields
from bregalad_sim.golden.judge import judge
from bregalad_sim.runner import parameters
from bregalad_sim.streams import Sink, Source, reset


class Bench:
    def __init__(self, dut):
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.geometry = g = Geometry(**parameters()["geometry"])
        self.judge = Judge(g)
        self.source = Source(dut, "i", trial_layout(g), self.rng)
        self.sink = Sink(dut, "o", unsigned(1), self.rng)
        self.made = Made(self.rng, g)

    def configure(self):
        self.made.configure()
        for name, value in self.made.rule.items():
            getattr(self.dut, f"configuration__{name.replace('.', '__')}").value = value

    async def start(self):
        names = [f"configuration__{name.replace('.', '__')}" for name in FIELDS]
        await reset(self.dut, *(getattr(self.dut, name) for name in names))

    async def verdict(self, trial):
        """``(propose, clocks)`` from where the trial is offered."""
        self.source.items.append(
            {
                **{name: int(getattr(trial, name)) for name in ("n", "base", "ask_up_to", "mixed", "inner")},
                **{name: candidate_fields(getattr(trial, name)) for name in ("best", "second", "current")},
            }
        )
        offered = told = None
        for clock in range(4 * self.judge.latency + 600):
            self.source.drive()
            self.sink.drive()
            await ReadOnly()
            offered = clock if offered is None and self.source.offered else offered
            got, taken = self.sink.settle(), self.source.settle()
            told = clock if told is None and self.sink.valid else told
            await RisingEdge(self.dut.clk)
            assert (taken is None) == (got is None), "a trial is taken as its verdict is"
            if got is not None:
                return got, told - offered
        raise AssertionError("no verdict")


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def matches_golden(dut):
    bench = Bench(dut)
    await bench.start()
    said, longest = [0, 0], 0
    for _ in range(parameters()["rounds"]):
        bench.configure()
        bench.source.stall, bench.sink.stall = (bench.rng.choice([0, 0.5]) for _ in range(2))
        for _ in range(20):
            trial = bench.made.trial()
            want = judge(bench.made.rule, trial)
            got, clocks = await bench.verdict(trial)
            assert got == want, f"{bench.made.rule} {trial}"
            if bench.made.rule["judge_bound.mantissa"] >> 15:
                assert 2 <= clocks <= bench.judge.latency, (clocks, bench.judge.latency)
                longest = max(longest, clocks)
            said[got] += 1
    dut._log.info(f"stays, proposals: {said}; longest {longest} of {bench.judge.latency} clocks")
    assert min(said) > 100
    assert longest > bench.judge.latency - 25
