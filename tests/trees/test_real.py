"""ELEC, KDD'99, Skin and few attributes: the tree is the float64 reference's, split by split."""

import random
import sys
from itertools import product

import numpy as np
import pytest
import streams
from bregalad import EFDT, VFDT, Geometry
from bregalad.benchmark.streams import load
from bregalad.data.quantiser import Quantiser
from bregalad.estimator import board as tree_board
from bregalad_sim.latency import GoldenBoard, LateBoard
from bregalad_sim.pynq import Pynq
from bregalad_sim.reference import ReferenceEFDT, ReferenceVFDT, learn_coded
from bregalad_sim.soc import SimulatedMap
from comparison import difference
from models import TREE

STREAMS = {
    "elec": (streams.elec, 45_312),
    "kdd": (streams.kdd, 494_021),
    "skin": (streams.skin, 245_057),
    "skin shuffled": (lambda: streams.skin(shuffled=True), 245_057),
    "rt5n": (streams.rt5n, 1_000_000),
}
WIDE = "numeric-1024", "nominal-1024"
TREES = {
    "vfdt": (VFDT, ReferenceVFDT, {"leaf_prediction": "mc"}),
    "vfdt zero": (VFDT, ReferenceVFDT, {"leaf_prediction": "mc", "child_counts": "zero"}),
    "vfdt nb": (VFDT, ReferenceVFDT, {"leaf_prediction": "nb"}),
    "vfdt nba": (VFDT, ReferenceVFDT, {"leaf_prediction": "nba", "bin_window": "seen"}),
    "vfdt blocks": (VFDT, ReferenceVFDT, {"leaf_prediction": "nba", "block": 1 / 32}),
    "efdt": (EFDT, ReferenceEFDT, {"delta": 0.05, "leaf_prediction": "mc"}),
    "efdt blocks": (EFDT, ReferenceEFDT, {"delta": 0.05, "leaf_prediction": "mc", "block": 1 / 32}),
    "efdt default": (EFDT, ReferenceEFDT, {"delta": 0.05, "leaf_prediction": "nba"}),
    "efdt nb": (EFDT, ReferenceEFDT, {"delta": 0.05, "leaf_prediction": "nb"}),
    "efdt nba": (EFDT, ReferenceEFDT, {"delta": 1e-7, "leaf_prediction": "nba"}),
    "efdt moa": (EFDT, ReferenceEFDT, {"delta": 1e-7, "leaf_prediction": "mc", "variant": "moa", "gain_average": True}),
    "efdt kdd2018": (
        EFDT,
        ReferenceEFDT,
        {
            "delta": 1e-7,
            "leaf_prediction": "mc",
            "variant": "kdd2018",
            "same_attribute": "replace",
            "child_counts": "zero",
        },
    ),
}
# Instances before a decision that is closer than the board's error.
CLOSE = {("elec", "efdt moa"): 16_909, ("skin shuffled", "efdt kdd2018"): 29_172}
# A log2 of the board's naive Bayes is up to 0.023 too low, and a score has two per known value.
BAYES_ERROR = 0.023
GAIN_ERROR = 6.8e-4  # bits, of the board's gains


HEAD = 10_000  # instances of boards that are slow


def _needs(name):
    return [] if name in WIDE else [streams.needs(name)]


def accelerated(name, count, board=None, tree="vfdt", **options):
    """(tree, predictions, labels) of the first instances of a stream."""
    X, y, schema = load(name, count) if name in WIDE else STREAMS[name][0]()
    labels = np.asarray(y)
    X, y = X[:count], labels[:count]
    kind, _, chosen = TREES[tree]
    options = {"slots": 8192, **chosen, **options}
    learner = kind(board=board or "emulated", nominal=streams.nominal(X, schema), **options)
    return learner, learner.test_then_train(X, y, np.unique(labels)), y, X


def both(name, count, kind):
    """The tree, its predictions, the reference, its predictions, and by how much naive Bayes was sure of them."""
    tree, predictions, y, X = accelerated(name, count, tree=kind)
    _, Reference, options = TREES[kind]
    labels = np.searchsorted(tree.classes_, y)
    expected = Reference(tree_board.cells_of(tree, 16).capacities, len(tree.classes_), **options)
    books = [getattr(book, "capacity", 1) for book in tree._quantiser.books]
    wanted, gaps = learn_coded(expected, Quantiser(tree.schema_, books), X, labels)
    return tree, predictions, expected, tree.classes_[wanted], gaps


