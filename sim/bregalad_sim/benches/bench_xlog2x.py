"""XLog2X against host/bregalad/fixed.py."""

import cocotb
from bregalad.fixed import xlog2x
from bregalad_hw.gain.xlog2x import XLog2X

from bregalad_sim.benches.numbers import any_numbers
from bregalad_sim.runner import parameters
from bregalad_sim.streams import feed


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def matches_fixed(dut):
    """Every number in its clock, ``latency`` clocks later."""
    width, count = (parameters()[key] for key in ("width", "count"))
    numbers = any_numbers(width, count)
    async for at in feed(dut, XLog2X(width).latency, [{"i_x": number} for number in numbers]):
        assert int(dut.o_y.value) == xlog2x(numbers[at]), numbers[at]
