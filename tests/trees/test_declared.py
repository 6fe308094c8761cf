"""What every tree has: attributes and classes that are declared, what a leaf counts, a limit of depth."""

import numpy as np
import pytest
from bregalad import VFDT, load_tree
from bregalad.estimator.one_by_one import Single
from bregalad.learners.catalogue import TREES
from bregalad.tree.table import LEAF
from noisy import frame, stream
from sklearn.exceptions import NotFittedError

OPTIONS = {"delta": 0.1, "tau": 0.3, "grace": 40}


@pytest.mark.parametrize(
    "name, prediction",
    [
        *((name, "nba") for name in TREES),
        *(pytest.param(name, "mc", marks=[pytest.mark.slow] * (name != "vfdt")) for name in TREES),
    ],
)
def test_declared_and_restarted(name, prediction, seed, tmp_path):
    """Learning comes to the same as without either."""
    X, y = frame(1500, seed)
    make = lambda: TREES[name](leaf_prediction=prediction, nominal=["c"], **OPTIONS)  # noqa: E731
    plain, tree = make(), make().declare(X, ["yes", "no"])
    assert tree.classes_.tolist() == ["no", "yes"] and tree.report()["instances"] == 0
    assert tree.leaf_counts(X[:2]).tolist() == [[0, 0]] * 2
    assert set(tree.predict(X)) == {"no"} and tree.predict_one({"a": 1.0}) == "no"
    expected = plain.test_then_train(X, y, ["no", "yes"])
    assert (tree.test_then_train(X, y) == expected).all() and plain.difference(tree) is None
    assert plain.report()["splits"] > 0
    tree.restart()
    assert tree.report()["instances"] == tree.report()["splits"] == 0 and tree.schema_ == plain.schema_
    tree.save(tmp_path / "tree")
    with pytest.raises(ValueError, match=r"y is 'maybe', none of the classes \['no', 'yes'\], which were all"):
        tree.learn_one({"a": 1.0}, "maybe")
    for x, label in zip(X.to_dict("records"), y.tolist(), strict=True):
        tree.learn_one(x, label)
    assert plain.difference(tree) is None


@pytest.mark.parametrize("name", TREES)
def test_leaf_counts(name, seed, monkeypatch):
    X, y = frame(1500, seed)
    tree = TREES[name](nominal=["c"], **OPTIONS, child_counts="zero")
    assert tree.leaf_counts_one({"a": 1.0}) == {}
    tree.fit(X, y)
    counts = tree.leaf_counts(X)
    for leaf in set(tree.apply(X)):
        assert (counts[tree.apply(X) == leaf] == tree._nodes.counts[leaf][:2]).all()
    assert sum(counts[np.unique(tree.apply(X), return_index=True)[1]].sum(axis=0)) <= 1500
    for x, row in zip(X[:200].to_dict("records"), counts, strict=False):
        assert tree.leaf_counts_one(x) == dict(zip(["no", "yes"], row, strict=True))
    # As on a board that is asked by reports.
    monkeypatch.setattr(Single, "predict", lambda self, x: self.row.encode(x, read_only=True) and None)
    for x, row in zip(X[:20].to_dict("records"), counts, strict=False):
        assert list(tree.leaf_counts_one(x).values()) == row.tolist()
    monkeypatch.undo()
    if name != "efdt":  # whose inner nodes count on: new leaves begin anew all the same
        tree.fit(X[:30], y[:30])
        assert tree.leaf_counts(X[:1]).tolist() == [[int((y[:30] == label).sum()) for label in ("no", "yes")]]


@pytest.mark.parametrize("name", TREES)
def test_depth_is_limited(name, tmp_path):
    X, y = stream(6000, missing=0)
    y = y ^ (X[:, 1] > 0.5)
    tree = TREES[name](max_depth=2, tau=0.2).fit(X, y)
    assert tree.get_depth() == 2
    assert TREES[name](max_depth=1, tau=0.2).fit(X, y).get_depth() == 1
    tree.save(tmp_path / "tree")
    again = load_tree(tmp_path / "tree", max_depth=3)
    assert again.partial_fit(X, y).get_depth() == 3
    again = load_tree(tmp_path / "tree", max_depth=1)  # what is deeper stays
    again.partial_fit(X, y)
    kinds = again._nodes.kind[again._nodes.descendants()]
    assert again.get_depth() == 2 and (kinds != LEAF).sum() <= 3


def test_a_tree_that_grows_grows_on():
    tree = VFDT().learn_one({"a": 1.0}, "x").learn_one({"a": 2.0}, "y")
    tree.restart().learn_one({"a": 1.0, "b": "word"}, "z")
    assert tree.classes_.tolist() == ["x", "y", "z"] and tree.schema_.names == ("a", "b")


def test_refused():
    X, y = frame(20, 1)
    tree = VFDT()
    for call in (tree.restart, lambda: tree.leaf_counts(X)):
        with pytest.raises(NotFittedError):
            call()
    with pytest.raises(ValueError, match="X must have 1 instance at least"):
        tree.declare(X[:0], ["no", "yes"])
    with pytest.raises(ValueError, match="value 0 is inf"):
        tree.declare(X.assign(a=np.inf), ["no", "yes"])
    assert not hasattr(tree, "classes_")
    tree.declare(X, ["no", "yes"])
    with pytest.raises(ValueError, match=r"VFDT knows its attributes and classes already: reset\(\) forgets them"):
        tree.declare(X, ["no", "yes"])
