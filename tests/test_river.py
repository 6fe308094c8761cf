"""The trees in River's hands: its checks of estimators, its pipelines, ensembles and evaluation."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import streams

pytest.importorskip("river")

import bregalad  # noqa: E402
from bregalad.river import EFDT, VFDT, CorrHTree, CTree  # noqa: E402
from river import (  # noqa: E402
    checks,
    compat,
    datasets,
    ensemble,
    evaluate,
    feature_extraction,
    imblearn,
    metrics,
    multiclass,
    preprocessing,
)
from river import tree as trees  # noqa: E402

TREES = [VFDT, EFDT, CTree, CorrHTree]
# Checks that a tree does not pass, and why.
EXCLUDED = {
    ("CTree", "check_predict_proba_one_binary"): "before the first instance no label is known, be it False and True"
}


LONG = ("check_learn_one", "check_pickling", "check_predict_many_matches_predict_one")


def kept_checks():
    long = False
    for tree in TREES:
        for place, check in enumerate(checks.yield_checks(tree())):
            name = check.__name__
            # They take seconds for each tree and data set.
            often = name == "check_bounded_memory_growth" and long or name in LONG and tree not in (VFDT, EFDT)
            marks = [pytest.mark.slow] * often
            long |= name == "check_bounded_memory_growth"
            if (tree.__name__, name) not in EXCLUDED:
                yield pytest.param(tree, place, id=f"{tree.__name__}-{name}-{place}", marks=marks)


@pytest.mark.parametrize("tree, place", list(kept_checks()))
def test_rivers_own_checks(tree, place):
    """The same ones with which River tests its own trees."""
    check = list(checks.yield_checks(tree()))[place]
    check(tree())


def test_what_is_excluded_still_fails():
    for tree, name in EXCLUDED:
        made = next(each for each in TREES if each.__name__ == tree)
        found = [check for check in checks.yield_checks(made()) if check.__name__ == name]
        assert found
        with pytest.raises(AssertionError):
            found[0](made())


def score(model, data=None):
    return evaluate.progressive_val_score(data or datasets.Phishing(), model, metrics.Accuracy()).get()


def test_evaluation_pipelines_ensembles_and_samplers():
    alone = score(VFDT())
    assert alone > 0.8
    assert score(preprocessing.StandardScaler() | VFDT()) == pytest.approx(alone, abs=0.02)
    assert score(ensemble.BaggingClassifier(VFDT(), n_models=3, seed=1)) > 0.8
    assert score(ensemble.ADWINBaggingClassifier(EFDT(), n_models=3, seed=1)) > 0.7
    assert score(ensemble.AdaBoostClassifier(VFDT(), n_models=3, seed=1)) > 0.7
    balanced = imblearn.RandomUnderSampler(VFDT(), {False: 0.5, True: 0.5}, seed=1)
    assert score(balanced) > 0.8
    nba = VFDT(leaf_prediction="nba")
    assert score(multiclass.OneVsRestClassifier(nba), datasets.ImageSegments()) > 0.6
    assert score(nba.clone(), datasets.ImageSegments()) > 0.75


def test_many_at_a_time():
    rows, labels = zip(*datasets.Phishing().take(600), strict=True)
    frame, y = pd.DataFrame(rows, index=range(7, 607)), pd.Series(labels)
    tree, other = VFDT(grace=50, tau=0.3), VFDT(grace=50, tau=0.3)
    assert tree.predict_many(frame).isna().all() and tree.predict_proba_many(frame).shape == (600, 0)
    for at in range(0, 600, 100):
        part = slice(at, at + 100)
        shown = frame.iloc[part, : 5 if at < 100 else 9]  # more attributes later, and an order of their own
        tree.learn_many(shown.iloc[:, ::-1] if at > 200 else shown, y[part])
        for x, label in zip(shown.to_dict("records"), labels[part], strict=True):
            other.learn_one(x, label)
    assert tree.difference(other) is None and tree.report() == other.report() and tree.report()["splits"]
    assert tree.predict_many(frame).tolist() == [tree.predict_one(x) for x in rows]
    shares = tree.predict_proba_many(frame)
    assert list(shares.index) == list(frame.index)
    assert shares.to_dict("records") == [tree.predict_proba_one(x) for x in rows]
    with pytest.raises(TypeError, match="X must be a data frame"):
        tree.learn_many(frame.to_numpy(), y)
    with pytest.raises(ValueError, match="X has 600 instances, y has 599 labels"):
        tree.learn_many(frame, y[1:])


def test_texts():
    """Words come one after another, and the first text has none."""
    model = feature_extraction.BagOfWords() | VFDT()
    for text, y in [("a I", False), ("good words", True), ("bad words", False), ("I", False)] * 10:
        model.predict_one(text)
        model.learn_one(text, y)
    assert model["VFDT"].schema_.names == ("good", "words", "bad")
    assert [model.predict_one(text) for text in ("good", "bad")] == [True, False]


def test_by_scikit_learns_interface():
    tree = compat.convert_sklearn_to_river(bregalad.VFDT(), classes=[False, True])
    assert score(tree) == pytest.approx(score(VFDT()), abs=0.01)


def test_pages_of_a_pipeline_and_its_memory():
    pipeline = preprocessing.StandardScaler() | VFDT()
    for x, y in datasets.Phishing().take(100):
        pipeline.learn_one(x, y)
    assert "VFDT" in pipeline._repr_html_() and "VFDT" in repr(pipeline)
    assert "True: 0." in pipeline.debug_one(x)
    assert pipeline["VFDT"]._raw_memory_usage > 1 << 16


def test_clones_copies_and_files(tmp_path):
    tree = VFDT(delta=1e-3, nominal=("a",))
    for i in range(100):
        tree.learn_one({"a": i % 7, "b": i / 100}, i % 2)
    clone = tree.clone({"delta": 0.1})
    assert (clone.delta, clone.nominal, clone.predict_one({"a": 1})) == (0.1, ("a",), None)
    tree.save(tmp_path / "tree.npz")
    for other in (
        tree.clone(include_attributes=True),
        copy.deepcopy(tree),
        pickle.loads(pickle.dumps(tree)),
        VFDT.load(tmp_path / "tree.npz"),
    ):
        assert type(other) is VFDT
        other.learn_one({"a": 1, "b": 0.5}, 1)
        assert other.report()["instances"] == 101
    assert tree.report()["instances"] == 100
    assert isinstance(bregalad.load_tree(tmp_path / "tree.npz"), bregalad.VFDT)


@streams.needs("rt5n")
def test_is_rivers_hoeffding_tree():
    """With decisions at once and majority-class leaves, on nominal attributes; River's first prediction is None."""
    X, y, schema = streams.rt5n(100_000)
    ours = bregalad.VFDT(leaf_prediction="mc", block=1, slots=8192, nominal=streams.nominal(X, schema))
    found = ours.test_then_train(X, y, np.unique(y))
    theirs = trees.HoeffdingTreeClassifier(leaf_prediction="mc", nominal_attributes=list(X), tau=0.05)
    wanted = []
    for row, label in zip(X.to_dict("records"), y.tolist(), strict=True):
        wanted.append(theirs.predict_one(row))
        theirs.learn_one(row, label)
    assert wanted[0] is None and found[1:].tolist() == wanted[1:]
    assert (ours.report()["nodes"], ours.report()["leaves"]) == (theirs.n_nodes, theirs.n_leaves)
    assert theirs.n_nodes > 30
