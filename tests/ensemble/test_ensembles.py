"""Ensembles: the same whatever the calls, the threads and the saves in between; their commands; what they refuse."""

import copy
import gc
import json
import signal

import numpy as np
import pytest
from bregalad import EFDT, VFDT, CTree, Geometry, load_tree
from bregalad.boards.engine import Engine
from bregalad.ensemble import ENSEMBLES, AdaptiveRandomForest, OnlineBagging, load_learner
from bregalad.ensemble.member import Member
from forests import drifting, same
from marks import nightly
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

TREE = {"grace": 30, "delta": 0.01}


SOME = ["arf", *nightly(*(name for name in ENSEMBLES if name != "arf"))]


def make(name, **options):
    few = {"members": 3, "seed": 2, **({"warning": 0.2, "drift": 0.1} if name == "arf" else {})}
    return ENSEMBLES[name](VFDT(**TREE), **few | options)


@pytest.mark.parametrize("name", SOME)
def test_chunks_threads_and_files_make_no_difference(name, tmp_path):
    """tests/test_sequences.py has files, copies and pickles between any calls."""
    X, y = drifting()
    whole, parts = make(name), make(name, threads=2)
    expected = whole.test_then_train(X, y, [0, 1])
    assert (expected == y).mean() > 0.8
    assert name == "bagging" or whole.report()["drifts"]
    ends = [0, 1, 8, 300, 2000, 5000]
    found = [parts.test_then_train(X[a:b], y[a:b], [0, 1]) for a, b in zip(ends, ends[1:], strict=False)]
    assert (np.concatenate(found) == expected).all()
    parts.save(tmp_path / "x", run={"at": 1})
    same(whole, load_learner(tmp_path / "x", threads=2), X)
    first, second, *_ = (member.tree for member in whole.members_)
    for other in (second, make(name, seed=3).fit(X, y).members_[0].tree):  # the seed decides, and the member's number
        assert first.difference(other) is not None


def test_importances_are_the_members_mean():
    X, y = drifting(count=2000)
    forest = make("bagging").fit(X, y)
    each = [member.tree.feature_importances_ for member in forest.members_]
    assert np.allclose(forest.feature_importances_, np.mean(each, axis=0)) and forest.feature_importances_[0] > 0.1
    assert make("bagging").fit(X[:3], y[:3]).feature_importances_.tolist() == [0] * 5


def test_boards_of_trees_that_are_no_more_are_no_more():
    """Each has memory for rows, so that none waits to be swept up."""
    X, y = drifting()
    y = y ^ np.arange(len(y)) // 300 % 2  # drifts come thick and fast
    gc.collect()
    gc.disable()
    try:
        before = sum(type(each) is Engine for each in gc.get_objects())
        forest = make("arf", warning=0.99, drift=0.98).set_params(
            tree=VFDT(**TREE, geometry=Geometry(slots=200, naive_bayes=True))
        )
        forest.partial_fit(X, y, [0, 1])
        after = sum(type(each) is Engine for each in gc.get_objects())
    finally:
        gc.enable()
    report = forest.report()
    print(report, after - before)
    assert report["drifts"] + report["warnings"] > 2 * len(forest.members_)
    assert after - before <= 3 * len(forest.members_)  # the tree's, that in the background's, a spare one


def test_rates_that_such_boards_cannot_count():
    tree = VFDT(geometry=Geometry(nodes=512, naive_bayes=True))
    X, y = drifting(count=100)
    OnlineBagging(tree, members=1, rate=15, seed=1).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="rate=16 draws more than 63 now and then.*nodes=512.*rate <= 15, or nodes=0"):
        OnlineBagging(tree, members=1, rate=16, seed=1).partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize("name", SOME)
def test_one_by_one_as_in_batches(name):
    X, y = drifting(count=700)
    batches, single = make(name), make(name)
    batches.declare(X, [0, 1])
    single.declare(X, [0, 1])
    for start in range(0, 700, 70):
        part = slice(start, start + 70)
        rows = X[part].to_dict("records")
        assert [single.predict_one(row) for row in rows] == batches.predict(X[part]).tolist()
        shares = [list(single.predict_proba_one(row).values()) for row in rows]
        assert (np.array(shares) == batches.predict_proba(X[part])).all()
        batches.partial_fit(X[part], y[part])
        for row, label in zip(rows, y[part].tolist(), strict=True):
            single.learn_one(row, label)
    same(batches, single, X)


