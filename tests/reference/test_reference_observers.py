"""The reference learners' naive Bayes against direct computation."""

import math

import numpy as np
import pytest
from bregalad_sim.reference import ReferenceVFDT

NEVER = 1 << 30


def scores_of(X, y, x, classes, binned=()):
    """Scores of one instance from those before it; ``binned``: the attributes whose bins share."""
    scores = []
    for k in range(classes):
        rows = X[y == k]
        if not len(rows):
            scores.append(-math.inf)
            continue
        score = math.log2(len(rows))
        for attribute, value in enumerate(x):
            if np.isnan(value):
                continue
            values = rows[:, attribute]
            own, below, above = (math.log2(16 * (values == each).sum() + 1) for each in (value, value - 1, value + 1))
            if attribute in binned:
                own = (own + max(below, own - 1) + max(above, own - 1)) / 3
            score += own - math.log2(16 * (len(rows) + 1))
        scores.append(score)
    return np.array(scores)


def nominal_stream(seed, n):
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    X = (rng.integers(0, 4, (n, 3)) * (rng.random((n, 3)) < 0.4) + y[:, None]) % 4.0
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.parametrize("leaf_prediction", ["nb", "nba"])
def test_naive_bayes(leaf_prediction):
    X, y = nominal_stream(7, 400)
    tree = ReferenceVFDT([4] * 3, 3, leaf_prediction=leaf_prediction, grace=NEVER)
    codes = np.where(np.isnan(X), 255, X).astype(np.uint8)
    found = tree.learn(codes, y)
    assert found[0] == 0 and np.isinf(tree.gaps[0])
    bayes_right = majority_right = int(y[0] == 0)
    for i in range(1, len(X)):
        scores = scores_of(X[:i], y[:i], X[i], 3)
        majority, bayes = np.bincount(y[:i]).argmax(), scores.argmax()
        second = np.sort(scores)[-2]
        if np.isinf(second):
            assert np.isinf(tree.gaps[i])
        else:
            assert tree.gaps[i] == pytest.approx(scores.max() - second, abs=1e-9)
        asked = leaf_prediction == "nb" or bayes_right >= majority_right
        if scores.max() - second > 1e-9:
            assert found[i] == (bayes if asked else majority)
        bayes_right += found_bayes(scores) == y[i]
        majority_right += majority == y[i]
    assert bayes_right > majority_right + 50


def found_bayes(scores):
    return int(np.argmax(scores >= scores.max() - 1e-9))


def test_naive_bayes_of_bin_windows():
    rng = np.random.default_rng(9)
    codes, y = rng.integers(0, 255, (200, 2)).astype(np.uint8), rng.integers(0, 2, 200)
    tree = ReferenceVFDT([0, 0], 2, bins=8, leaf_prediction="nb", grace=NEVER)
    tree.learn(codes, y)
    bins = codes.astype(int) // 32
    for i in range(20, 200):
        scores = scores_of(bins[:i], y[:i], bins[i], 2, binned=(0, 1))
        assert tree.gaps[i] == pytest.approx(abs(scores[1] - scores[0]))


def test_equal_scores_take_the_lower_class():
    tree = ReferenceVFDT([2], 3, leaf_prediction="nb", grace=NEVER)
    found = tree.learn(np.array([[0], [0], [0]], np.uint8), [2, 1, 0])
    assert found.tolist() == [0, 2, 1] and tree.gaps[2] == 0


def test_a_leaf_without_counts_of_its_own_predicts_by_majority():
    # The split leaves the side of value 1 the class 2, and no statistics for naive Bayes.
    tree = ReferenceVFDT([2], 3, leaf_prediction="nb", grace=200, block=1)
    codes = np.arange(200)[:, None] % 2
    tree.learn(codes.astype(np.uint8), 2 * codes[:, 0])
    assert tree.root.kind
    assert tree.learn(np.array([[1]], np.uint8), [2]).tolist() == [2] and np.isinf(tree.gaps[0])
