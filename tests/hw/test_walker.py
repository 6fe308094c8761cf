"""Node table and walker against the golden model, on Icarus."""

import pytest
from bregalad_hw.front.walker import Walker
from bregalad_sim.runner import run
from marks import nightly

SIZES = {
    "plain": dict(nodes=16, attributes=6, slots=5, codes=4),
    "pair": dict(nodes=16, attributes=8, slots=5, codes=8, walkers=2, alternates=3, records=4),
    "odd": dict(nodes=20, attributes=3, slots=3, codes=1, walkers=3, alternates=0, records=2),
    "many": dict(nodes=64, attributes=20, slots=64, codes=4, walkers=4, records=8),
}


@pytest.mark.parametrize(
    "sizes, records",
    [("pair", 700), ("odd", 700), *nightly(("plain", 700), ("many", 2000))],
)
def test_matches_golden(sizes, records, tmp_path):
    sizes = SIZES[sizes]
    run(Walker(**sizes), "dut", "bench_walker", tmp_path, sizes=sizes, records=records, testcase="matches_golden")


@pytest.mark.parametrize(
    "sizes, depths",
    [
        (dict(codes=8, walkers=2), (3,)),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                (dict(codes=32), (0, 3, 12)),
                (dict(codes=32, records=4), (3,)),
                (dict(codes=32, walkers=4), (3, 12)),
                (dict(codes=8, walkers=2), (3, 12)),
                (dict(codes=32, walkers=13), (12,)),
            )
        ),
    ],
    ids=str,
)
def test_takes_the_clocks_that_it_says(sizes, depths, tmp_path):
    """With 32 attributes; what is logged stands in docs/hardware.md."""
    sizes = dict(nodes=32, attributes=32, slots=5) | sizes
    case = "takes_the_clocks_that_it_says"
    run(Walker(**sizes), "dut", "bench_walker", tmp_path, sizes=sizes, depths=depths, testcase=case)
