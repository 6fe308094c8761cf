"""Decisions wait for their statistics and their turn, and leave nothing behind."""

import numpy as np
from bregalad.trees.policy.policy import SPLIT
from bregalad.trees.structure.nodes import NUMERIC, TRIAL_OUT, Nodes
from bregalad.trees.training.decisions import Decision, Decisions

BINS = np.ones((8, 2), np.int64)


def decision(node):
    return Decision(node, SPLIT, np.array([10, 10]), 0, 3)


def tree():
    """A root with two leaves, a trial of each of which was due with instance 7."""
    nodes = Nodes(2)
    child = nodes.add(2)
    nodes.kind[0], nodes.child[0], nodes.width[0] = NUMERIC, child, 2
    nodes.parent[child : child + 2] = 0
    nodes.due_at[:] = 7
    return nodes, child


def test_statistics_of_a_dropped_decision_are_still_awaited():
    nodes, child = tree()
    decisions = Decisions(nodes)
    decisions.add(decision(child), reads=2)
    decisions.add(decision(0), reads=1)
    assert decisions.drop([child, child + 1]) == 1
    for _ in range(2):
        decisions.statistics(BINS)
        assert decisions.reading and decisions.take() is None
    decisions.statistics(BINS)
    assert not decisions.reading
    assert decisions.take().node == 0
    assert decisions.take() is None


def test_the_upper_of_two_nodes_tried_by_one_instance_comes_first():
    nodes, child = tree()
    decisions = Decisions(nodes)
    decisions.add(decision(child), reads=1)
    decisions.statistics(BINS)
    nodes.gate[0] = TRIAL_OUT  # its verdict is not in
    assert decisions.take() is None
    nodes.gate[0] = 0
    assert decisions.take().node == child


def test_an_earlier_decision_below_comes_first():
    nodes, child = tree()
    nodes.due_at[child] = 6
    decisions = Decisions(nodes)
    decisions.add(decision(0), reads=1)
    decisions.add(decision(child), reads=1)
    decisions.statistics(BINS)
    assert decisions.take() is None
    decisions.statistics(BINS)
    assert [decisions.take().node for _ in range(2)] == [child, 0]
