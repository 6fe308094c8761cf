"""ELEC, KDD'99 and Skin: the tree on the board is the float64 reference's, split by split."""

import random

import numpy as np
import pytest
import streams
from bregalad import VFDT, Geometry
from bregalad.boards import open_board
from bregalad.protocol.registers import EVENTS
from bregalad.sim.latency import LateBoard
from bregalad.sim.reference import ReferenceVFDT
from comparison import difference

STREAMS = {
    "elec": (streams.elec, 45_312),
    "kdd": (streams.kdd, 494_021),
    "skin": (streams.skin, 245_057),
    "skin shuffled": (lambda: streams.skin(shuffled=True), 245_057),
}
CASES = [pytest.param(name, marks=streams.needs(name.split()[0])) for name in STREAMS]


def accelerated(name, count, board=None, **options):
    """(tree, predictions, labels) of the first instances of a stream."""
    X, y, schema = STREAMS[name][0]()
    X, y = X[:count], np.asarray(y)[:count]
    tree = VFDT(board=board or "emulated", nominal=streams.nominal(X, schema), **options)
    classes = np.unique(np.asarray(STREAMS[name][0]()[1]))
    return tree, tree.test_then_train(X, y, classes), y, X


def reference(tree, X, y, **options):
    """The float64 tree on the same codes."""
    codes = tree._quantiser.encode(X, read_only=True)
    labels = np.searchsorted(tree.classes_, y)
    result = ReferenceVFDT(tree._cells(16).capacities, len(tree.classes_), **options)
    return result, result.learn(codes, labels)


@pytest.mark.parametrize("count", [100_000, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("child_counts", ["inherit", "zero"])
def test_equals_reference(name, child_counts, count):
    count = min(STREAMS[name][1], count or 1 << 30)
    tree, predictions, y, X = accelerated(name, count, child_counts=child_counts)
    expected, reference_predictions = reference(tree, X, y, child_counts=child_counts)
    assert difference(tree._nodes, expected.root) is None
    # The instances of the warm-up were predicted without a tree.
    agree = predictions[tree.head:] == tree.classes_[reference_predictions[tree.head:]]
    assert agree.all()
    assert expected.tally.splits == tree.report()["splits"] >= 1


@pytest.mark.parametrize("name", CASES)
def test_late_reports_change_nothing(name):
    count = min(STREAMS[name][1], 100_000)
    tree, predictions, _, _ = accelerated(name, count)
    geometry = tree._open_trainer().board.geometry
    for seed in range(2):
        print(f"seed {seed}")
        board = LateBoard(open_board("emulated", geometry), random.Random(seed))
        late, again, _, _ = accelerated(name, count, board)
        assert late.difference(tree) is None
        assert (again == predictions).all()


def test_geometry_does_not_matter():
    rng = np.random.default_rng(5)
    X = rng.random((8000, 7))
    y = (X[:, 0] + X[:, 3] > 1) ^ (rng.random(8000) < 0.1)
    trees = [VFDT(geometry=geometry).fit(X, y) for geometry in (
        Geometry(lanes=1, passes=7), Geometry(lanes=7, passes=1), Geometry(lanes=3, passes=4))]
    assert trees[0].report()["splits"] >= 3
    assert trees[1].difference(trees[0]) is None
    assert trees[2].difference(trees[0]) is None


# One model for ELEC and Skin, one for KDD'99: a compiler run each.
NARROW = Geometry(lanes=8, passes=1, slots=64)
# Short of slots on purpose: leaves lose theirs, and the service attribute alone has 66 values.
MANY_CLASSES = Geometry(lanes=12, passes=4, classes=23, slots=32, count_width=16, bus_width=128)
SIMULATED = {"elec": (NARROW, 45_312), "skin": (NARROW, 245_057), "skin shuffled": (NARROW, 50_000),
             "kdd": (MANY_CLASSES, 30_000)}


@pytest.mark.parametrize("name", CASES[:1])
def test_simulated_board_fed_by_dma_grows_the_same_tree(name):
    emulated, expected, _, _ = accelerated(name, 45_312, geometry=NARROW)
    simulated, predictions, _, _ = accelerated(name, 45_312, "simulated", geometry=NARROW,
                                               feed="memory")
    assert simulated.difference(emulated) is None
    assert (predictions == expected).all()
    counters = simulated.counters()
    assert counters["dma_bytes"] >= 12 * 45_312  # header and eight codes each
    assert counters["bursts"] > 0
    simulated.close()


@pytest.mark.parametrize("name", CASES)
def test_simulated_board_grows_the_same_tree(name):
    geometry, count = SIMULATED[name]
    emulated, expected, _, _ = accelerated(name, count, geometry=geometry)
    simulated, predictions, _, _ = accelerated(name, count, "simulated", geometry=geometry)
    assert simulated.difference(emulated) is None
    assert (predictions == expected).all()
    counters = simulated.counters()
    emulated_counters = emulated.counters()
    assert {event: counters[event] for event in EVENTS} == {
        event: emulated_counters[event] for event in EVENTS}
    print(f"{counters['beats'] / counters['learning']:.4f} beats per clock")
    if geometry is NARROW:
        # The driver never sends to a slot under trial, so nothing but snapshots holds it up.
        assert counters["stall_lock"] == 0
        assert counters["beats"] / counters["learning"] >= 0.90
    simulated.close()
