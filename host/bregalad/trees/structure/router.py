"""What an instance changes at the nodes that it reaches, compiled: arrivals, trials that are due, predictions."""

import numpy as np

from ...compiled import njit
from .table import NO_NODE, above

__all__ = ["MAJORITY", "BAYES", "ADAPTIVE", "PREDICTIONS", "arrive", "summon", "count_class", "choose"]

MAJORITY, BAYES, ADAPTIVE = range(3)
PREDICTIONS = {"mc": MAJORITY, "nb": BAYES, "nba": ADAPTIVE}  # what a leaf predicts


@njit()
def arrive(node, number, delay, weight=1):
    """Count an instance's arrival towards a node's trial; 1 if that makes it due.

    Parameters
    ----------
    node : row of ``Nodes.table``
    number : int
        Instances that the tree has learnt, this one included.
    delay : int
        Of the policy: until the last trial has taken effect there is no other one.
    weight : int
        How often the instance is learnt.
    """
    since = node["since"] + weight
    node["since"] = since
    if since < node["period"] or number <= node["due_at"] + delay:
        return 0
    node["since"] = 0
    node["due_at"] = number
    return 1


@njit()
def summon(table, leaf, number, delay):
    """The tree's own counter makes the trials of the inner nodes above a leaf due; how many."""
    due = 0
    node = above(table, leaf)
    while node != NO_NODE:
        row = table[node]
        if number > row["due_at"] + delay:
            row["due_at"] = number
            due += 1
        node = above(table, node)
    return due


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
