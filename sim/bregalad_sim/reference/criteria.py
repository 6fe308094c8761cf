"""How mixed a node's classes are, and what a split gains."""

import math

import numpy as np
from bregalad.complete import complete
from bregalad.criteria import CRITERIA
from numba import njit

__all__ = ["CRITERIA", "impurity", "reduction", "value_range"]

# Names are those of the boards' criteria, in order; what they mean is written anew here, to compare with.
INFORMATION_GAIN, GINI, KEARNS_MANSOUR, CLASSIFICATION_ERROR = map(
    CRITERIA.index, ("information_gain", "gini", "kearns_mansour", "classification_error")
)

_RANGES = complete(
    CRITERIA,
    {
        "information_gain": lambda classes: math.log2(max(2, classes)),
        "gini": lambda classes: 1.0,
        "kearns_mansour": lambda classes: 0.5,
        "classification_error": lambda classes: 1.0,
    },
    __file__,
)


def value_range(criterion, classes):
    """R of a criterion, for Hoeffding's bound."""
    return _RANGES[criterion](classes)


@njit(cache=True)
def impurity(criterion, counts):
    """I(counts), per instance; 0 where nothing was counted."""
    n = counts.sum()
    if n <= 0:
        return 0.0
    total, highest, product = 0.0, 0.0, 1.0
    for count in counts:
        p = count / n
        if criterion == INFORMATION_GAIN and p > 0:
            total += p * math.log2(p)
        elif criterion == GINI:
            total += p * p
        product *= p
        highest = max(highest, p)
    if criterion == INFORMATION_GAIN:
        return -total  # bits
    if criterion == GINI:
        return 1 - total
    if criterion == KEARNS_MANSOUR:  # two classes; STOC 1996
        return math.sqrt(product)
    if criterion == CLASSIFICATION_ERROR:  # Matuszyk, Krempl and Spiliopoulou 2013
        return 1 - highest
    raise ValueError("no such criterion")


@njit(cache=True)
def reduction(criterion, sides):
    """I(counts) - sum over the sides of their share times I(side), times what is counted.

    Parameters
    ----------
    criterion : int
        Index into CRITERIA.
    sides : float array (attributes, splits, sides, classes)

    Returns
    -------
    array (attributes, splits)
    """
    attributes, splits, branches, classes = sides.shape
    found = np.zeros((attributes, splits))
    counts = np.empty(classes)
    for attribute in range(attributes):
        for split in range(splits):
            counts[:] = 0
            for branch in range(branches):
                side = sides[attribute, split, branch]
                found[attribute, split] -= side.sum() * impurity(criterion, side)
                for label in range(classes):
                    counts[label] += side[label]
            found[attribute, split] += counts.sum() * impurity(criterion, counts)
    return found
