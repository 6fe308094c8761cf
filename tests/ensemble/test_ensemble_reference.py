"""Ensembles beside the plain reference: what they predict, which trees they grow, when they replace them."""

import numpy as np
import pytest
from bregalad import VFDT
from bregalad.ensemble import AdaptiveRandomForest, LeveragingBagging, OnlineBagging
from bregalad.ensemble.draws import Draws, thresholds
from bregalad_sim.reference import ReferenceBagging, ReferenceForest, ReferenceLeveraging
from bregalad_sim.reference.forest import poisson
from marks import nightly

CLASSES, VALUES = 3, 4
# The gains of this criterion are exact on a board, so that no decision is close.
TREE = {"delta": 0.01, "grace": 30, "leaf_prediction": "mc", "criterion": "classification_error"}
SIZE = {"members": 3, "rate": 3.0, "seed": 5}
KINDS = {
    "bagging": (OnlineBagging, ReferenceBagging, {}),
    "leveraging": (LeveragingBagging, ReferenceLeveraging, {"drift": 0.2}),
    "arf": (AdaptiveRandomForest, ReferenceForest, {"warning": 0.3, "drift": 0.2}),
}


def drifting(seed, count):
    """Nominal attributes, and classes that follow others of them in every part of the stream."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    X = rng.integers(0, VALUES, (count, 5))
    part = np.arange(count) * 4 // count
    rows = np.arange(count)
    y = (X[rows, part] > 1) + (X[rows, (part + 1) % 5] == 3)
    wrong = rng.random(count) < 0.05
    y[wrong] = rng.integers(0, CLASSES, wrong.sum())
    return X, y


def nodes_of(tree):
    """Ours from left to right, as `reference_nodes`."""
    nodes = tree._nodes
    return [(int(nodes.attribute[at]), int(nodes.width[at])) for at in nodes.descendants()]


def reference_nodes(tree):
    return [(node.attribute if node.kind else -1, len(node.children)) for node in tree.nodes]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nominal_split", [*nightly("multiway"), "one_vs_rest"])
def test_an_ensemble_is_that_of_the_reference(kind, nominal_split):
    ours, plain, options = KINDS[kind]
    X, y = drifting(11, 2000)
    tree = VFDT(nominal={i: range(VALUES) for i in range(5)}, nominal_split=nominal_split, **TREE)
    few = {"attributes": 0.4} if kind == "arf" else {}
    ensemble = ours(tree, **SIZE, **options, **few)
    reference = plain(
        [VALUES] * 5, CLASSES, subset=2 if few else 0, nominal_split=nominal_split, **SIZE, **options, **TREE
    )
    found = ensemble.test_then_train(X, y, classes=range(CLASSES))
    expected = [reference.test_then_train(x.astype(np.uint8), label) for x, label in zip(X, y, strict=True)]
    wrong = np.flatnonzero(found != expected)
    assert not len(wrong), f"instance {wrong[0]} is predicted otherwise"
    for member, tree in zip(ensemble.members_, reference.trees, strict=True):
        assert nodes_of(member.tree) == reference_nodes(tree)
    report = ensemble.report()
    assert report["splits"] and report["drifts"] == getattr(reference, "drifts", 0)
    assert report["warnings"] == getattr(reference, "warnings", 0)
    assert report["drifts"] > 2 or kind == "bagging"
    if kind == "arf":
        backgrounds = [member.background for member in ensemble.members_]
        for mine, theirs in zip(backgrounds, reference.background, strict=True):
            assert (mine is None) == (theirs is None)
            assert mine is None or nodes_of(mine) == reference_nodes(theirs)


# What is drawn


@pytest.mark.parametrize("rate", [0.1, 1.0, 6.0, 100.0])
def test_numbers_are_drawn_as_the_reference_says(rate):
    """And have Poisson's mean and variance."""
    steps = thresholds(rate)
    rng = np.random.default_rng(7)
    words = rng.integers(0, 1 << 64, 60, np.uint64, endpoint=False)
    words = np.concatenate([words, steps[:20], steps[:20] - np.uint64(1), np.array([0, (1 << 64) - 1], np.uint64)])
    found = np.searchsorted(steps, words, side="right")
    assert found.tolist() == [poisson(int(word), rate) for word in words]
    count = 200_000
    numbers = Draws(3, 4, rate).take(0, count)
    assert abs(numbers.mean() - rate) < 5 * np.sqrt(rate / count)
    assert abs(numbers.var() / rate - 1) < 0.05


def test_numbers_are_the_same_whatever_the_pieces():
    print("seed 8")
    rng = np.random.default_rng(8)
    whole = Draws(1, 2, 6.0).take(0, 20_000)
    pieces = Draws(1, 2, 6.0)
    for _ in range(200):
        start = int(rng.integers(0, 19_000))
        count = int(rng.choice([1, 2, 3, 5, 900]))
        assert (pieces.take(start, count) == whole[start : start + count]).all()
    assert (Draws(1, 3, 6.0).take(0, 1000) != whole[:1000]).any()
    assert (Draws(2, 2, 6.0).take(0, 1000) != whole[:1000]).any()