@pytest.mark.parametrize("name", SOME)
def test_probabilities_are_the_weighted_mean_of_the_members(name):
    X, y = drifting(count=4000)
    forest, tree = make(name).partial_fit(X[:1000], y[:1000], [0, 1]), VFDT(**TREE).fit(X[:1000], y[:1000])
    rest, labels = X[1000:2000], y[1000:2000]  # before the drift
    weights = np.array([m.score[1] / m.score[0] if name == "arf" else 1.0 for m in forest.members_])
    members = np.array([member.tree.predict_proba(rest) for member in forest.members_])
    shares = forest.predict_proba(rest)
    assert np.allclose(shares, np.average(members, axis=0, weights=weights))
    votes = [weights @ [member.tree.predict(rest) == label for member in forest.members_] for label in (0, 1)]
    assert (forest.predict(rest) == np.argmax(votes, axis=0)).all()
    losses = [log_loss(labels, each.predict_proba(rest)) for each in (forest, tree)]
    print(losses)
    assert losses[0] < losses[1] and len(np.unique(shares[:, 0])) > 10


def test_what_a_failed_call_has_not_learnt_is_not_in_the_sample(monkeypatch):
    """The sample is ahead of the members, but for early in a stream."""
    X, y = drifting(count=12_000)
    forest = make("bagging").partial_fit(X[:5000], y[:5000], [0, 1])
    with monkeypatch.context() as broken, pytest.raises(RuntimeError, match="broken"):
        broken.setattr(OnlineBagging, "_learn_all", lambda *_: (_ for _ in ()).throw(RuntimeError("broken")))
        forest.partial_fit(X[5000:], y[5000:])
    assert forest._quantiser.sample.count == 5000
    same(forest.partial_fit(X[5000:], y[5000:]), make("bagging").fit(X, y), X)


def test_books_may_change_while_decisions_wait():
    """All take effect first, of every member, on whatever board."""
    X, y = drifting(count=20_000)
    whole, parts = (OnlineBagging(VFDT(grace=30, delta=0.01, block=400), members=2) for _ in range(2))
    whole.partial_fit(X, y, [0, 1])
    for start in range(0, len(y), 1700):
        part = slice(start, start + 1700)
        parts.partial_fit(X[part], y[part], [0, 1])
    same(whole, parts, X)


def test_classes_and_attributes_may_come_later():
    X, y = drifting(count=600)
    forest = make("arf")
    assert forest.predict_one({"a": 1.0}) is None
    for row, label in zip(X.to_dict("records"), y.tolist(), strict=True):
        label = label or "no"
        forest.learn_one({name: row[name] for name in ("a", "b", "c")} if len(row) < 3 else row, str(label))
    forest.learn_one({"a": 0.1, "f": "new"}, "other")
    assert forest.classes_.tolist()[-1] == "other" and forest.n_features_in_ == 6
    for _ in range(100):
        forest.learn_one({"a": 0.1, "f": "new"}, "other")
    assert forest.predict_one({"a": 0.1, "f": "new"}) == "other"


@pytest.mark.parametrize(
    "tree", [VFDT(block=20), *nightly(EFDT(grace=30), CTree(grace=30), VFDT(leaf_prediction="mc", criterion="gini"))]
)
def test_members_are_any_trees(tree):
    X, y = drifting(count=1500)
    forest = AdaptiveRandomForest(tree, members=2).fit(X, y)
    assert type(forest.members_[0].tree) is type(tree)
    assert forest.score(X[750:], y[750:]) > 0.6


def test_a_weight_is_as_many_instances():
    X, y = drifting(count=400)
    times = np.random.default_rng(4).integers(0, 3, 400)
    weighed = make("bagging").partial_fit(X, y, [0, 1], sample_weight=times)
    repeated = make("bagging").partial_fit(X.loc[X.index.repeat(times)].reset_index(drop=True), y.repeat(times), [0, 1])
    same(weighed, repeated, X)
    heavy = OnlineBagging(VFDT(**TREE, class_weight={1: 3}), members=2).partial_fit(X, y, [0, 1])
    assert heavy.report()["instances"] == 400 + 2 * y.sum()


def test_as_scikit_learn_wants_it():
    forest = AdaptiveRandomForest(VFDT(), members=4)
    assert clone(forest).get_params()["tree__delta"] == 1e-7
    assert clone(forest).set_params(tree__delta=0.1, members=2).tree.delta == 0.1
    with pytest.raises(NotFittedError):
        forest.predict([[1.0]])
    X, y = drifting(count=300)
    forest.fit(X, y).fit(X[:100], y[:100])
    assert forest.report()["instances"] == 100
    forest.restart()
    assert forest.report()["instances"] == 0 and forest.n_features_in_ == 5
    forest.reset()
    assert not hasattr(forest, "classes_")


