"""BayesTerms against host/bregalad/fixed.py."""

import random

import cocotb
from amaranth.lib import data
from bregalad.fixed import BAYES_UNIT, bayes_log2
from bregalad.geometry import Geometry
from bregalad_hw.array.bayes import BayesTerms, terms_layout
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bregalad_sim.bits import pack, unpack
from bregalad_sim.runner import parameters


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def matches_fixed(dut):
    """A word in every clock, some without a bin; terms ``latency`` clocks later."""
    g = Geometry(**parameters()["geometry"])
    latency = BayesTerms(g).latency
    rng = random.Random(cocotb.RANDOM_SEED)
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    dut.rst.value, dut.word.value, dut.known.value = 1, 0, 0
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    want = []
    for clock in range(500):
        if clock >= latency:
            got = unpack(terms_layout(g), int(dut.terms.value))
            assert got == want[clock - latency]
        word = [
            rng.choice([0, 1, g.count_max, rng.getrandbits(rng.randint(1, g.count_width))]) for _ in range(g.classes)
        ]
        known = rng.randrange(3) != 0
        logs = [bayes_log2(BAYES_UNIT * count + 1) if known else 0 for count in word]
        want.append({"logs": logs, "known": known})
        dut.word.value = pack(data.ArrayLayout(g.count_width, g.classes), word)
        dut.known.value = known
        await FallingEdge(dut.clk)
