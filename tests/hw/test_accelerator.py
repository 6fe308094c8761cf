"""The whole accelerator against the golden model."""

import pytest
from bregalad.geometry import PRESETS, Geometry
from bregalad_hw.accelerator import Accelerator
from bregalad_sim.runner import run

_BENCH = "bench_accelerator"
GEOMETRIES = {  # name: geometry, rounds
    "tiny": (PRESETS["tiny"].replace(count_width=12), 8),
    "odd": (
        Geometry(lanes=3, passes=3, bins=4, classes=3, slots=9, count_width=13, bus_width=64, naive_bayes=True),
        4,
    ),
    "one-pass": (
        Geometry(lanes=4, passes=1, bins=8, classes=2, slots=4, count_width=12, bus_width=256, naive_bayes=True),
        5,
    ),
    "banks": (
        Geometry(lanes=2, passes=2, bins=4, slots=5, count_width=12, bus_width=64, naive_bayes=True, banks=2),
        5,
    ),
    "levels": (
        Geometry(lanes=2, passes=2, bins=4, slots=8, count_width=12, bus_width=64, naive_bayes=True, levels=4),
        5,
    ),
    "levels-banks": (
        Geometry(lanes=2, passes=2, bins=4, slots=16, count_width=12, bus_width=64, levels=4, banks=2),
        5,
    ),
}
DAILY = ("levels-banks",)  # tests/boards/test_simulated.py has others


@pytest.mark.parametrize(
    "name, rounds",
    [(name, 2) for name in DAILY]
    + [pytest.param(name, rounds, marks=pytest.mark.slow) for name, (_, rounds) in GEOMETRIES.items()],
)
def test_icarus(name, rounds, tmp_path):
    geometry, _ = GEOMETRIES[name]
    run(
        Accelerator(geometry),
        "dut",
        _BENCH,
        tmp_path,
        geometry=geometry.as_dict(),
        rounds=rounds,
        testcase=["anything", "any_word", "restart", "corners", "registers", "settling", "full_rate"],
    )


@pytest.mark.slow
def test_small(tmp_path):
    """Everything, and the bars on beats per clock."""
    geometry = PRESETS["small"]
    run(
        Accelerator(geometry),
        "dut",
        _BENCH,
        tmp_path,
        simulator="verilator",
        geometry=geometry.as_dict(),
        rounds=20,
        count=4000,
        rate=0.90,
    )


@pytest.mark.slow  # 3 minutes of processor time; tests/boards/test_simulated.py has the bars
def test_predictions(tmp_path):
    """Predictions of records of one beat: all of the above at the same rates."""
    geometry = PRESETS["small"].replace(passes=1, naive_bayes=True)
    run(
        Accelerator(geometry),
        "dut",
        _BENCH,
        tmp_path,
        simulator="verilator",
        geometry=geometry.as_dict(),
        rounds=20,
        count=4000,
        rate=0.90,
    )