def agree(tree, expected):
    """Whether trees are the same, and so is all that happened to them."""
    return difference(tree._nodes, expected.root) is None and all(
        getattr(expected.event_counts, event) == tree.report()[event]
        for event in ("splits", "replaced", "pruned", "ties")
    )


def doubtful_start(name, kind, expected):
    """Instances before the first decision that differs, which must be a close one."""
    close = [d.seen for d in expected.decisions if d.margin < 2 * GAIN_ERROR]
    for seen in reversed(close):
        tree, _, before, _, _ = both(name, seen - 1, kind)
        if agree(tree, before):
            tree, _, after, _, _ = both(name, seen, kind)
            if not after.options.at_once:  # it takes effect at the end of the block that begins there
                tree, _, after, _, _ = both(name, after._ends, kind)
            assert not agree(tree, after)
            return seen - 1
    raise AssertionError("the trees differ before any close decision")


@pytest.mark.parametrize(
    "name, count",
    [pytest.param("elec", 20_000, marks=streams.needs("elec"))]
    + [
        pytest.param(name, count, marks=[streams.needs(name.split()[0]), pytest.mark.slow])
        for name in STREAMS
        for count in (100_000, None)
    ],
)
@pytest.mark.parametrize("kind", TREES)
def test_equals_reference(name, kind, count):
    """Split by split, unless the float gains of a decision are closer than the board's error."""
    count = min(STREAMS[name][1], count or 1 << 30)
    count = CLOSE.get((name, kind), count)
    options = TREES[kind][2]
    tree, predictions, expected, wanted, gaps = both(name, count, kind)
    if not agree(tree, expected):
        count = doubtful_start(name, kind, expected)
        assert count >= 50_000
        print(f"{name}, {kind}: compared up to a close decision at instance {count}")
        tree, predictions, expected, wanted, gaps = both(name, count, kind)
    assert agree(tree, expected)
    assert expected.event_counts.splits >= 1
    differ = predictions != wanted
    if options.get("leaf_prediction", "mc") == "mc":
        assert not differ.any()
        return
    # Board and reference may differ where two classes are about equally likely, and naive Bayes'
    # record at the leaf, which tells whether it is asked, may differ for a while thereafter. Most
    # on rt5n's small counts of five classes: 1.7 %.
    close = gaps <= 2 * BAYES_ERROR * (tree.n_features_in_ + 1)
    if options["leaf_prediction"] == "nb":
        assert not (differ & ~close).any()
    assert differ.mean() <= 0.025


@pytest.mark.parametrize(
    "name, kind",
    [
        pytest.param(*case, marks=[streams.needs(case[0].split()[0]), *[pytest.mark.slow] * (number > 0)])
        for number, case in enumerate(
            (
                ("elec", "vfdt nba"),
                ("rt5n", "efdt kdd2018"),
                ("elec", "efdt kdd2018"),
                ("kdd", "efdt nb"),
                ("skin shuffled", "efdt moa"),
                ("rt5n", "efdt default"),
            )
        )
    ],
)
def test_late_golden_board_grows_the_same_tree(name, kind, seed):
    tree, predictions, _, _ = accelerated(name, HEAD, tree=kind, slots=64)
    geometry = tree._trainer.board.geometry.replace(nodes=512)
    late = LateBoard(GoldenBoard(geometry, 1 << 14), random.Random(seed))
    other, again, _, _ = accelerated(name, HEAD, late, kind)
    assert other.difference(tree) is None and tree.report()["splits"]
    assert (again == predictions).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, kind, count, least",
    [
        pytest.param("elec", "vfdt nba", 45_312, 40, marks=streams.needs("elec")),
        pytest.param("kdd", "efdt", 200_000, 100, marks=streams.needs("kdd")),
        pytest.param("rt5n", "efdt", 300_000, 3000, marks=streams.needs("rt5n")),
    ],
)
def test_golden_board_with_pages_grows_the_same_tree(name, kind, count, least):
    """At least so many nodes, of which the chip has the statistics of few; nothing goes uncounted."""
    geometry = LARGER[name][0].replace(slots=8192, nodes=16_384)
    tree, expected, _, _ = accelerated(name, count, tree=kind, geometry=geometry.replace(nodes=0, resident=0))
    other, predictions, _, _ = accelerated(name, count, GoldenBoard(geometry, 1 << 14), kind, geometry=geometry)
    assert len(tree._nodes) >= least
    assert other.difference(tree) is None
    assert (predictions == expected).all()
    assert other.report()["inactive_leaves"] == 0
    found, wanted = other.counters(), tree.counters()
    assert [found[event] for event in ("records", "nodes")] == [wanted[event] for event in ("records", "nodes")]


