"""Log2 against host/bregalad/fixed.py."""

import cocotb
from bregalad.fixed import bayes_log2
from bregalad_hw.array.log2 import Log2

from bregalad_sim.benches.numbers import any_numbers
from bregalad_sim.runner import parameters
from bregalad_sim.streams import feed


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def matches_fixed(dut):
    """Every number in its clock, ``latency`` clocks later."""
    width, count = (parameters()[key] for key in ("width", "count"))
    numbers = [number or 1 for number in any_numbers(width, count)]
    async for at in feed(dut, Log2(width).latency, [{"i_x": number} for number in numbers]):
        assert int(dut.o_y.value) == bayes_log2(numbers[at]), numbers[at]
