"""The nodes, and the compiled walk over them."""

import numpy as np
from numba import njit

from .observers import observe
from .prediction import MC, bayes_decides, best_and_gap, majority, naive_bayes

__all__ = ["KINDS", "LEAF", "MULTIWAY", "NUMERIC", "ONE_VS_REST", "Node", "Nodes", "advance"]

LEAF, NUMERIC, MULTIWAY, ONE_VS_REST = range(4)
KINDS = ("", "numeric", "multiway", "one_vs_rest")

NODE = np.dtype([
    ("kind", np.int64), ("attribute", np.int64), ("threshold", np.float64),
    ("default", np.int64),  # branch of missing and unknown values
    ("child", np.int64), ("width", np.int64),  # first of the children, which are in a row
    ("height", np.int64),
    ("row", np.int64),  # of the statistics, -1 without
    ("since", np.int64), ("period", np.int64),  # instances since the last trial; to the next
    ("fallback", np.int64),  # prediction of a leaf that has no counts
    ("bayes_right", np.int64), ("majority_right", np.int64),
    ("wait", np.int64),  # instances before a tie is broken (htat)
], align=True)


@njit(cache=True)
def branch_of(node, value):
    """Which child a value goes to; NaN is missing."""
    if value != value:
        return node["default"]
    if node["kind"] == NUMERIC:
        return 1 if value >= node["threshold"] else 0
    if node["kind"] == ONE_VS_REST:
        return 1 if value != node["threshold"] else 0
    return np.int64(value) if value < node["width"] else node["default"]


@njit(cache=True)
def advance(nodes, base, own, table, zoom, edges, used, moments, limits, capacities, kind, bins, X,
            y, start, mode, whole_path, seen, multiple, path, predictions, gaps):
    """Predict, then learn instances until a node's period is over.

    Parameters
    ----------
    nodes : array of NODE
    base, ..., capacities : arrays
        As in ``statistics.Arrays``.
    kind, bins : int
        Of the observer.
    X, y : float64 (n, attributes), int64 (n,)
    start : int
    mode : int
        Index into PREDICTIONS.
    whole_path : bool
        Count at every node of the path, not at the leaf only.
    seen, multiple : int
        Stop, too, when the instances learnt, ``seen`` before the first of X, are a multiple.
    path : int64 array
        Is given the nodes of the last instance's path.
    predictions, gaps : int64, float64 (n,)
        Are written.

    Returns
    -------
    int, int
        The instances done; the length of the path, 0 if no node is to be tried.
    """
    scores = np.empty(own.shape[1])
    for i in range(start, len(X)):
        x, label = X[i], y[i]
        at, length = 0, 0
        while True:
            path[length] = at
            length += 1
            if nodes[at]["kind"] == LEAF:
                break
            at = nodes[at]["child"] + branch_of(nodes[at], x[nodes[at]["attribute"]])
        leaf = nodes[at]
        row = leaf["row"]
        prediction = majority(base[row], own[row], leaf["fallback"])
        gaps[i] = np.inf
        if mode != MC:
            by_bayes = by_majority = prediction
            if own[row].any():
                naive_bayes(kind, bins, capacities, limits, own[row], table[row], zoom[row],
                            edges[row], used[row], moments[row], x, scores)
                by_bayes, gaps[i] = best_and_gap(scores)
            if bayes_decides(mode, leaf["bayes_right"], leaf["majority_right"]):
                prediction = by_bayes
            leaf["bayes_right"] += by_bayes == label
            leaf["majority_right"] += by_majority == label
        predictions[i] = prediction
        due = (seen + i + 1) % multiple == 0
        for level in range(0 if whole_path else length - 1, length):
            node = nodes[path[level]]
            row = node["row"]
            own[row, label] += 1
            observe(kind, bins, capacities, limits, table[row], zoom[row], edges[row], used[row],
                    moments[row], x, label)
            node["since"] += 1
            due |= node["since"] >= node["period"]
        if due:
            return i + 1, length
    return len(X), 0


class Nodes:
    """The nodes in one array; the root is node 0."""

    def __init__(self):
        self.table = np.zeros(16, NODE)
        self.count = 0

    def add(self, count):
        """The first of so many new nodes in a row, all leaves without statistics."""
        while self.count + count > len(self.table):
            self.table = np.concatenate([self.table, np.zeros_like(self.table)])
        first = self.count
        self.count += count
        self.table["row"][first:self.count] = -1
        return first

    def __getitem__(self, at):
        return self.table[at]

    def children(self, at):
        """Numbers of a node's children."""
        node = self.table[at]
        return range(node["child"], node["child"] + node["width"]) if node["kind"] else range(0)

    def below(self, at):
        """Numbers of all nodes below one."""
        return [node for child in self.children(at) for node in (child, *self.below(child))]


class Node:
    """A node of a tree, to look at.

    Attributes
    ----------
    kind : str
        ``""`` is a leaf.
    attribute, threshold, default : int, number, int
    children : list of Node
    height : int
    counts : array (classes,) or None
        Classes for predictions, inherited ones included; None where they are forgotten.
    own : array (classes,) or None
        Classes counted.
    """

    def __init__(self, nodes, arrays, at):
        self._nodes, self._arrays, self._at = nodes, arrays, at
        node = nodes[at]
        self.kind = KINDS[node["kind"]]
        self.attribute, self.default = int(node["attribute"]), int(node["default"])
        threshold = float(node["threshold"])
        self.threshold = int(threshold) if threshold.is_integer() else threshold
        self.height = int(node["height"])

    @property
    def children(self):
        return [Node(self._nodes, self._arrays, child) for child in self._nodes.children(self._at)]

    @property
    def own(self):
        row = self._nodes[self._at]["row"]
        return None if row < 0 else self._arrays.own[row].copy()

    @property
    def counts(self):
        row = self._nodes[self._at]["row"]
        return None if row < 0 else self._arrays.base[row] + self._arrays.own[row]
