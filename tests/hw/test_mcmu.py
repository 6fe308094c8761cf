"""Blocks of the memory controller unit, each under its own bench; more in test_blocks.py.

The unit's wiring is covered by test_tree_accelerator.py: there, commands, errors and registers meet the golden
model as a whole.
"""

import pytest
from bregalad.geometry import PRESETS, Geometry
from bregalad_hw.mcmu.dma import ReadDMA
from bregalad_hw.mcmu.editor import SlotEditor
from bregalad_hw.mcmu.loader import Loader
from bregalad_hw.mcmu.posted import PostedWriter
from bregalad_hw.mcmu.row_memory import RowMemory
from bregalad_sim.runner import run


@pytest.mark.parametrize(
    "width, outstanding, burst",
    [(32, 4, 16), pytest.param(128, 2, 256, marks=pytest.mark.slow), (512, 4, 16), (64, 1, 1)],
)
def test_dma(width, outstanding, burst, tmp_path):
    dut = ReadDMA(width, outstanding=outstanding, burst=burst)
    # One burst of one word at a time cannot sustain a word per clock.
    case = "ranges" if burst == 1 else None
    run(
        dut,
        "dut",
        "bench_dma",
        tmp_path,
        width=width,
        outstanding=outstanding,
        testcase=None if case is None else [f"{case}/stall={s}" for s in (0.0, 0.5)],
    )


@pytest.mark.parametrize("width", [32, pytest.param(128, marks=pytest.mark.slow), 512])
def test_loader(width, tmp_path):
    run(Loader(width), "dut", "bench_loader", tmp_path, width=width)


@pytest.mark.parametrize("width", [32, 256])
def test_posted_writer(width, tmp_path):
    run(PostedWriter(width), "dut", "bench_posted", tmp_path, width=width)


@pytest.mark.parametrize("width, size", [(32, 512), (128, 1024)])
def test_row_memory(width, size, tmp_path):
    run(RowMemory(width, size), "dut", "bench_row_memory", tmp_path, width=width, size=size)


EDITED = [
    PRESETS["tiny"].replace(nodes=9),
    Geometry(lanes=3, passes=3, bins=4, classes=3, slots=9, count_width=32, bus_width=256, nodes=9),
    Geometry(lanes=2, passes=1, bins=16, classes=5, slots=8, bus_width=128, nodes=9),
]


@pytest.mark.parametrize(
    "geometry, rounds",
    [(each, 120) for each in EDITED[1:]] + [pytest.param(each, 200, marks=pytest.mark.slow) for each in EDITED],
    ids=lambda g: f"{g.lanes}x{g.passes}-{g.bus_width}" if isinstance(g, Geometry) else str(g),
)
def test_editor(geometry, rounds, tmp_path):
    run(SlotEditor(geometry), "dut", "bench_editor", tmp_path, geometry=geometry.as_dict(), commands=rounds)
