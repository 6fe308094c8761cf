"""Weights of instances and classes: a tree is that of the instances as often as they weigh."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from bregalad import ITI, VFDT
from bregalad.ensemble import OnlineBagging
from bregalad.estimator import weights as module
from bregalad.evaluation import prequential
from bregalad.learners.catalogue import TREES
from marks import nightly
from noisy import stream
from sklearn.base import clone

OPTIONS = {"delta": 0.01, "grace": 50}


def same(tree, other):
    assert tree.difference(other) is None
    assert tree.report() == other.report()


@pytest.mark.parametrize("name", TREES)
def test_whole_weights_count(name):
    X, y = stream()
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    tree = TREES[name](**OPTIONS).fit(X, y, sample_weight=weights)
    same(tree, TREES[name](**OPTIONS).fit(X.repeat(weights, axis=0), y.repeat(weights)))
    assert tree.report()["instances"] == weights.sum() and tree.report()["splits"]


@pytest.mark.parametrize(
    "kind", [list, np.asarray, pd.Series, pa.array, lambda weights: np.asarray(weights, np.float32)]
)
@pytest.mark.parametrize("part", [1, *nightly(300, 1 << 18)])
def test_calls_and_parts_make_no_difference(kind, part, monkeypatch):
    monkeypatch.setattr(module, "_PART", part)
    X, y = stream(1500)
    frame = pd.DataFrame(X, columns=list("abc"))
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    tree = VFDT(**OPTIONS)
    for at in range(0, 1500, 350):
        tree.partial_fit(
            frame[at : at + 350], y[at : at + 350], [False, True], sample_weight=kind(weights[at : at + 350].tolist())
        )
    same(tree, VFDT(**OPTIONS).fit(X.repeat(weights, axis=0), y.repeat(weights)))


def test_fractions_are_saved_up_per_class():
    """Were they not per class, half the weight of classes in turns would all go to one of them."""
    y = np.array([0, 1, 2] * 100)
    X = np.arange(300)[:, np.newaxis]
    tree = VFDT().fit(X, y, sample_weight=np.array([0.5, 0.1, 1.75] * 100))
    assert tree._nodes.counts[0].tolist() == [50, 10, 175]
    single = VFDT()
    for i in range(300):
        single.partial_fit(X[i : i + 1], y[i : i + 1], [0, 1, 2], sample_weight=[0.5, 0.1, 1.75][y[i]])
    same(single, tree)
    repeats = [[i // 3 % 2, i // 3 % 10 == 9, 1 + (i // 3 % 4 > 0)][i % 3] for i in range(300)]
    same(VFDT().fit(X.repeat(repeats, axis=0), y.repeat(repeats)), tree)
    tree.partial_fit(X[:1], y[:1], sample_weight=0.5).reset()
    assert tree.partial_fit(X[:1], y[:1], [0, 1, 2], sample_weight=0.5).report()["instances"] == 0


@pytest.mark.parametrize(
    "weights, error, message",
    [
        ([1] * 99, ValueError, r"a weight for each of 100 instances, its shape is \(99,\)"),
        (np.ones((100, 2)), ValueError, r"its shape is \(100, 2\)"),
        ([1] * 7 + [-1] + [1] * 92, ValueError, r"sample_weight\[7\] is -1: .* 0 to 10000"),
        ([1] * 7 + [1e9] + [1] * 92, ValueError, r"sample_weight\[7\] is 1e\+09: .* 0 to 10000"),
        ([np.inf] * 100, ValueError, r"sample_weight\[0\] is inf"),
        ([np.nan] * 100, ValueError, r"sample_weight\[0\] is nan"),
        (pd.array([1] * 99 + [None], "Int64"), (TypeError, ValueError), "sample_weight"),
        ([10**400] * 100, ValueError, "sample_weight must be an array .* int too large"),
        (["a"] * 100, ValueError, "sample_weight must be an array .* could not convert string"),
        ([[1], [2, 3]] * 50, ValueError, "sample_weight must be an array .* its rows all of one length"),
        ([1 + 2j] * 100, ValueError, "sample_weight must be an array .* Complex data not supported"),
    ],
)
def test_what_is_no_weight(weights, error, message):
    X, y = stream(100)
    new, tree = VFDT(), VFDT(**OPTIONS).fit(*stream(1000))
    before = tree.report()
    for call in (
        lambda: tree.partial_fit(X, y, sample_weight=weights),
        lambda: tree.fit(X, y, sample_weight=weights),
        lambda: new.partial_fit(X, y, [False, True], sample_weight=weights),
    ):
        with pytest.raises(error, match=message):
            call()
    assert tree.report() == before and not hasattr(new, "classes_")


def test_nothing_that_weighs_anything():
    X, y = stream(100)
    with pytest.raises(ValueError, match="all weights are zero: there is nothing to learn"):
        VFDT().fit(X, y, sample_weight=np.zeros(100))
    tree = VFDT().partial_fit(X, y, [False, True], sample_weight=0)
    assert tree.report()["instances"] == 0
    assert tree.apply(X).tolist() == [0] * 100
    assert tree.partial_fit(X, y).report()["instances"] == 100


@pytest.mark.parametrize("learner", [VFDT(**OPTIONS), ITI(), OnlineBagging(VFDT(**OPTIONS), members=2)])
def test_weights_that_are_all_below_one_are_shares_in_fit_and_told_of_elsewhere(learner):
    X, y = stream(600)
    weights = np.random.default_rng(3).integers(1, 4, len(y)).astype(float)
    expected = clone(learner).fit(X, y, sample_weight=weights / weights.mean())
    for scale in (weights.sum(), 4.0, 1e300):
        found = clone(learner).fit(X, y, sample_weight=weights / scale)
        assert (found.predict_proba(X) == expected.predict_proba(X)).all()
        assert abs(found.report()["instances"] - len(y)) <= 2
    one = clone(learner).fit(X, y, sample_weight=np.where(np.arange(len(y)), 1e-9, 0.9))
    assert one.report()["instances"] == pytest.approx(len(y), abs=2)
    new = clone(learner)
    with pytest.warns(UserWarning, match="600 instances weigh 1 altogether.*multiply the weights by 600 for a mean of"):
        new.partial_fit(X, y, [False, True], sample_weight=np.full(len(y), 1 / len(y)))
    new.partial_fit(X, y, sample_weight=0.5)  # as documented
    assert abs(new.report()["instances"] - len(y) / 2) <= 2


def test_the_heaviest():
    tree = VFDT(leaf_prediction="mc").partial_fit([[0], [1]], [0, 1], [0, 1], sample_weight=[10_000, 1])
    assert tree.report()["instances"] == 10_001 and tree.predict([[1]]).tolist() == [0]
    tree = VFDT(class_weight={1: 101})
    with pytest.raises(ValueError, match="instance 1 weighs 10100, by sample_weight and class_weig"):
        tree.partial_fit([[0], [1]], [0, 1], [0, 1], sample_weight=100)


def test_class_weights():
    X, y = stream()
    labels = np.where(y, "yes", "no")
    expected = VFDT(**OPTIONS).fit(X, labels, sample_weight=np.where(y, 3, 1))
    same(VFDT(class_weight={"yes": 3}, **OPTIONS).fit(X, labels), expected)
    same(VFDT(class_weight={"yes": 1.5}, **OPTIONS).fit(X, labels, sample_weight=np.where(y, 2, 1)), expected)
    tree, plain, repeats = VFDT(class_weight={"yes": 3}, **OPTIONS), VFDT(**OPTIONS), np.where(y, 3, 1)
    found = tree.test_then_train(X, labels, ["no", "yes"])
    all_found = plain.test_then_train(X.repeat(repeats, axis=0), labels.repeat(repeats), ["no", "yes"])
    np.testing.assert_array_equal(found, all_found[np.cumsum(repeats) - repeats])
    same(tree, plain)
    curve = prequential(VFDT(class_weight={"yes": 3}, **OPTIONS), [(X, labels)], ["no", "yes"])
    assert curve.instances[-1] == len(y)


def test_balanced_classes():
    X, y = stream()
    y = y & (X[:, 1] > 0.8)
    weights = np.where(y, len(y) / 2 / y.sum(), len(y) / 2 / (~y).sum())
    tree = VFDT(class_weight="balanced", **OPTIONS).fit(X, y)
    same(tree, VFDT(**OPTIONS).fit(X, y, sample_weight=weights))
    for call in (tree.partial_fit, tree.test_then_train):
        with pytest.raises(ValueError, match="'balanced' counts.*it is for fit alone"):
            call(X, y)


@pytest.mark.parametrize(
    "label, message",
    [
        ("maybe", r"class_weight names 'maybe', none of the classes \[False, True\]"),
        (frozenset("a"), r"class_weight names frozenset\({'a'}\); a label is a string, an integer or a boolean"),
        ("z" * 3000, "class_weight names 'zzz.*, none of the classes"),
        ("x\ny", r"class_weight names 'x\\ny', none of the classes"),
    ],
)
def test_weights_of_no_class(label, message):
    X, y = stream(100)
    tree = VFDT(class_weight={label: 1})
    for call in (lambda: tree.fit(X, y), lambda: tree.partial_fit(X, y, [False, True])):
        with pytest.raises((TypeError, ValueError), match=message) as error:
            call()
        assert len(str(error.value)) < 200
    assert not hasattr(tree, "classes_")


def test_what_is_not_learnt_is_not_predicted():
    X, y = stream(100)
    tree = VFDT(class_weight={True: 0.5})
    with pytest.raises(ValueError, match="class_weight must be 1 or more; partial_fit takes less"):
        tree.test_then_train(X, y, [False, True])
    tree.partial_fit(X, y, [False, True])


def test_scores_take_weights():
    X, y = stream(1000)
    tree = VFDT(**OPTIONS).fit(X, y)
    right = tree.predict(X) == y
    assert tree.score(X, y, sample_weight=right) == 1


def test_classes_that_come_later_weigh_what_they_shall():
    tree = VFDT(class_weight={"c": 3})
    for i in range(60):
        tree.learn_one({"a": i % 7}, "ab"[i % 2] if i < 40 else "c")
    assert tree.classes_.tolist() == ["a", "b", "c"]
    assert tree._nodes.counts[0][:3].tolist() == [20, 20, 60]
