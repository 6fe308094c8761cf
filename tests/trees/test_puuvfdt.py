"""puuVFDT and puuCVFDT: the float64 references' trees, of positive and unlabelled instances only."""

import random

import numpy as np
import pytest
from bregalad import VFDT, PuuVFDT, open_board
from bregalad.driver.totals import Totals
from bregalad.policy.positive import PositivePolicy
from bregalad_sim.latency import GoldenBoard, LateBoard
from bregalad_sim.reference import ReferencePuuCVFDT, ReferencePuuVFDT
from driving import CAPACITIES, OPTIONS, concepts, drifting, geometry, learn_alike, stream, trainer_on
from sklearn.exceptions import NotFittedError
from test_cvfdt import RULES

WINDOW = {"anytime": True, "alternates": True, "rivals": True}


def unlabelled(codes, labels, share, seed=1):
    """Of a stream's positive instances a share keeps its label."""
    return codes, labels & (np.random.default_rng(seed).random(len(labels)) < share)


def trainer_of(board, nominal_split="multiway", window=None, level=0.4, **options):
    policy = PositivePolicy(window=window, level=level, **options | (WINDOW if window else {}))
    trainer = trainer_on(board, policy, nominal_split, review_period=1000)
    trainer.consult(Totals([0, 0], window))
    return trainer


def pair(nominal_split, **options):
    """A trainer, and the reference; of both that of a window, if there is one."""
    kind = ReferencePuuCVFDT if "window" in options else ReferencePuuVFDT
    trainer = trainer_of(open_board("emulated", geometry(400)), nominal_split, **options)
    return trainer, kind(CAPACITIES, bins=8, nominal_split=nominal_split, **options)


@pytest.mark.parametrize("child_counts, nominal_split", OPTIONS)
@pytest.mark.parametrize(
    "options",
    [
        {"delta": 1e-3, "grace": 100, "block": 1},
        {"delta": 1e-3, "grace": 100, "block": 170},
        {**RULES, "block": 60, "same_attribute": "replace"},
        *(
            pytest.param({**RULES, "block": 1, "same_attribute": same}, marks=pytest.mark.slow)
            for same in ("replace", "keep")
        ),
    ],
)
def test_equals_reference(child_counts, nominal_split, options):
    codes, labels = unlabelled(*drifting(1, 6000), share=0.4)
    trainer, reference = pair(nominal_split, child_counts=child_counts, level=0.3, **options)
    learn_alike(trainer, reference, codes, labels, 2500)
    assert reference.event_counts.splits >= 3


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
@pytest.mark.parametrize("share, level", [(0.5, 0.2), pytest.param(0.1, 0.3, marks=pytest.mark.slow)])
def test_equals_reference_where_alternates_come_and_go(seed, share, level):
    codes, labels = unlabelled(*concepts(seed), share, seed)
    options = {"window": 800, "inner_grace": 60, "grace": 50, "test_every": 60, "test_length": 30}
    trainer, reference = pair("multiway", level=level, same_attribute="replace", **RULES | options)
    learn_alike(trainer, reference, codes, labels, 1111)
    assert reference.event_counts.alternates > 2 and reference.event_counts.swapped and reference.event_counts.dropped


@pytest.mark.parametrize("block", [1, 170])
def test_late_golden_board_agrees(block, seed):
    codes, labels = unlabelled(*stream(4, 3000), share=1 / 3)
    late = LateBoard(GoldenBoard(geometry(nodes=256)), random.Random(seed))
    late, emulated = (
        trainer_of(board, block=block, delta=1e-3, grace=100) for board in (late, open_board("emulated", geometry()))
    )
    assert (late.learn(codes, labels) == emulated.learn(codes, labels)).all()
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