# One model for ELEC and Skin, one each for KDD'99, whose 23 classes take the compiler minutes, and rt5n.
NARROW = Geometry(lanes=8, passes=1, slots=256, naive_bayes=True, nodes=1024)
# Short of slots on purpose: nodes lose theirs, and the service attribute alone has 66 values.
MANY_CLASSES = Geometry(
    lanes=4, passes=12, classes=23, slots=32, count_width=20, bus_width=128, naive_bayes=True, nodes=256
)
NOMINAL = Geometry(lanes=4, passes=2, bins=8, classes=5, slots=512, bus_width=64, naive_bayes=True, nodes=2048)
SIMULATED = {
    "elec": (NARROW, 45_312),
    "skin": (NARROW, 245_057),
    "skin shuffled": (NARROW, 50_000),
    "kdd": (MANY_CLASSES, 20_000),
    "rt5n": (NOMINAL, 40_000),
}


# Boards that have the statistics of few nodes on the chip, and those of all in memory.
LARGER = {
    "elec": (NARROW.replace(bus_width=128, slots=1024, nodes=2048, count_width=16, resident=4), 45_312),
    "kdd": (MANY_CLASSES.replace(slots=256, nodes=512, resident=4), 20_000),
    "rt5n": (NOMINAL.replace(slots=2048, nodes=4096, resident=64), 40_000),
    "numeric-1024": (Geometry(lanes=32, passes=32, slots=64, nodes=128, count_width=16, resident=4), 4000),
    "nominal-1024": (Geometry(lanes=32, passes=32, slots=64, nodes=128, count_width=16, resident=4), 4000),
}
FEW = (TREE, HEAD)


@pytest.mark.parametrize(
    "name, kind, size",
    [
        pytest.param("elec", "vfdt", FEW, marks=streams.needs("elec")),
        *(
            pytest.param(name, kind, SIMULATED[name], marks=[streams.needs(name.split()[0]), pytest.mark.slow])
            for name, kind in (
                *(("elec", kind) for kind in TREES),
                ("skin", "vfdt"),
                ("skin shuffled", "efdt nba"),
                *(
                    (name, kind)
                    for name in ("kdd", "rt5n")
                    for kind in ("vfdt", "vfdt nb", "vfdt nba", "efdt", "efdt nb", "efdt nba")
                ),
            )
        ),
        *(
            pytest.param(name, kind, LARGER[name], marks=[*_needs(name), pytest.mark.slow], id=f"larger-{name}-{kind}")
            for name, kind in (
                *product(("elec", "kdd", "rt5n"), ("vfdt nba", "efdt")),
                *product(WIDE, ("vfdt", "efdt")),
            )
        ),
    ],
)
def test_simulated_board_grows_the_same_tree(name, kind, size):
    geometry, count = size
    emulated, expected, _, X = accelerated(name, count, tree=kind, geometry=geometry.replace(nodes=0, resident=0))
    simulated, predictions, _, _ = accelerated(name, count, "simulated", kind, geometry=geometry)
    assert simulated.difference(emulated) is None
    assert (predictions == expected).all()
    counters, wanted = simulated.counters(), emulated.counters()
    assert [counters[event] for event in ("records", "attempts")] == [
        wanted[event] for event in ("records", "attempts")
    ]
    print(f"{count / counters['learning']:.4f} instances per clock of learning")
    assert (simulated.predict(X[:500]) == emulated.predict(X[:500])).all()
    assert (simulated.predict_proba(X[:500]) == emulated.predict_proba(X[:500])).all()
    simulated.close()


@pytest.mark.slow  # a compiler run; tests/boards/test_maps.py has a smaller one
@streams.needs("elec")
@pytest.mark.parametrize("count", [5000, 45_312])
def test_core_in_a_system_on_chip_grows_the_same_tree(count, monkeypatch):
    """By the driver as it is on a Zynq."""
    emulated, expected, _, _ = accelerated("elec", count, geometry=NARROW.replace(nodes=0))
    monkeypatch.setitem(sys.modules, "pynq", Pynq(SimulatedMap(NARROW, stall=0.1)))
    learner, predictions, _, _ = accelerated("elec", count, "pynq:design.bit")
    assert learner.difference(emulated) is None
    assert (predictions == expected).all()
    learner.close()
