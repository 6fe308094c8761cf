"""The core for a system on chip: the crossing between its clocks."""

import random

from amaranth.sim import Simulator
from bregalad_hw.mcmu.axi import write_signature
from bregalad_hw.soc.crossing import AxiCrossing


def test_crossing(seed):
    """Words of each channel come in order, whichever clock is faster, with pauses on both sides."""
    for periods in ((1.0, 2.7), (2.7, 1.0)):
        dut = AxiCrossing(write_signature(32), "near", "far")
        simulator = Simulator(dut)
        for domain, period in zip(("near", "far"), periods, strict=True):
            simulator.add_clock(period * 1e-6, domain=domain)

        def across(source, channel, payload, rng, target, simulator=simulator):
            words = [rng.getrandbits(2) for _ in range(200)]
            (one, here), (other, there) = source, target

            async def put(ctx):
                for word in words:
                    await ctx.tick(here).repeat(rng.choice([1, 1, 1, 5]))
                    ctx.set(getattr(one, payload), word)
                    ctx.set(getattr(one, f"{channel}valid"), 1)
                    await ctx.tick(here).until(getattr(one, f"{channel}ready"))
                    ctx.set(getattr(one, f"{channel}valid"), 0)

            async def get(ctx):
                for word in words:
                    await ctx.tick(there).repeat(rng.choice([1, 1, 1, 9]))
                    ctx.set(getattr(other, f"{channel}ready"), 1)
                    (came,) = (
                        await ctx.tick(there).sample(getattr(other, payload)).until(getattr(other, f"{channel}valid"))
                    )
                    assert came == word, channel
                    ctx.set(getattr(other, f"{channel}ready"), 0)

            simulator.add_testbench(put)
            simulator.add_testbench(get)

        near, far = (dut.i, "near"), (dut.o, "far")
        across(near, "aw", "awaddr", random.Random(seed), far)
        across(near, "w", "wdata", random.Random(seed + 1), far)
        across(far, "b", "bresp", random.Random(seed + 2), near)
        simulator.run()
