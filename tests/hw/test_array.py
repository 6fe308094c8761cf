"""The attribute processor array and its blocks against the golden model."""

import pytest
from bregalad.criteria import CRITERIA
from bregalad.geometry import Geometry
from bregalad_hw.accelerator import RESET_CLOCKS
from bregalad_hw.array.adder import AdderTree
from bregalad_hw.array.array import AttributeProcessorArray
from bregalad_hw.array.bayes import BayesTerms
from bregalad_hw.array.log2 import Log2
from bregalad_hw.array.processor import AttributeProcessor
from bregalad_hw.duplicate import DuplicatedRegister
from bregalad_hw.gain.classification_error import ClassificationError
from bregalad_hw.gain.gain import arithmetic_latency
from bregalad_hw.gain.gini import Gini
from bregalad_hw.gain.kearns_mansour import KearnsMansour
from bregalad_hw.gain.scan import Scan
from bregalad_hw.gain.xlog2x import XLog2X
from bregalad_sim.benches.bench_gain import Gains
from bregalad_sim.runner import run

# Small on purpose: few words, so that operations on the same word follow each other.
ARRAYS = {
    "one": dict(lanes=1, passes=1, bins=4, classes=2, slots=2, count_width=12),
    "three": dict(lanes=3, passes=2, bins=4, classes=3, slots=3, count_width=12),
    "four": dict(lanes=4, passes=3, bins=8, classes=2, slots=2, count_width=18),
    "classes": dict(lanes=2, passes=2, bins=16, classes=5, slots=2, count_width=18),
    "many": dict(lanes=10, passes=2, bins=4, classes=2, slots=2, count_width=12),
    "gini": dict(lanes=2, passes=2, bins=4, classes=3, slots=2, count_width=13, criterion="gini"),
    "kearns_mansour": dict(lanes=2, passes=2, bins=4, classes=2, slots=2, count_width=12, criterion="kearns_mansour"),
    "error": dict(lanes=2, passes=1, bins=4, classes=3, slots=2, count_width=12, criterion="classification_error"),
    "bayes": dict(lanes=5, passes=2, bins=4, classes=3, slots=2, count_width=13, naive_bayes=True),
    "bayes-many": dict(lanes=10, passes=1, bins=8, classes=2, slots=8, count_width=13, naive_bayes=True),
}


GAINS = {  # name: geometry, attempts, snapshots
    "small": (dict(bins=4, classes=2, count_width=12), 300, 4),
    "one": (dict(bins=4, classes=2, count_width=12), 60, 1),
    "pass": (dict(passes=1, bins=4, classes=3, count_width=12), 300, 4),
    "classes": (dict(bins=8, classes=5, count_width=18), 120, 2),
    "wide": (dict(bins=16, classes=3, count_width=32), 60, 8),
    "gini": (dict(bins=4, classes=3, count_width=12, criterion="gini"), 200, 4),
    "gini-wide": (dict(bins=8, classes=5, count_width=32, criterion="gini"), 60, 2),
    "kearns_mansour": (dict(bins=4, classes=2, count_width=13, criterion="kearns_mansour"), 200, 4),
    "kearns_mansour-wide": (dict(bins=8, classes=2, count_width=32, criterion="kearns_mansour"), 60, 2),
    "classification_error": (dict(bins=4, classes=3, count_width=12, criterion="classification_error"), 100, 2),
}


@pytest.mark.parametrize("width", [2, pytest.param(8, marks=pytest.mark.slow), 18, 32])
def test_xlog2x(width, tmp_path):
    run(XLog2X(width), "xlog2x", "bench_xlog2x", tmp_path, width=width, count=300)


IMPURITIES = {"gini": (Gini, 5, 3000), "kearns_mansour": (KearnsMansour, 2, 3000)}
IMPURITIES["classification_error"] = (ClassificationError, 5, 2000)


