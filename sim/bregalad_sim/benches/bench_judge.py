"""Judge against the golden model: random trials and such at the bound, stalls on both streams."""

import cocotb
from bregalad.geometry import Geometry
from bregalad_hw.front.judge import Judge
from cocotb.triggers import RisingEdge

from bregalad_sim.benches.verdicts import Made
from bregalad_sim.bits import candidate_fields
from bregalad_sim.golden.judge import judge
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench


class Bench(BlockBench):
    def __init__(self, dut):
        g = Geometry(**parameters()["geometry"])
        self.judge = Judge(g)
        super().__init__(dut, self.judge)
        self.source, self.sink = self.ends["i"], self.ends["o"]
        self.made = Made(self.rng, g)

    def configure(self):
        self.made.configure()
        self.give(**{f"configuration__{name.replace('.', '__')}": value for name, value in self.made.rule.items()})

    async def verdict(self, trial):
        """``(propose, clocks)`` from where the trial is offered."""
        self.source.items.append(
            {
                **{name: int(getattr(trial, name)) for name in ("n", "base", "ask_up_to", "inner")},
                **{name: candidate_fields(getattr(trial, name)) for name in ("best", "second", "current")},
            }
        )
        offered = told = None
        for clock in range(4 * self.judge.latency + 600):
            self.drive()
            offered = clock if offered is None and self.source.offered else offered
            moved = await self.settle()
            got, taken = moved["o"], moved["i"]
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
