"""The quantiser and its parts under their benches."""

import pytest
from bregalad.geometry import Geometry
from bregalad.protocol.rows import reach_of
from bregalad_hw.front.quantiser import Quantiser
from bregalad_hw.mcmu.aligner import Aligner
from bregalad_sim.runner import run

SIZES = {  # places for steps: as many as any layout can want
    "tiny": (Geometry(lanes=2, passes=3, bins=4, bus_width=32), 16),
    "odd": (Geometry(lanes=6, passes=2, bins=4, bus_width=64), 16),
    "even": (Geometry(lanes=8, passes=2, bins=4, bus_width=128), 32),
    "few": (Geometry(lanes=6, passes=2, bins=4, bus_width=128, searchers=1), 32),
    "codes": (Geometry(lanes=8, passes=2, bins=4, bus_width=64, searchers=0), 32),
    "wide": (Geometry(lanes=32, passes=1, bins=4, bus_width=256), 64),
}


@pytest.mark.parametrize(
    "size, rounds",
    [
        ("odd", 3),
        ("few", 3),
        ("codes", 3),
        *(pytest.param(size, 2 if size == "wide" else 8, marks=pytest.mark.slow) for size in SIZES),
    ],
)
def test_quantiser(size, rounds, tmp_path):
    geometry, steps = SIZES[size]
    run(
        Quantiser(geometry, steps),
        "dut",
        "bench_quantiser",
        tmp_path,
        geometry=geometry.as_dict(),
        steps=steps,
        rounds=rounds,
    )


def test_the_ring_is_as_large_as_layouts_may_want():
    for geometry, _ in SIZES.values():
        assert Aligner(geometry.bus_width, 2, geometry.bus_bytes).size == 2 * reach_of(geometry)
