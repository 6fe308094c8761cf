"""The nodes of a tree."""

import numpy as np

__all__ = ["KINDS", "Node", "Nodes"]

LONG_AGO = -(1 << 62)

KINDS = ("", "numeric", "multiway", "one_vs_rest")  # by number

NODE = np.dtype(
    [
        ("kind", np.int64),
        ("attribute", np.int64),
        ("threshold", np.float64),
        ("default", np.int64),  # branch of missing and unknown values
        ("child", np.int64),
        ("width", np.int64),  # first of the children, which are in a row
        ("height", np.int64),
        ("row", np.int64),  # of the statistics, -1 without
        ("since", np.int64),
        ("period", np.int64),  # instances since the last trial; to the next
        ("tried_at", np.int64),  # instances that the tree had learnt when it was tried last
        ("fallback", np.int64),  # prediction of a leaf that has no counts
        ("bayes_right", np.int64),
        ("majority_right", np.int64),
        ("wait", np.int64),  # instances before a tie is broken (htat)
    ],
    align=True,
)


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
        self.table["row"][first : self.count] = -1
        self.table["tried_at"][first : self.count] = LONG_AGO
        return first

    def __getitem__(self, at):
        return self.table[at]

    def children(self, at):
        """Numbers of a node's children."""
        node = self.table[at]
        return range(node["child"], node["child"] + node["width"]) if node["kind"] else range(0)

    def below(self, at):
        """Numbers of all nodes below one, parents before their children, left ones first."""
        found, waiting = [], list(reversed(self.children(at)))
        while waiting:  # a tree may be deeper than Python's stack
            found.append(waiting.pop())
            waiting += reversed(self.children(found[-1]))
        return found


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
