"""Every criterion's arithmetic that makes whole impurities against host/bregalad/criteria.py."""

import random
from pkgutil import resolve_name

import cocotb
from bregalad.criteria import criterion_of
from bregalad_hw.gain.term import TERM

from bregalad_sim.bits import pack
from bregalad_sim.runner import parameters
from bregalad_sim.streams import feed


def random_counts(rng, width, classes):
    """Counts that add up to less than 2**width; once in a while any, whose sums wrap."""
    top = (1 << width) - 1
    if rng.random() < 0.1:
        return [rng.choice([0, top, rng.getrandbits(width)]) for _ in range(classes)]
    n = rng.choice([rng.getrandbits(rng.randint(0, width)), (1 << rng.randint(0, width)) - 1])
    counts = []
    for _ in range(classes - 1):
        counts.append(rng.choice([0, n, n // 2, rng.randint(0, n), min(n, rng.randint(0, 3))]))
        n -= counts[-1]
    counts.append(n)
    rng.shuffle(counts)
    return counts


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def matches_fixed(dut):
    """Every side's impurity at its sum, 0 elsewhere, each ``latency`` clocks later.

    One side alone or two at a time, as close after each other as the gain unit sends them.
    """
    given = parameters()
    criterion, width = criterion_of(given["criterion"]), given["width"]
    unit = resolve_name(criterion.gain_unit)(width)
    rng = random.Random(cocotb.RANDOM_SEED)
    idle = (0, {"valid": 0, "opens": 0, "sum": 0, "right": 0}, None)
    terms = []  # (x, term, what is to come out)
    while len(terms) < given["count"]:
        classes = rng.randint(1, given["classes"])
        sides = [random_counts(rng, width, classes) for _ in range(rng.choice([1, 2]))]
        alone = len(sides) == 1
        for k in range(classes):
            for right, counts in enumerate(sides):
                place = {"valid": 1, "opens": k == 0, "sum": 0, "right": right}
                terms.append((counts[k], place, 0))
        terms += [idle] * alone
        for right, counts in enumerate(sides):
            place = {"valid": 1, "opens": 0, "sum": 1, "right": right}
            terms.append((sum(counts) & (1 << width) - 1, place, criterion.scaled(counts, width)))
        terms += [idle] * rng.choice([0, 0, 1, 5])
    # Numbers of clocks without a term must not matter.
    words = [
        {"i_x": x if term["valid"] else rng.getrandbits(width), "i_term": pack(TERM, term)} for x, term, _ in terms
    ]
    async for at in feed(dut, unit.latency, words):
        assert terms[at][2] in (None, int(dut.o_y.value)), (at, terms[at])
