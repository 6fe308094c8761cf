"""Why an instance is predicted as it is: what is told adds up to what the tree predicts."""

import numpy as np
import pandas as pd
import pytest
from bregalad import HAT, VFDT, PuuVFDT
from sklearn.exceptions import NotFittedError


def instances(count=3000, seed=6):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"width": 10 * rng.random(count), "height": rng.random(count), "kind": rng.choice([*"abc"], count)}
    )
    y = (X["width"] > 4) & ((X["kind"] != "b") | (X["height"] > 0.5)) ^ (rng.random(count) < 0.1)
    return X.where(rng.random(X.shape) > 0.05), np.where(y, "in", "out")  # with missing values


@pytest.mark.parametrize("prediction, rule", [("nb", "naive Bayes"), ("mc", "majority class"), ("nba", "")])
def test_it_adds_up(prediction, rule):
    X, y = instances()
    tree = VFDT(leaf_prediction=prediction, grace=50, block=1).fit(X, y)
    assert tree.get_n_leaves() > 2
    for i in range(200):
        x = X.iloc[i].to_dict()
        told, shares = tree.explain_one(x), np.array([*tree.predict_proba_one(x).values()])
        counts = dict(zip(tree.classes_.tolist(), tree.leaf_counts(X[i : i + 1])[0].tolist(), strict=True))
        assert told.prediction == tree.predict_one(x) and told.counts == counts
        assert len(told.path) == tree.decision_path(X[i : i + 1]).sum() - 1 and rule in told.rule
        found = told.evidence.sum().to_numpy()
        if told.rule == "naive Bayes":
            assert [*told.evidence.index] == ["(prior)", *X]
            found = np.exp2(found - found.max())
            found /= found.sum()
        assert found == pytest.approx(shares, abs=1e-9)


def test_the_path_has_units_and_values():
    X, y = instances()
    tree = VFDT(grace=50, block=1).fit(X, y)
    lines = {line.strip().split(": ")[0].removesuffix(" or missing") for line in tree.draw().splitlines()}
    told = tree.explain_one({"width": 7.25, "kind": "b"})
    assert {step.split(" (")[0] for step in told.path} <= lines and any("(7.25)" in step for step in told.path)
    assert "width" in str(told) and "(prior)" in str(told) and told.rule in str(told)
    gone = tree.explain_one({})
    assert all("(missing)" in step for step in gone.path)
    assert gone.rule == "majority class" or not gone.evidence[1:].any(axis=None)


def test_what_does_not_predict_is_not_told():
    """Neither forks nor alternates are on the path."""
    X, y = instances()
    tree, at = HAT(grace=50, drift_delta=0.3, block=1), 0
    while at < 1500 or not tree._nodes.forks:  # an alternate begins where the labels are turned round
        part = slice(at, at + 100)
        assert len(y[part])
        tree.partial_fit(X[part], np.where(at < 1500, y[part], y[::-1][part]), classes=["in", "out"])
        at += 100
    for i in range(100):
        told = tree.explain_one(X.iloc[i].to_dict())
        assert told.prediction == tree.predict(X[i : i + 1])[0]


def test_labelled_positives_only():
    X, y = instances()
    tree = PuuVFDT(positive="in", level=0.4, grace=50).fit(X, np.where((y == "in") & (X.index % 2 == 0), "in", "none"))
    told = [tree.explain_one(X.iloc[i].to_dict()) for i in range(50)]
    assert [each.prediction for each in told] == tree.predict(X[:50]).tolist()
    assert {each.rule for each in told} == {"estimated share of positives"}


def test_refusals():
    with pytest.raises(NotFittedError, match="has not learnt anything yet"):
        VFDT().explain_one({"width": 1})
    tree = VFDT().fit(*instances(100))
    with pytest.raises(ValueError, match="depth"):
        tree.explain_one({"depth": 1})
    with pytest.raises(TypeError, match="width"):
        tree.explain_one({"width": "wide"})