def test_a_forest_is_trained_stopped_saved_and_used(tmp_path, cli):
    stream, forest = "generator:sea,period=2500,noise=0.1", tmp_path / "forest"
    train = f"train {stream} --limit 5000 --quiet --learner arf --members 3 --seed 4 --threads 2 --drift 0.05"
    whole = json.loads(cli(f"{train} --json --save {forest}").out)
    assert whole["members"] == 3 and whole["accuracy"] > 0.8
    assert whole["parameters"]["tree__grace"] == 50 and whole["parameters"]["drift"] == 0.05
    assert "3 members" in cli(f"{train} --checkpoint {forest}.part --every 2000 --save {forest}.2").out
    resumed = json.loads(cli(f"{train} --resume {forest}.part --json").out)
    assert all(resumed[name] == whole[name] for name in ("accuracy", "nodes", "warnings", "drifts"))
    assert "of 100 labels met" in cli(f"predict {stream} --limit 100 --tree {forest} --proba").err
    assert "members          3" in cli(["inspect", forest, "--statistics"]).out
    assert "an ensemble, which has no one tree to show" in cli(["inspect", forest], 1).err


# Refused


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"members": 0}, ValueError, "members must be 1 to 10000, not 0"),
        ({"members": 2.5}, TypeError, "members must be an integer, not 2.5"),
        ({"rate": 0}, ValueError, "rate must be above 0"),
        ({"rate": 101}, ValueError, "rate must be"),
        ({"attributes": 1.5}, ValueError, "attributes must be"),
        ({"warning": 1}, ValueError, "warning must be between 0 and 1, both excluded"),
        ({"drift": 0}, ValueError, "drift must be between 0 and 1, both excluded"),
        ({"weighted": 1}, TypeError, "weighted must be True or False"),
        ({"seed": -1}, ValueError, "seed must be 0 to"),
        ({"seed": 1 << 64}, ValueError, "seed must be 0 to"),
        ({"threads": 0}, ValueError, "threads must be 1 to 256"),
        ({"tree": 3}, TypeError, "tree must be a tree that learns on a board"),
        ({"tree": VFDT}, TypeError, "tree must be a tree that learns on a board"),
        ({"tree": VFDT(delta=2)}, ValueError, "delta must be between 0 and 1"),
        ({"tree": VFDT("serial:")}, ValueError, "lacks a port"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(options, error, message):
    X, y = drifting(count=50)
    forest = AdaptiveRandomForest(**options)
    with pytest.raises(error, match=message):
        forest.fit(X, y)
    assert not hasattr(forest, "classes_")


def test_what_is_wrong_leaves_no_trace():
    X, y = drifting(count=600)
    forest = make("arf").partial_fit(X[:500], y[:500], [0, 1])
    twin = copy.deepcopy(forest)
    for wrong, labels in ((X[["a", "b"]], y), (X, y[:3]), (X, ["no"] * 600), (X.assign(a="text"), y)):
        with pytest.raises((TypeError, ValueError)):
            forest.partial_fit(wrong, labels)
    with pytest.raises(ValueError, match="unknown attribute"):
        forest.learn_one({"z": 1.0}, 1)
    with pytest.raises(ValueError, match="seed was 2 when this AdaptiveRandomForest began to learn, and is 3 now"):
        forest.set_params(seed=3).partial_fit(X, y)
    forest.set_params(seed=2)
    with pytest.raises(ValueError, match="grace was 30 when"):
        forest.set_params(tree__grace=31).partial_fit(X, y)
    forest.set_params(tree__grace=30)
    same(forest, twin, X)
    for each in (forest, twin):
        each.partial_fit(X[500:], y[500:])
    same(forest, twin, X)


def test_what_is_no_forest_is_refused(tmp_path):
    X, y = drifting(count=200)
    forest = make("arf").fit(X, y)
    forest.save(tmp_path / "forest")
    VFDT().fit(X, y).save(tmp_path / "tree")
    with pytest.raises(ValueError, match="a saved VFDT, not AdaptiveRandomForest"):
        AdaptiveRandomForest.load(tmp_path / "tree")
    with pytest.raises(ValueError, match="a saved AdaptiveRandomForest, not VFDT, .*load_learner reads any"):
        load_tree(tmp_path / "forest")
    with pytest.raises(ValueError, match="the members of a saved ensemble are what they are"):
        load_learner(tmp_path / "forest", tree=VFDT())
    with pytest.raises(ValueError, match="threads must be 1 to 256"):
        load_learner(tmp_path / "forest", threads=0)
    with pytest.raises(ValueError, match="tree has learnt already"):
        OnlineBagging(VFDT().fit(X, y)).fit(X, y)


@pytest.mark.parametrize("name", ["leveraging", "arf"])
def test_ctrl_c_leaves_all_members_abreast(name, monkeypatch, ctrl_c):
    X, y = drifting()
    ensemble, learn = make(name).partial_fit(X[:1000], y[:1000], [0, 1]), Member.learn

    def interrupted(self, *args):
        if self.number == 1:
            signal.raise_signal(signal.SIGINT)
        return learn(self, *args)

    monkeypatch.setattr(Member, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ensemble.partial_fit(X[1000:], y[1000:])
    monkeypatch.undo()
    seen = ensemble.report()["instances"]
    assert 1000 < seen < 5000
    same(ensemble.partial_fit(X[seen:], y[seen:]), make(name).fit(X, y), X)
