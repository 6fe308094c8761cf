"""Classes of users' own, with constructors of their own: as scikit-learn's are extended."""

import copy
import pickle

import pytest
from bregalad import EFDT, ITI, VFDT, PuuVFDT, load_tree
from bregalad.ensemble import LeveragingBagging, OnlineBagging, load_learner
from noisy import stream
from sklearn.base import clone


class Fewer(EFDT):
    def __init__(self, depth=3, grace=100):
        super().__init__(grace=grace, delta=0.01, inner_grace=300)
        self.depth = depth


class More(VFDT):
    def __init__(self, board="emulated", *, grace=100, leaf_prediction="mc", nominal=(), names=None):
        super().__init__(board, grace=grace, leaf_prediction=leaf_prediction, nominal=nominal)
        self.names = names


class AsBefore(VFDT):
    """Without a constructor."""


class Kept(ITI):
    def __init__(self, depth=3):
        super().__init__(max_instances=5000)
        self.depth = depth


class Unlabelled(PuuVFDT):
    def __init__(self, depth=3):
        super().__init__(level=0.5, grace=50, positive=True)
        self.depth = depth


class Bagged(LeveragingBagging):
    def __init__(self, depth=3):
        super().__init__(VFDT(grace=50), members=3)
        self.depth = depth


def told(learner, X):
    return learner.get_params(), learner.report(), learner.predict_proba(X).tolist()


@pytest.mark.parametrize(
    "learner",
    [Fewer(5, grace=50), More(names=["a"]), AsBefore(grace=50), Kept(5), Unlabelled(5), Bagged(5)],
    ids=lambda learner: type(learner).__name__,
)
def test_copies_files_and_pickles(learner, tmp_path):
    X, y = stream(900)
    new = clone(learner)
    assert new.get_params() == learner.get_params()
    new.fit(X[:500], y[:500])
    new.save(tmp_path / "tree")
    others = pickle.loads(pickle.dumps(new)), copy.copy(new), copy.deepcopy(new), type(learner).load(tmp_path / "tree")
    new.partial_fit(X[500:], y[500:])
    for other in others:
        assert type(other) is type(learner)
        other.partial_fit(X[500:], y[500:])
        assert told(other, X) == told(new, X)


def test_what_it_does_not_name_is_as_its_constructor_says():
    """One by one, too, and with parameters that are set later."""
    X, y = stream(600)
    tree, same = Fewer(), EFDT(grace=50, delta=0.01, inner_grace=300)
    tree.set_params(depth=1, grace=50)
    for learner in (tree, same):
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            learner.learn_one(dict(enumerate(row)), label)
    assert tree.report() == same.report() and not tree.difference(same)
    with pytest.raises(ValueError, match="Invalid parameter 'delta' for estimator Fewer"):
        tree.set_params(delta=0.1)
    tree.grace = 0
    with pytest.raises(ValueError, match="grace was 50 when this Fewer began to learn, and is 0 now"):
        tree.partial_fit(X, y)
    with pytest.raises(ValueError, match="grace must be 1 to 16777215 instances, not 0"):
        Fewer(grace=0).fit(X, y)


def test_a_file_of_it(tmp_path):
    """What another board or value does; what it cannot hold; who reads none."""
    X, y = stream(300)
    path = tmp_path / "tree"
    Fewer(depth=7).fit(X, y).save(path)
    assert Fewer.load(path).delta == 0.01 and Fewer.load(path, depth=8, threads=2).get_params()["depth"] == 8
    for load in (EFDT.load, load_tree, load_learner):
        with pytest.raises(ValueError, match="a saved Fewer, not .*load_learner reads any of this package, Fewer.load"):
            load(path)
    for depth in ((1, 2), {1: 2}, object(), X):
        with pytest.raises(ValueError, match="depth=.* of Fewer is none of JSON's values .*: pickle it instead"):
            Fewer(depth).fit(X, y).save(tmp_path / "none")
    bags = OnlineBagging(Fewer(), members=2).fit(X, y)
    with pytest.raises(ValueError, match=r"of your own \(Fewer\), which no file of an ensemble can name: pickle"):
        bags.save(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    assert (pickle.loads(pickle.dumps(bags)).predict(X) == bags.predict(X)).all()
