"""Each block of the array and of the memory controller unit by itself, on Icarus."""

import pytest
from bregalad.geometry import Geometry
from bregalad.hw.merge import Merge
from bregalad.hw.registers import RegisterFile
from bregalad.hw.report import ReportWriter
from bregalad.hw.scheduler import TrialScheduler
from bregalad.sim.bench_processor import Lane
from bregalad.sim.bench_tracker import Counting
from bregalad.sim.runner import run

# Tiny, so that operations meet on the same words; passes and lanes are no powers of two.
SIZES = {
    "even": dict(lanes=2, passes=2, bins=4, classes=2, slots=2, count_width=12, bus_width=32),
    "odd": dict(lanes=3, passes=3, bins=8, classes=3, slots=5, count_width=13, bus_width=64),
    "one": dict(lanes=1, passes=1, bins=4, classes=2, slots=3, count_width=32, bus_width=128),
}


@pytest.mark.parametrize("sizes, lane", [("even", 1), ("odd", 2)])
def test_processor(sizes, lane, tmp_path):
    dut = Lane(Geometry(**SIZES[sizes]), lane, snapshots=2)
    run(dut, "dut", "bregalad.sim.bench_processor", tmp_path, geometry=SIZES[sizes], lane=lane,
        snapshots=2, rounds=12, clocks=250)


def test_merge(tmp_path):
    sizes = dict(lanes=4, passes=4, bins=4, classes=3, slots=2, count_width=12)
    run(Merge(Geometry(**sizes)), "dut", "bregalad.sim.bench_merge", tmp_path, geometry=sizes,
        rounds=32)


@pytest.mark.parametrize("sizes", ["odd", "one"])
def test_report(sizes, tmp_path):
    run(ReportWriter(Geometry(**SIZES[sizes])), "dut", "bregalad.sim.bench_report", tmp_path,
        geometry=SIZES[sizes], rounds=24)


def test_registers(tmp_path):
    run(RegisterFile(), "dut", "bregalad.sim.bench_registers", tmp_path, clocks=1000)


@pytest.mark.parametrize("sizes", ["even", "odd"])
def test_tracker(sizes, tmp_path):
    run(Counting(Geometry(**SIZES[sizes])), "dut", "bregalad.sim.bench_tracker", tmp_path,
        geometry=SIZES[sizes], rounds=40)


@pytest.mark.parametrize("depth, heads", [(4, 5), (1, 2)])
def test_scheduler(depth, heads, tmp_path):
    dut = TrialScheduler(Geometry(**SIZES["odd"]), depth=depth, heads=heads)
    run(dut, "dut", "bregalad.sim.bench_scheduler", tmp_path, geometry=SIZES["odd"], depth=depth,
        heads=heads, rounds=20, clocks=200)
