"""What a leaf predicts, compiled. The details of naive Bayes are here and nowhere else."""

import numpy as np
from numba import njit

from .observers import GAUSSIAN, density_log2, find_bin

__all__ = ["MC", "NB", "NBA", "PREDICTIONS", "bayes_decides", "best_and_gap", "majority",
           "naive_bayes"]

PREDICTIONS = ("mc", "nb", "nba")
MC, NB, NBA = range(3)
SMOOTHING = 16  # a count of n weighs n + 1/16, n_k + 1 instances


@njit(cache=True)
def majority(base, own, fallback):
    """The class with most counts, the lower of equal ones; ``fallback`` without any."""
    best, most = fallback, 0.0
    for label in range(len(own)):
        count = base[label] + own[label]
        if count > most:
            best, most = label, count
    return best


@njit(cache=True)
def _smoothed(count):
    return np.log2(SMOOTHING * count + 1)


@njit(cache=True)
def naive_bayes(kind, bins, capacities, limits, own, table, zoom, edges, used, moments, x, scores):
    """Write log2 of every class's share, up to what all have in common, to ``scores``."""
    for label in range(len(own)):
        scores[label] = _smoothed(own[label])
    for attribute in range(len(x)):
        value = x[attribute]
        if value != value:
            continue
        if kind == GAUSSIAN and capacities[attribute] == 0:
            for label in range(len(own)):
                scores[label] += density_log2(moments[attribute, label], value)
            continue
        index = find_bin(kind, bins, capacities, limits, zoom, edges, used, attribute, value)
        if index >= 0:
            for label in range(len(own)):
                scores[label] += (_smoothed(table[attribute, index, label])
                                  - np.log2(SMOOTHING * (own[label] + 1)))


@njit(cache=True)
def best_and_gap(scores):
    """The lower class of equal best scores, and by how much it leads the next class."""
    best, second = 0, -np.inf
    for label in range(1, len(scores)):
        if scores[label] > scores[best]:
            second = scores[best]
            best = label
        elif scores[label] > second:
            second = scores[label]
    return best, scores[best] - second if scores[best] > second else 0.0


@njit(cache=True)
def bayes_decides(mode, bayes_right, majority_right):
    """Whether naive Bayes or the majority predicts."""
    return mode == NB or mode == NBA and bayes_right > majority_right
