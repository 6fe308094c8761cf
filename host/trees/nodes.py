"""The tree's nodes as arrays, one row per node, so that compiled code can walk them."""

import numpy as np
from numba import njit

__all__ = ["LEAF", "NUMERIC", "MULTIWAY", "ONE_VS_REST", "NO_NODE", "Nodes"]

LEAF, NUMERIC, MULTIWAY, ONE_VS_REST = range(4)  # as CellKind, with leaf for ignored
NO_NODE = -1

# name: (dtype, value in a new node). One row holds all of a node's fields, so that a step down the
# tree touches one cache line.
_FIELDS = {
    "kind": (np.int32, LEAF),
    "attribute": (np.int32, -1),  # tested at an inner node
    "threshold": (np.int32, 0),  # numeric: codes below go to child 0; one-vs-rest: the value
    "child": (np.int32, NO_NODE),  # first child; siblings are consecutive
    "width": (np.int32, 0),  # number of children
    "default": (np.int32, 0),  # branch of missing and unknown values
    "parent": (np.int32, NO_NODE),
    "majority": (np.int32, 0),  # class predicted
    "slot": (np.int32, -1),  # -1: inactive, the leaf counts nothing on the board
    "since": (np.int32, 0),  # instances since the last trial, as the board counts them
    "waiting": (np.int32, 0),  # a trial is out: instances are withheld
    "head": (np.int32, -1),  # first and last withheld instance
    "tail": (np.int32, -1),
}
_PER_CLASS = (
    "counts",  # classes seen, as predictions use them
    "base",  # classes that count in n though the board has not seen them
)
_DTYPE = np.dtype([(name, dtype) for name, (dtype, _) in _FIELDS.items()], align=True)


@njit(cache=True)
def _code_range(table, node, attribute, codes):
    low, high = 0, codes
    above = table[node]["parent"]
    while above != NO_NODE:
        test = table[above]
        if test["kind"] == NUMERIC and test["attribute"] == attribute:
            if node == test["child"]:
                high = min(high, test["threshold"])
            else:
                low = max(low, test["threshold"])
        node, above = above, test["parent"]
    # A split at a trivial threshold may leave one side without codes.
    return min(low, high), high


@njit(cache=True)
def _leaves(table, rows):
    leaves = np.empty(rows, np.int64)
    stack = np.empty(rows, np.int64)
    stack[0] = 0
    height, count = 1, 0
    while height:
        height -= 1
        node = stack[height]
        if table[node]["kind"] == LEAF:
            leaves[count] = node
            count += 1
        for branch in range(table[node]["width"] - 1, -1, -1):
            stack[height] = table[node]["child"] + branch
            height += 1
    return leaves[:count]


class Nodes:
    """A growing set of tree nodes; node 0 is the root.

    Every name in ``_FIELDS`` and ``_PER_CLASS`` is an attribute: an array of ``len(nodes)`` rows.

    Parameters
    ----------
    classes : int

    Attributes
    ----------
    table : structured array (rows,)
        For compiled code; has more rows than nodes, and is replaced when nodes are added.
    """

    def __init__(self, classes):
        self.classes = classes
        self._rows = 0
        self.table = np.zeros(0, _DTYPE)
        self._matrices = {name: np.zeros((0, classes), np.int64) for name in _PER_CLASS}
        self.add(1)

    def __len__(self):
        return self._rows

    def __getattr__(self, name):
        if name in _FIELDS:
            return self.table[name][:self._rows]
        if name in _PER_CLASS:
            return self._matrices[name][:self._rows]
        raise AttributeError(name)

    def add(self, count):
        """Append ``count`` leaves; return the index of the first."""
        first = self._rows
        self._rows += count
        if self._rows > len(self.table):
            capacity = max(64, 2 * len(self.table), self._rows)
            old, self.table = self.table, np.zeros(capacity, _DTYPE)
            for name, (_, init) in _FIELDS.items():
                self.table[name] = init
            self.table[:first] = old[:first]
            for name, matrix in self._matrices.items():
                self._matrices[name] = np.zeros((capacity, self.classes), np.int64)
                self._matrices[name][:first] = matrix[:first]
        return first

    def leaves(self):
        """Indices of all leaves, from left to right in the tree; int array."""
        return _leaves(self.table, self._rows)

    @property
    def inactive(self):
        """How many leaves hold no slot."""
        return int((self.slot[self.leaves()] < 0).sum())

    def children(self, node):
        """Indices of a node's children."""
        return range(self.child[node], self.child[node] + self.width[node])

    def branch(self, node):
        """Which child of its parent a node is."""
        return int(node - self.child[self.parent[node]])

    def depths(self):
        """Depth of every node, the root's is 0."""
        depth = np.zeros(len(self), np.int64)
        for node in range(1, len(self)):  # a child always stands behind its parent
            depth[node] = depth[self.parent[node]] + 1
        return depth

    def path(self, node):
        """Nodes from ``node`` up to the root, both included."""
        while node != NO_NODE:
            yield node
            node = int(self.parent[node])

    def code_range(self, node, attribute, codes):
        """The codes ``[low, high)`` of a numeric attribute that can reach a node.

        Missing values may reach it too; they are not counted.
        """
        return _code_range(self.table, node, attribute, codes)

    def promise(self, nodes):
        """Instances that a leaf's majority class gets wrong: share times error, unscaled."""
        counts = self.counts[nodes]
        return counts.sum(axis=1) - counts.max(axis=1)

    def difference(self, other):
        """The first difference from another tree in words, or None.

        Nodes may be numbered in another order, and slots may differ.
        """
        pairs = [(0, 0, "root")]
        while pairs:
            mine, theirs, path = pairs.pop()
            for name in ("kind", "attribute", "threshold", "width", "default", "majority",
                         "counts"):
                a, b = getattr(self, name)[mine], getattr(other, name)[theirs]
                if (a != b).any():
                    return f"{path}: {name} is {a}, not {b}"
            pairs += [(child, twin, f"{path}.{branch}") for branch, (child, twin) in enumerate(
                zip(self.children(mine), other.children(theirs), strict=True))]
        return None

    def state(self):
        """Arrays to save."""
        return {name: getattr(self, name).copy() for name in (*_FIELDS, *_PER_CLASS)}

    @classmethod
    def from_state(cls, state):
        """Nodes as saved."""
        nodes = cls(state["counts"].shape[1])
        nodes.add(len(state["kind"]) - 1)
        for name in (*_FIELDS, *_PER_CLASS):
            getattr(nodes, name)[:] = state[name]
        return nodes
