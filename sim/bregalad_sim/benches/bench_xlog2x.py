"""XLog2X against host/bregalad/fixed.py."""

import random

import cocotb
from bregalad.fixed import xlog2x
from bregalad_hw.gain.xlog2x import XLog2X
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bregalad_sim.runner import parameters


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def matches_fixed(dut):
    """Every number in its clock, ``latency`` clocks later."""
    width, count = (parameters()[key] for key in ("width", "count"))
    unit = XLog2X(width)
    rng = random.Random(cocotb.RANDOM_SEED)
    top = (1 << width) - 1
    edges = {(1 << i) + offset & top for i in range(width + 1) for offset in (-2, -1, 0, 1)}
    numbers = sorted(edges) + [rng.getrandbits(rng.randint(1, width)) for _ in range(count)]
    if (top + 1) <= count:
        numbers += range(top + 1)
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    dut.rst.value, dut.i_x.value = 1, 0
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    sent = []
    for clock in range(len(numbers) + unit.latency):
        await FallingEdge(dut.clk)
        if clock >= unit.latency:
            number = sent[clock - unit.latency]
            assert int(dut.o_y.value) == xlog2x(number), number
        sent.append(numbers[clock] if clock < len(numbers) else 0)
        dut.i_x.value = sent[-1]
