"""AdderTree against Python's sum."""

import random

import cocotb
from amaranth.lib import data
from bregalad_hw.array.adder import AdderTree

from bregalad_sim.bits import pack
from bregalad_sim.runner import parameters
from bregalad_sim.streams import feed


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def adds_up(dut):
    """New numbers in every clock, their sum ``latency`` clocks later."""
    width, count = (parameters()[key] for key in ("width", "count"))
    rng = random.Random(cocotb.RANDOM_SEED)
    top = (1 << width) - 1
    numbers = [[top] * count, *([rng.choice([0, top, rng.randint(0, top)]) for _ in range(count)] for _ in range(200))]
    words = [{"i": pack(data.ArrayLayout(width, count), each)} for each in numbers]
    async for at in feed(dut, AdderTree(width, count).latency, words):
        assert int(dut.o.value) == sum(numbers[at]), at
