"""The front as a whole against its golden models, on Icarus."""

import pytest
from bregalad.geometry import Geometry
from bregalad_hw.front.front import Front
from bregalad_sim.runner import run

SIZES = {
    "passes": (dict(lanes=4, passes=3, classes=3, slots=5, bus_width=64, nodes=16), dict(walkers=1, records=4)),
    "codes": (dict(lanes=4, passes=2, classes=2, slots=5, bus_width=32, nodes=16, searchers=0), dict(records=4)),
    "bayes": (
        dict(lanes=8, classes=5, passes=1, slots=6, nodes=20, naive_bayes=True, alternates=3),
        dict(walkers=2, records=8),
    ),
}


@pytest.mark.parametrize(
    "size, rounds", [*((size, 5) for size in SIZES), *(pytest.param(size, 8, marks=pytest.mark.slow) for size in SIZES)]
)
def test_front(size, rounds, tmp_path):
    sizes, blocks = SIZES[size]
    front = Front(Geometry(**sizes), steps=32, **blocks)
    run(front, "dut", "bench_front", tmp_path, geometry=sizes, steps=32, rounds=rounds, testcase="matches_golden")


def test_takes_the_clocks_that_it_says(tmp_path):
    """Depth 2, four rings: a record a beat."""
    sizes = dict(lanes=16, passes=1, slots=6, bus_width=256, nodes=16)
    front = Front(Geometry(**sizes), steps=32, walkers=4)
    run(front, "dut", "bench_front", tmp_path, geometry=sizes, steps=32, walkers=4, testcase="rate")
