"""Impurities: what a split criterion measures, per instance."""

import numpy as np

from ...compiled import njit
from ...geometry import CRITERIA

__all__ = ["INFORMATION_GAIN", "GINI", "KEARNS_MANSOUR", "CLASSIFICATION_ERROR",
           "impurity", "remainder", "span"]

INFORMATION_GAIN, GINI, KEARNS_MANSOUR, CLASSIFICATION_ERROR = range(len(CRITERIA))


@njit()
def impurity(criterion, counts):
    """Impurity of class counts; 0 without counts.

    Parameters
    ----------
    criterion : int
        Index into ``geometry.CRITERIA``; Kearns-Mansour looks at the first two classes.
    counts : int array (classes,)
    """
    total = 0.0
    for count in counts:
        total += count
    if total == 0:
        return 0.0
    if criterion == INFORMATION_GAIN:
        bits = 0.0
        for count in counts:
            if count > 0:
                bits -= count / total * np.log2(count / total)
        return bits
    if criterion == GINI:
        squares = 0.0
        for count in counts:
            squares += (count / total) ** 2
        return 1 - squares
    if criterion == KEARNS_MANSOUR:
        return np.sqrt(counts[0] / total * (counts[1] / total))
    most = 0
    for count in counts:
        most = max(most, count)
    return 1 - most / total


@njit()
def remainder(criterion, sides):
    """Impurity that a split leaves, times instances.

    Parameters
    ----------
    criterion : int
    sides : int array (children, classes)
    """
    left = 0.0
    for counts in sides:
        total = 0
        for count in counts:
            total += count
        left += total * impurity(criterion, counts)
    return left


@njit()
def span(criterion, classes):
    """R, the range of an impurity of so many classes."""
    if criterion == INFORMATION_GAIN:
        return np.log2(max(2, classes))
    return 0.5 if criterion == KEARNS_MANSOUR else 1.0