@pytest.mark.parametrize(
    "criterion, width",
    [
        *(("gini", width) for width in (2, 5, 32)),
        *(("kearns_mansour", width) for width in (3, 5, 32)),
        *(("classification_error", width) for width in (2, 18)),
        *(pytest.param(name, 18, marks=pytest.mark.slow) for name in ("gini", "kearns_mansour")),
    ],
)
def test_impurity(criterion, width, tmp_path):
    block, classes, count = IMPURITIES[criterion]
    options = {"criterion": criterion, "width": width, "classes": classes, "count": count}
    run(block(width), criterion, "bench_impurity", tmp_path, **options)


@pytest.mark.parametrize("width", [2, *(pytest.param(width, marks=pytest.mark.slow) for width in (9, 22, 37)), 16, 40])
def test_log2(width, tmp_path):
    run(Log2(width), "log2", "bench_log2", tmp_path, width=width, count=600)


@pytest.mark.parametrize("width, count", [(1, 8), (13, 5), (4, 33), (6, 2)])
def test_adder(width, count, tmp_path):
    run(AdderTree(width, count), "adder", "bench_adder", tmp_path, width=width, count=count)


@pytest.mark.parametrize(
    "sizes", [dict(classes=2, count_width=12), dict(classes=5, count_width=32)], ids=["narrow", "wide"]
)
def test_bayes(sizes, tmp_path):
    run(BayesTerms(Geometry(**sizes)), "bayes", "bench_bayes", tmp_path, geometry=sizes)


@pytest.mark.parametrize(
    "name, attempts",
    [
        *(
            (name, attempts)
            for name, attempts in {"one": 60, "pass": 100, "wide": 30, **dict.fromkeys(CRITERIA[1:], 60)}.items()
        ),
        *(pytest.param(name, attempts, marks=pytest.mark.slow) for name, (_, attempts, _) in GAINS.items()),
    ],
)
def test_gain(name, attempts, tmp_path):
    sizes, _, snapshots = GAINS[name]
    gains, options = Gains(Geometry(**sizes), snapshots=snapshots), {"attempts": attempts, "snapshots": snapshots}
    run(gains, "gains", "bench_gain", tmp_path, geometry=sizes, **options)


SHORT = [("one", 1), ("three", 2), ("bayes", 2)]  # one snapshot, predictions, and each criterion
SHORT += [("gini", 2), ("kearns_mansour", 4), ("error", 2)]
WHOLE = [*SHORT, ("one", 4), ("four", 4), ("classes", 4), ("many", 8), ("bayes-many", 4)]


@pytest.mark.parametrize(
    "name, snapshots, rounds",
    [(*case, 4) for case in SHORT] + [pytest.param(*case, 8, marks=pytest.mark.slow) for case in WHOLE],
)
def test_array(name, snapshots, rounds, tmp_path):
    array = AttributeProcessorArray(Geometry(**ARRAYS[name]), snapshots=snapshots)
    clocks = 50 * rounds
    run(array, "apa", "bench_array", tmp_path, geometry=ARRAYS[name], snapshots=snapshots, rounds=rounds, clocks=clocks)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_reset_outlasts_what_is_under_way(criterion):
    """Registers without a reset are empty when it ends, in the largest geometry too."""
    classes = 2 if criterion == "kearns_mansour" else 32
    sizes = {"lanes": 1024, "passes": 31, "bins": 64, "slots": 32768, "count_width": 32, "bus_width": 512}
    largest = Geometry(classes=classes, criterion=criterion, naive_bayes=True, **sizes)
    array = AttributeProcessorArray(largest)
    lane = AttributeProcessor(largest, 0)
    scan = Scan(largest, latency=arithmetic_latency(largest), spread=array.spread, gathered=array.gather_clocks)
    longest = max(
        lane.count_latency + scan.load_clocks,
        scan.latency + 7,
        array.partial_latency,
        array.read_latency,
        array.clamped_latency,
        1 + array.config_latency + array.spread + AttributeProcessor.read_latency,  # from a written register
    )
    assert 3 * DuplicatedRegister.latency + longest < RESET_CLOCKS
