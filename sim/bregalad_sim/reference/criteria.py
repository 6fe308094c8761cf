"""How mixed a node's classes are, and what a split gains."""

import math

import numpy as np
from bregalad.complete import complete
from bregalad.criteria import CRITERIA

# Names are those of the boards' criteria; what they mean is written anew here, to compare with. Of each the range for
# so many classes, and the impurity of shares along the last axis.
_MEANINGS = complete(
    CRITERIA,
    {
        "information_gain": (
            lambda classes: math.log2(max(2, classes)),
            lambda p: -(p * np.log2(np.where(p > 0, p, 1))).sum(axis=-1),  # bits
        ),
        "gini": (lambda classes: 1.0, lambda p: 1 - (p * p).sum(axis=-1)),
        # Two classes; STOC 1996.
        "kearns_mansour": (lambda classes: 0.5, lambda p: np.sqrt(p.prod(axis=-1))),
        # Matuszyk, Krempl and Spiliopoulou 2013.
        "classification_error": (lambda classes: 1.0, lambda p: 1 - p.max(axis=-1)),
    },
    __file__,
)


def value_range(criterion, classes):
    """R of a criterion, for Hoeffding's bound."""
    return _MEANINGS[criterion][0](classes)


def impurity(criterion, counts):
    """I(counts) along the last axis, per instance; 0 where nothing was counted."""
    n = counts.sum(axis=-1)
    shares = counts / np.where(n > 0, n, 1)[..., None]
    return np.where(n > 0, _MEANINGS[criterion][1](shares), 0.0)


def reduction(criterion, sides):
    """I(counts) - sum over the sides of their share times I(side), times what is counted; array (splits,).

    The sides are an array (splits, sides, classes).
    """
    counts = sides.sum(axis=-2)
    after = (sides.sum(axis=-1) * impurity(criterion, sides)).sum(axis=-1)
    return counts.sum(axis=-1) * impurity(criterion, counts) - after
