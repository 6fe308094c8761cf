"""The attribute processor array and its blocks against the golden model."""

import pytest
from bregalad.geometry import Geometry
from bregalad.hw.array import AttributeProcessorArray
from bregalad.hw.control import Control
from bregalad.hw.gain import GainUnit
from bregalad.hw.merge import Merge
from bregalad.hw.processor import AttributeProcessor
from bregalad.hw.xlog2x import XLog2X
from bregalad.sim.runner import run


@pytest.mark.parametrize("width", [2, 12, 18, 32])
def test_xlog2x(width, tmp_path):
    run(XLog2X(width, 3), "xlog2x", "bregalad.sim.bench_xlog2x", tmp_path,
        width=width, tag_width=3, count=4096)


@pytest.mark.parametrize("sizes, trials", [
    (dict(bins=4, classes=2, count_width=12), 60),
    (dict(bins=8, classes=5, count_width=18), 40),
    (dict(bins=16, classes=3, count_width=32), 30),
], ids=["small", "classes", "wide"])
def test_gain(sizes, trials, tmp_path):
    run(GainUnit(Geometry(**sizes)), "gain", "bregalad.sim.bench_gain", tmp_path,
        geometry=sizes, trials=trials)
