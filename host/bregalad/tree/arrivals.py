"""What an instance changes at the nodes that it reaches, compiled: arrivals, attempts that are due, predictions."""

import numpy as np

from ..compiled import njit
from ..complete import complete
from ..predictors import Predictor
from .table import NO_NODE, above

_CARRIED_OUT = Predictor.MAJORITY, Predictor.BAYES, Predictor.ADAPTIVE  # by `choose`
MAJORITY, BAYES, ADAPTIVE = map(int, complete(Predictor, _CARRIED_OUT, __file__))


@njit()
def arrive(node, weight=1):
    """Count an arrival, ``weight`` times, towards a node's attempt; whether that is due at the block's end."""
    since = node["since"] + weight
    node["since"] = since
    return since >= node["period"]


@njit()
def summon(table, leaf):
    """The tree's own counter makes the attempts of the inner nodes above a leaf due; whether there are any."""
    node = above(table, leaf)
    called = node != NO_NODE
    while node != NO_NODE:
        table[node]["since"] = table[node]["period"]
        node = above(table, node)
    return called


@njit(inline="always")
def count_class(node, counts, leaf, label, weight=1):
    """Count an instance's class at a leaf; the majority class before."""
    majority = node["majority"]
    count = counts[leaf, label] + weight
    counts[leaf, label] = count
    lead = counts[leaf, majority]  # outside of branches, or references are counted
    # Ties go to the lower class; an empty leaf's first class is its own.
    if label != majority and (count > lead or (count == lead and label < majority)):
        node["majority"] = label
    return majority


@njit()
def choose(node, predictor, majority, bayes, label, weight=1):
    """The prediction by BAYES or ADAPTIVE, which then counts which of the two was right."""
    if predictor == BAYES or bayes == majority:
        return bayes
    chosen = bayes if node["right"] <= 0 else majority
    node["right"] += weight * (np.int64(label == majority) - np.int64(label == bayes))
    return chosen
