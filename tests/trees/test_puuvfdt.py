"""puuVFDT: positive and unlabelled instances only."""

import random

import numpy as np
import pytest
from bregalad import VFDT, Geometry, PuuVFDT, open_board
from bregalad.driver.totals import Totals
from bregalad.driver.trainer import Trainer
from bregalad.policy.positive import PositivePolicy
from bregalad.tree.cells import CellMap
from bregalad_sim.latency import GoldenBoard, LateBoard
from bregalad_sim.reference import ReferencePuuVFDT
from comparison import agree
from driving import CAPACITIES, OPTIONS, geometry, learn, stream
from sklearn.exceptions import NotFittedError


def unlabelled(seed, count=6000):
    """A stream of which every third positive instance is labelled."""
    codes, labels = stream(seed, count)
    return codes, labels & (np.random.default_rng(seed).random(count) < 1 / 3)


def trainer_on(board, child_counts="inherit", nominal_split="multiway", block=1, level=0.4):
    cells = CellMap.build(CAPACITIES, board.geometry.bins, nominal_split)
    policy = PositivePolicy(delta=1e-3, grace=100, child_counts=child_counts, block=block, level=level)
    trainer = Trainer(board, cells, policy, 2)
    trainer.consult(Totals([0, 0]))
    return trainer


@pytest.mark.parametrize("child_counts, nominal_split", OPTIONS)
@pytest.mark.parametrize("block", [1, 170])
def test_equals_reference(child_counts, nominal_split, block):
    codes, labels = unlabelled(1)
    trainer = trainer_on(open_board("emulated", geometry()), child_counts, nominal_split, block)
    learn(trainer, codes, labels, seed=3)
    reference = ReferencePuuVFDT(
        CAPACITIES,
        level=0.4,
        bins=8,
        delta=1e-3,
        grace=100,
        child_counts=child_counts,
        nominal_split=nominal_split,
        block=block,
    )
    reference.learn(codes, labels)
    agree(trainer, reference)
    assert reference.event_counts.splits >= 3


@pytest.mark.parametrize("block", [1, 170])
def test_late_golden_board_agrees(block, seed):
    codes, labels = unlabelled(4, 3000)
    late = LateBoard(GoldenBoard(geometry(nodes=256)), random.Random(seed))
    late, emulated = (trainer_on(board, block=block) for board in (late, open_board("emulated", geometry())))
    for trainer in (late, emulated):
        learn(trainer, codes, labels)
    assert late.nodes.difference(emulated.nodes) is None and len(late.nodes) > 1


def made(count=20_000, share=0.3, seed=1):
    """Attributes, classes and what is known of these."""
    rng = np.random.default_rng(seed)
    X = rng.random((count, 4))
    y = ((X[:, 0] > 0.5) & (X[:, 1] > 0.3)) ^ (rng.random(count) < 0.05)
    return X, y, np.where(y & (rng.random(count) < share), "spam", "?")


@pytest.mark.parametrize(
    "share, close",
    [pytest.param(0.1, 0.06, marks=pytest.mark.slow), (0.3, 0.03), pytest.param(0.5, 0.03, marks=pytest.mark.slow)],
)
def test_close_to_a_tree_that_knows_all_labels(share, close):
    X, y, known = made(share=share)
    tree = PuuVFDT(positive="spam").fit(X, known)
    fresh, truth, _ = made(seed=2)
    whole = VFDT(leaf_prediction="mc").fit(X, y).score(fresh, truth)
    assert ((tree.predict(fresh) == "spam") == truth).mean() > whole - close
    assert abs(tree.level_ - y[known == "?"].mean()) < 0.15
    assert tree.report()["level"] == tree.level_ and tree.report()["leaves"] > 2


def test_a_known_level_takes_one_tree_and_any_board():
    X, y, known = made()
    with open_board("emulated", Geometry(lanes=4, passes=1)) as board:
        with pytest.raises(ValueError, match="nine trees take a board each.*by level"):
            PuuVFDT(board, positive="spam").fit(X, known)
        tree = PuuVFDT(board, positive="spam", level=0.3).fit(X, known)
        assert list(tree.trees_) == [0.3] == [tree.level_]
        expected = PuuVFDT(positive="spam").fit(X, known).trees_[0.3]
        assert tree.tree_.difference(expected) is None
        tree.close()


@pytest.mark.parametrize(
    "labels, message",
    [
        ([0, 1, 2], "takes two labels, the stream has 3: give all that are not known to be positive one"),
        ([1, 1, 1], "takes two labels, the stream has 1"),
        (["a", "b", "a"], r"positive=1 is none of the labels \['a', 'b'\]: choose one of them"),
    ],
)
def test_what_it_cannot_learn_is_refused(labels, message):
    tree = PuuVFDT()
    with pytest.raises(ValueError, match=message):
        tree.fit([[1.0], [2.0], [3.0]], labels)
    with pytest.raises(NotFittedError):
        tree.predict([[1.0]])


def test_what_was_learnt_outlives_a_wrong_call():
    X, y, known = made()
    tree = PuuVFDT(positive="spam").fit(X, known)
    before = tree.predict_proba(X)
    with pytest.raises(ValueError, match="none of the classes"):
        tree.partial_fit(X, y)
    assert (tree.predict_proba(X) == before).all()
