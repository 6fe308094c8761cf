"""How mixed a node's classes are, and what a split gains."""

import math

import numpy as np
from numba import njit

__all__ = ["CRITERIA", "impurity", "reduction", "value_range"]

CRITERIA = ("information_gain", "gini", "kearns_mansour", "classification_error")
INFORMATION_GAIN, GINI, KEARNS_MANSOUR, CLASSIFICATION_ERROR = range(4)


def value_range(criterion, classes):
    """R of a criterion, for Hoeffding's bound."""
    return {"information_gain": math.log2(max(2, classes)), "gini": 1.0, "kearns_mansour": 0.5,
            "classification_error": 1.0}[criterion]


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
    return 1 - highest  # Matuszyk, Krempl and Spiliopoulou 2013


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
