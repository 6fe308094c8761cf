"""DelayLine against a queue."""

import random

import cocotb

from bregalad_sim.runner import parameters
from bregalad_sim.streams import feed


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def comes_later(dut):
    """A new value in every clock; a reset meanwhile changes nothing."""
    width, clocks = (parameters()[key] for key in ("width", "clocks"))
    rng = random.Random(cocotb.RANDOM_SEED)
    words = [{"i": rng.getrandbits(width), "rst": rng.random() < 0.1} for _ in range(20 * clocks)]
    async for at in feed(dut, clocks, words):
        assert int(dut.o.value) == words[at]["i"]
