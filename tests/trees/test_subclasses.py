"""Classes of users' own, with constructors of their own: as scikit-learn's are extended."""

import copy
import pickle

import pytest
from bregalad import EFDT, ITI, VFDT, PuuVFDT
from bregalad.ensemble import LeveragingBagging, OnlineBagging
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
def test_copies_and_pickles(learner, tmp_path):
    X, y = stream(900)
    new = clone(learner)
    assert new.get_params() == learner.get_params()
    new.fit(X[:500], y[:500])
    with pytest.raises(ValueError, match=f"{type(learner).__name__} is a class of your own, .*: pickle it instead"):
        new.save(tmp_path / "tree")
    others = pickle.loads(pickle.dumps(new)), copy.copy(new), copy.deepcopy(new)
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


def test_members_of_it(tmp_path):
    X, y = stream(300)
    bags = OnlineBagging(Fewer(), members=2).fit(X, y)
    with pytest.raises(ValueError, match="Fewer is a class of your own, which no file can name: pickle it instead"):
        bags.save(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    assert (pickle.loads(pickle.dumps(bags)).predict(X) == bags.predict(X)).all()
