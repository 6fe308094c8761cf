"""Decider against the golden model: random attempts and such at the bound, stalls on both streams."""

import cocotb
from bregalad.geometry import Geometry
from bregalad_hw.front.decider import Decider
from cocotb.triggers import RisingEdge

from bregalad_sim.benches.attempts import Made
from bregalad_sim.bits import candidate_fields
from bregalad_sim.golden.decider import is_candidate
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench


class Bench(BlockBench):
    def __init__(self, dut):
        g = Geometry(**parameters()["geometry"])
        self.decider = Decider(g)
        super().__init__(dut, self.decider)
        self.source, self.sink = self.ends["i"], self.ends["o"]
        self.made = Made(self.rng, g)

    def configure(self):
        self.made.configure()
        self.set_inputs(
            **{f"configuration__{name.replace('.', '__')}": value for name, value in self.made.rule.items()}
        )

    async def decision(self, attempt):
        """``(propose, clocks)`` from where the attempt is offered."""
        self.source.items.append(
            {
                **{name: int(getattr(attempt, name)) for name in ("n", "inherited", "all_up_to", "inner")},
                **{name: candidate_fields(getattr(attempt, name)) for name in ("best", "second", "current")},
            }
        )
        offered = told = None
        for clock in range(4 * self.decider.latency + 600):
            self.drive()
            offered = clock if offered is None and self.source.offered else offered
            moved = await self.settle()
            got, taken = moved["o"], moved["i"]
            told = clock if told is None and self.sink.valid else told
            await RisingEdge(self.dut.clk)
            assert (taken is None) == (got is None), "an attempt is taken as its decision is"
            if got is not None:
                return got, told - offered
        raise AssertionError("no decision")


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def matches_golden(dut):
    bench = Bench(dut)
    await bench.start()
    said, longest = [0, 0], 0
    for _ in range(parameters()["rounds"]):
        bench.configure()
        bench.source.stall, bench.sink.stall = (bench.rng.choice([0, 0.5]) for _ in range(2))
        for _ in range(20):
            attempt = bench.made.attempt()
            want = is_candidate(bench.made.rule, attempt)
            got, clocks = await bench.decision(attempt)
            assert got == want, f"{bench.made.rule} {attempt}"
            if bench.made.rule["decider_bound.mantissa"] >> 15:
                assert 2 <= clocks <= bench.decider.latency, (clocks, bench.decider.latency)
                longest = max(longest, clocks)
            said[got] += 1
    dut._log.info(f"stays, candidates: {said}; longest {longest} of {bench.decider.latency} clocks")
    assert min(said) > 100
    assert longest > bench.decider.latency - 25
