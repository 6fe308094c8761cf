"""Leaf rows: what a leaf predicts by, ``sim/bregalad_sim/golden/leaf_rows.py`` on arrays."""

import numpy as np

from ....protocol.leaf_rows import COUNT_WIDTH, SINCE_WIDTH, Predictor, RowWord
from ..state import inlined, inner
from .state import COUNT

__all__ = ["ADAPTIVE", "BY_MAJORITY", "predicted_by", "learn_row", "write_word"]

MAJORITY, LEAD, RIGHT, ARRIVALS, ERRORS = map(int, RowWord)
BY_MAJORITY, BY_BAYES, ADAPTIVE = map(int, Predictor)
MOST, SINCE = (1 << COUNT_WIDTH) - 1, (1 << SINCE_WIDTH) - 1


@inner
def signed(value):
    """Two's complement of 32 bits."""
    return (value + (1 << 31) & 0xFFFFFFFF) - (1 << 31)


@inlined
def predicted_by(rows, leaf, by, bayes):
    """The class that a leaf predicts; ``bayes`` is that by naive Bayes, -1 if it knows none."""
    majority = rows[leaf, MAJORITY]
    trusted = by == BY_BAYES or by == ADAPTIVE and rows[leaf, RIGHT] <= 0
    return bayes if bayes >= 0 and trusted else majority


@inlined
def learn_row(rows, leaf, label, by, bayes, predicted, weight):
    """Count a record in its leaf's row."""
    majority, lead = rows[leaf, MAJORITY], rows[leaf, LEAD]
    if by == ADAPTIVE and bayes >= 0 and bayes != majority:
        righter = np.int64(label == majority) - np.int64(label == bayes)
        rows[leaf, RIGHT] = signed(rows[leaf, RIGHT] + weight * righter)
    for _ in range(weight):
        if lead < MOST:
            count = rows[leaf, COUNT + label] + 1 & MOST
            rows[leaf, COUNT + label] = count
            if label == majority or count == lead + 1 or count == lead and label < majority:
                majority, lead = label, count
    rows[leaf, MAJORITY], rows[leaf, LEAD] = majority, lead
    rows[leaf, ARRIVALS] = rows[leaf, ARRIVALS] + 1 & SINCE
    rows[leaf, ERRORS] = rows[leaf, ERRORS] + (predicted != label) & SINCE


@inner
def write_word(rows, classes, knows_bayes, node, word, value):
    """Set a word of a row."""
    if word >= COUNT or word == LEAD:
        rows[node, word] = value & MOST
    elif word == RIGHT:
        rows[node, word] = signed(value) * knows_bayes
    elif word == MAJORITY:
        bits = 0
        while (classes - 1) >> bits:
            bits += 1
        rows[node, word] = value & (1 << bits) - 1
    else:
        rows[node, word] = value & SINCE
