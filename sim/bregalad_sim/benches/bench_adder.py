"""AdderTree against Python's sum."""

import random

import cocotb
from amaranth.lib import data
from bregalad_hw.array.adder import AdderTree
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bregalad_sim.bits import pack
from bregalad_sim.runner import parameters


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def adds_up(dut):
    """New numbers in every clock, their sum ``latency`` clocks later."""
    width, count = (parameters()[key] for key in ("width", "count"))
    latency = AdderTree(width, count).latency
    rng = random.Random(cocotb.RANDOM_SEED)
    top = (1 << width) - 1
    sums = []
    dut.i.value = 0
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    dut.rst.value = 1
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    for clock in range(200 + latency):
        numbers = [rng.choice([0, top, rng.randint(0, top)]) for _ in range(count)]
        dut.i.value = pack(data.ArrayLayout(width, count), numbers if clock else [top] * count)
        sums.append(sum(numbers) if clock else top * count)
        if clock >= latency:
            assert int(dut.o.value) == sums[clock - latency], clock
        await FallingEdge(dut.clk)
