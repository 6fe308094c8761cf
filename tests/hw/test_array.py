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

# Small on purpose: few words, so that operations on the same word follow each other.
ARRAYS = {
    "one": dict(lanes=1, passes=1, bins=4, classes=2, slots=2, count_width=12),
    "three": dict(lanes=3, passes=2, bins=4, classes=3, slots=3, count_width=12),
    "four": dict(lanes=4, passes=3, bins=8, classes=2, slots=2, count_width=18),
    "classes": dict(lanes=2, passes=2, bins=16, classes=5, slots=2, count_width=18),
    "many": dict(lanes=10, passes=2, bins=4, classes=2, slots=2, count_width=12),
}


@pytest.mark.parametrize("width", [2, 8, 18, 32])
def test_xlog2x(width, tmp_path):
    run(XLog2X(width, 3), "xlog2x", "bregalad.sim.bench_xlog2x", tmp_path,
        width=width, tag_width=3, count=300)


@pytest.mark.parametrize("sizes, trials", [
    (dict(bins=4, classes=2, count_width=12), 60),
    (dict(bins=8, classes=5, count_width=18), 40),
    (dict(bins=16, classes=3, count_width=32), 30),
], ids=["small", "classes", "wide"])
def test_gain(sizes, trials, tmp_path):
    run(GainUnit(Geometry(**sizes)), "gain", "bregalad.sim.bench_gain", tmp_path,
        geometry=sizes, trials=trials)


@pytest.mark.parametrize("name", ARRAYS)
def test_array(name, tmp_path):
    run(AttributeProcessorArray(Geometry(**ARRAYS[name])), "apa", "bregalad.sim.bench_array",
        tmp_path, geometry=ARRAYS[name], rounds=15, clocks=400)


@pytest.mark.parametrize("block", [
    AttributeProcessorArray, Control, GainUnit, Merge, lambda g: AttributeProcessor(g, 0)])
def test_geometry_must_be_one(block):
    with pytest.raises(TypeError, match="geometry must be a Geometry, not 'tiny'"):
        block("tiny")


def test_lane_must_exist():
    with pytest.raises(ValueError, match="lane must be 0 to 7, not 8"):
        AttributeProcessor(Geometry(), 8)
    with pytest.raises(TypeError, match="lane must be an integer, not '0'"):
        AttributeProcessor(Geometry(), "0")


@pytest.mark.parametrize("width, tag_width, error, message", [
    (1, 1, ValueError, "width must be 2 to 32 bits, not 1"),
    (33, 1, ValueError, "width must be 2 to 32 bits, not 33"),
    (18, 0, ValueError, "tag_width must be 1 to 64 bits, not 0"),
    (18.0, 1, TypeError, "width must be an integer, not 18.0"),
])
def test_xlog2x_widths(width, tag_width, error, message):
    with pytest.raises(error, match=message):
        XLog2X(width, tag_width)
