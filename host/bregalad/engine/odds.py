"""Class shares by the scores of naive Bayes."""

import numpy as np

from ..compiled import njit
from ..fixed import BAYES_BINS, BAYES_FRACTION, UNUSED_CLASS

UNIT = BAYES_BINS << BAYES_FRACTION


def odds(scores):
    """Class shares, float array (n, classes), by the scores of naive Bayes, int array of that shape.

    These are log2 of every class's share less a constant, times BAYES_BINS; of one that the leaf has not seen, the
    least integer.
    """
    scores = np.ascontiguousarray(scores, np.int64)
    shares = np.empty(scores.shape)
    _odds(scores, shares)
    return shares


@njit()
def odds_of_one(scores, shares):
    """The same of one instance, to be written: float64 array (classes,), of which there may be more scores."""
    classes = len(shares)
    most, total = scores[:classes].max(), 0.0
    for k in range(classes):
        shares[k] = 0.0 if scores[k] == UNUSED_CLASS else np.exp2((scores[k] - most) / UNIT)
        total += shares[k]
    for k in range(classes):
        shares[k] /= total


@njit()
def _odds(scores, shares):
    for row in range(len(scores)):
        odds_of_one(scores[row], shares[row])
