"""Log2 against host/bregalad/fixed.py."""

import random

import cocotb
from bregalad.fixed import bayes_log2
from bregalad_hw.array.log2 import Log2
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bregalad_sim.runner import parameters


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def matches_fixed(dut):
    """Every number in its clock, ``latency`` clocks later."""
    width, count = (parameters()[key] for key in ("width", "count"))
    latency = Log2(width).latency
    rng = random.Random(cocotb.RANDOM_SEED)
    top = (1 << width) - 1
    edges = {(1 << i) + offset & top for i in range(width + 1) for offset in (-2, -1, 0, 1)}
    numbers = sorted(edges - {0}) + [rng.getrandbits(rng.randint(1, width)) or 1 for _ in range(count)]
    if top <= count:
        numbers += range(1, top + 1)
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    dut.rst.value, dut.i_x.value = 1, 1
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    for clock in range(len(numbers) + latency):
        await FallingEdge(dut.clk)
        if clock >= latency:
            number = numbers[clock - latency]
            assert int(dut.o_y.value) == bayes_log2(number), number
        dut.i_x.value = numbers[clock] if clock < len(numbers) else 1
