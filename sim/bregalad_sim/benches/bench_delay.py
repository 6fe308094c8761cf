"""DelayLine against a queue."""

import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bregalad_sim.runner import parameters


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def comes_later(dut):
    """A new value in every clock; a reset meanwhile changes nothing."""
    width, clocks = (parameters()[key] for key in ("width", "clocks"))
    rng = random.Random(cocotb.RANDOM_SEED)
    under_way = deque(maxlen=clocks)
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    dut.i.value, dut.rst.value = 0, 1
    await FallingEdge(dut.clk)
    for _ in range(20 * clocks):
        dut.rst.value = rng.random() < 0.1
        if len(under_way) == clocks:
            assert int(dut.o.value) == under_way[0]
        value = rng.getrandbits(width)
        dut.i.value = value
        under_way.append(value)
        await FallingEdge(dut.clk)
