"""Epsilons, also worked out by hand from the papers' formulas, and impurities: the float64 reference's."""

import math
import random

import numpy as np
import pytest
from bregalad.criteria import CRITERIA, covered, criterion_of
from bregalad.options.table import BOUNDS
from bregalad.policy.bounds import (
    confidence_bound,
    epsilon,
    hoeffding_bound,
    mcdiarmid_bound,
    practical_bound,
    unit_of,
)
from bregalad.policy.criteria import (
    CLASSIFICATION_ERROR,
    GINI,
    INFORMATION_GAIN,
    KEARNS_MANSOUR,
    impurity,
    remainder,
    span,
)
from bregalad.policy.decide import genuine
from bregalad.policy.split_policy import SplitPolicy
from bregalad_sim.reference import ReferenceVFDT, criteria
from bregalad_sim.reference import bounds as reference
from bregalad_sim.reference.learner import Candidate

CERTAINTY = math.log(1e7)


def test_numbers_worked_out_by_hand():
    for found, expected in (
        # sqrt(16.1181 / 2000) = 0.0897722, of a range of 1.
        (hoeffding_bound(INFORMATION_GAIN, 1000, 2, CERTAINTY), 0.08977219962),
        (hoeffding_bound(INFORMATION_GAIN, 1000, 8, CERTAINTY), 3 * 0.08977219962),
        (hoeffding_bound(GINI, 1000, 8, CERTAINTY), 0.08977219962),
        (hoeffding_bound(KEARNS_MANSOUR, 1000, 2, CERTAINTY), 0.04488609981),
        (hoeffding_bound(CLASSIFICATION_ERROR, 1000, 5, CERTAINTY), 0.08977219962),
        # K = 4: 6 (4 x 11.40848 + 10.96578) + 4 = 343.5982.
        (mcdiarmid_bound(INFORMATION_GAIN, 1000, 4, CERTAINTY), 343.5982 * 0.08977219962),
        (mcdiarmid_bound(GINI, 1000, 7, CERTAINTY), 0.718177597),
        # 1/d = 5000 x 3 x 4 x 5001**3 x 10 x 400 = 3.001800360024e19
        (confidence_bound(GINI, 400, 2, 5000, 10), 1.15437389084),
        (confidence_bound(INFORMATION_GAIN, 400, 2, 5000, 10), 2.88572404772),
        (confidence_bound(KEARNS_MANSOUR, 400, 2, 5000, 10), 1.37007693999),
        # 0.005 sqrt(ln(400**2 x 9 x 5000 x 10) / 400)
        (practical_bound(5e-3, 400, 2, 5000, 10), 0.00124999829890),
    ):
        assert found == pytest.approx(expected, rel=1e-6)
    assert 0 < confidence_bound(GINI, 10**9, 60, 10**12, 1000) < 0.002  # late in a long stream


@pytest.mark.parametrize("bound", BOUNDS)
def test_epsilon_is_that_of_the_reference(bound):
    rng = random.Random(1)
    for criterion in covered(bound):
        policy = SplitPolicy(bound=bound, criterion=criterion)
        other = reference.BOUNDS[bound](criterion, policy.delta, policy.tau, policy.scale)
        for _ in range(50):
            n, depth, t, attributes = (
                rng.randint(2, 9000),
                rng.randrange(9),
                rng.randint(9000, 10**6),
                rng.randint(1, 99),
            )
            classes = rng.randint(2, criterion_of(criterion).classes or 9)
            wanted = other.epsilon(reference.Attempt(n, depth, t, attributes, classes))
            assert epsilon(policy.options, n, classes, depth, t, attributes) == pytest.approx(wanted)
        assert unit_of(BOUNDS.index(bound), criterion_of(criterion).number) == other.unit


@pytest.mark.parametrize("criterion", CRITERIA)
def test_impurity_is_that_of_the_reference(criterion):
    rng, number = np.random.default_rng(1), criterion_of(criterion).number
    for classes in range(2, 3 if criterion_of(criterion).classes else 9):
        assert span(number, classes) == criteria.value_range(criterion, classes)
        for counts in rng.integers(0, 5, (20, classes)):
            assert impurity(number, counts) == pytest.approx(criteria.impurity(criterion, counts))
        sides = rng.integers(0, 5, (20, 3, classes))
        gains = [impurity(number, each.sum(axis=0)) * each.sum() - remainder(number, each) for each in sides]
        assert gains == pytest.approx(criteria.reduction(criterion, sides))


def test_genuine_tie():
    rng, tree = random.Random(1), ReferenceVFDT([0] * 3, 2, ties="htdt")
    for _ in range(500):
        worst, second, best = sorted(rng.randrange(100) / 64 for _ in range(3))
        candidates = [Candidate(0, "numeric", 0, gain, 0) for gain in (best, second, worst)]
        assert genuine(best, second, worst) == (tree.genuine(candidates, best, second) > 0)
