"""BayesTerms against host/bregalad/fixed.py."""

import random

import cocotb
from amaranth.lib import data
from bregalad.fixed import BAYES_FALL, BAYES_UNIT, bayes_log2
from bregalad.geometry import Geometry
from bregalad_hw.array.bayes import BayesTerms, terms_layout

from bregalad_sim.bits import pack, unpack
from bregalad_sim.runner import parameters
from bregalad_sim.streams import feed


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def matches_fixed(dut):
    """A word in every clock, some without a bin, some beside one; terms ``latency`` clocks later."""
    g = Geometry(**parameters()["geometry"])
    rng = random.Random(cocotb.RANDOM_SEED)
    words, want = [], []
    least = None  # of what is beside the last first word
    for _ in range(500):
        word = [
            rng.choice([0, 1, g.count_max, rng.getrandbits(rng.randint(1, g.count_width))]) for _ in range(g.classes)
        ]
        known = rng.randrange(3) != 0
        logs = [bayes_log2(BAYES_UNIT * count + 1) if known else 0 for count in word]
        numeric, beside = rng.randrange(2), least is not None and rng.randrange(2)
        first = not beside and rng.randrange(4) != 0
        if first:
            least = [max(log - BAYES_FALL * numeric, 0) for log in logs]
        elif beside:
            logs = [max(pair) for pair in zip(logs, least, strict=True)]
        want.append({"logs": logs, "known": known and not beside})
        word = pack(data.ArrayLayout(g.count_width, g.classes), word)
        words.append({"word": word, "known": known, "numeric": numeric, "first": first, "beside": beside})
    async for at in feed(dut, BayesTerms(g).latency, words):
        assert unpack(terms_layout(g), int(dut.terms.value)) == want[at]
