"""Code books that change while the stream runs: the same tree, whoever learns it, and right on any order."""

import random

import numpy as np
import pandas as pd
import pytest
from bregalad import EFDT, VFDT, Geometry
from bregalad.data.quantiser import Quantiser
from bregalad_sim.latency import GoldenBoard, LateBoard
from bregalad_sim.reference import ReferenceEFDT, ReferenceVFDT, learn_coded
from comparison import difference
from marks import nightly

GEOMETRY = Geometry(lanes=3, passes=2, bins=16, classes=3, slots=512, count_width=24, bus_width=64, naive_bayes=True)
KINDS = {
    "vfdt": (VFDT, ReferenceVFDT, {}),
    "vfdt seen": (VFDT, ReferenceVFDT, {"bin_window": "seen"}),
    "vfdt zero": (VFDT, ReferenceVFDT, {"child_counts": "zero"}),
    "efdt": (EFDT, ReferenceEFDT, {"delta": 0.05}),
    "efdt replace": (EFDT, ReferenceEFDT, {"delta": 0.05, "same_attribute": "replace"}),
}


def moving(count=12_000, seed=3):
    """Values that move without end, some missing, a nominal attribute, three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 4)) * [1, 5, 0.1, 1] + np.outer(np.arange(count) / 300, [1, 0, 0.1, -2])
    X[:, 3] = np.floor(X[:, 3] * 4)  # few values, and new ones all the time
    X[rng.random(X.shape) < 0.02] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["k"] = rng.choice(["u", "v", "w"], count)
    centre = X[:, 0] - np.arange(count) / 300
    y = np.where(np.nan_to_num(centre) > 0.3, 2, np.where(np.nan_to_num(X[:, 1]) > 1, 1, 0))
    return frame, np.where(rng.random(count) < 0.1, rng.integers(0, 3, count), y)


def tree_of(kind, board="emulated", **options):
    learner, _, chosen = KINDS[kind]
    options = {
        "grace": 50,
        "tau": 0.2,
        "nominal": {"k": ("u", "v", "w")},
        "leaf_prediction": "nba",
        **chosen,
        **options,
    }
    return learner(board, geometry=GEOMETRY if board == "emulated" else None, **options)


def learnt(tree, X, y, size=1 << 30):
    """The tree and its predictions, in chunks of so many instances."""
    parts = [slice(at, at + size) for at in range(0, len(y), size)]
    return tree, np.concatenate([tree.test_then_train(X[part], y[part], classes=[0, 1, 2]) for part in parts])


@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_reference(kind):
    X, y = moving()
    _, Reference, options = KINDS[kind]
    tree, predictions = learnt(tree_of(kind, leaf_prediction="mc"), X, y)
    expected = Reference([0, 0, 0, 0, 3], 3, leaf_prediction="mc", grace=50, tau=0.2, **options)
    quantiser = Quantiser(tree.schema_, [1, 1, 1, 1, 3])
    wanted, _ = learn_coded(expected, quantiser, X, y)
    assert difference(tree._nodes, expected.root) is None
    assert (predictions == wanted).all()
    assert expected.event_counts.splits >= 10
    for book, other in zip(tree._quantiser.books[:4], quantiser.books[:4], strict=True):
        assert (book.edges == other.edges).all()


@pytest.mark.parametrize("kind", ["vfdt seen", *nightly("efdt replace", "vfdt", "vfdt zero", "efdt")])
def test_same_on_a_late_golden_board(kind, seed):
    X, y = (part[:3000] for part in moving())
    tree, predictions = learnt(tree_of(kind), X, y)
    late = LateBoard(GoldenBoard(GEOMETRY.replace(nodes=1024)), random.Random(seed))
    golden, again = learnt(tree_of(kind, late), X, y, 800)
    assert golden.difference(tree) is None
    assert (again == predictions).all()


@pytest.mark.parametrize(
    "kind, prediction",
    [("vfdt", "mc"), ("efdt", "nba"), *nightly(("vfdt", "nba"), ("efdt", "mc"))],
)
def test_same_in_any_chunks(kind, prediction):
    X, y = moving()
    options = {"leaf_prediction": prediction}
    whole, predictions = learnt(tree_of(kind, **options), X, y)
    for size in (8, 1000, 4097):
        tree, again = learnt(tree_of(kind, threads=2, **options), X, y, size)
        assert tree.difference(whole) is None
        assert (again == predictions).all()


@pytest.mark.parametrize("first", [1, 2, 3])
def test_a_head_that_is_not_like_the_rest(first):
    X = np.random.default_rng(1).random((40_000, 1))
    y = X[:, 0] > 0.5
    X[:500] = (np.full((500, 1), -999), 1000 * X[:500], X[:500] + 3)[first - 1]
    tree = VFDT(leaf_prediction="nba")
    right = tree.test_then_train(X, y, classes=np.unique(y)) == y
    assert right[20_000:].mean() >= 0.99


@pytest.mark.parametrize(
    "values",
    {
        "one value": np.zeros(20_000),
        "missing": np.where(np.arange(20_000) < 9000, np.nan, np.arange(20_000) % 7),
        "only missing": np.full(20_000, np.nan),
        "far": np.random.default_rng(1).choice([-1.7e308, 1.7e308, 5e-324, 0.0], 20_000),
        "large integers": 2.0**60 + 512 * np.random.default_rng(1).integers(0, 99, 20_000),
        "moving": np.exp(np.arange(20_000) / 50),
    }.items(),
    ids=lambda item: item[0],
)
def test_learns_on_whatever_comes(values):
    rng = np.random.default_rng(2)
    other = rng.random(20_000)
    X = np.column_stack([values[1], other])
    tree, right = VFDT(grace=50), []
    for at in range(0, 20_000, 900):
        part = slice(at, at + 900)
        right.append(tree.test_then_train(X[part], other[part] > 0.5, classes=[False, True]) == (other[part] > 0.5))
    assert np.concatenate(right)[10_000:].mean() > 0.95
    assert len(tree._quantiser.books[0].edges) < 255
    assert len(tree.report()) and tree.quantiser_summary()["attributes"]["x0"]["codes"] <= 255
