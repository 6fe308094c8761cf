"""A tree's nodes, as its owner sees them: rows of a `table`."""

import numpy as np

from . import table

_MOST_CHILDREN = 255
_NO_TREE = "its nodes do not hang together"


class Nodes:
    """The nodes of a tree, rows of arrays; node 0 is the root. Rows of killed nodes are used again.

    Every name in ``FIELDS`` and ``MATRICES`` is an attribute: an array of ``rows`` rows. For compiled code there are
    ``table``, a structured array that has more rows than are in use, and is replaced when nodes are added; ``blank``, a
    new node, (1,); and ``room``, int64, rows in use and those of killed nodes, for ``take_rows``.

    A node with an alternate is a fork. Its children are two: the node as it would be without, which predicts, and the
    alternate. Instances reach both. What a node's place in the tree says, such as its range of codes, the fork has.
    """

    def __init__(self, classes):
        self.classes = classes
        self.averages = 0
        self.room = np.full(table.FAMILIES + _MOST_CHILDREN + 1, -1, np.int64)
        self.room[[table.ROWS, table.VACANT]] = 0
        self.blank = np.array([tuple(value for _, value in table.FIELDS.values())], table.DTYPE)
        self.table = np.zeros(0, table.DTYPE)
        self._matrices = {name: np.zeros((0, classes), np.int64) for name in table.PER_CLASS}
        self._matrices |= {name: np.zeros((0, 0)) for name in (*table.PER_ATTRIBUTE, *table.PER_WINDOW)}
        self._matrices |= {name: np.zeros((0, table.EVIDENCE)) for name in table.PER_ATTEMPT}
        self.add(1)

    def __len__(self):
        return int(self.room[table.ROWS] - self.room[table.VACANT])

    @property
    def rows(self):
        """Rows in use, those of killed nodes among them."""
        return int(self.room[table.ROWS])

    def __getattr__(self, name):
        if name in table.FIELDS:
            return self.table[name][: self.rows]
        if name in table.MATRICES:
            return self._matrices[name][: self.rows]
        raise AttributeError(name)

    @property
    def matrices(self):
        """``counts``, ``inherited``, ``gains``, ``windows`` and ``evidence`` with all their rows, for compiled code."""
        return tuple(self._matrices.values())

    def average_over(self, attributes):
        """Sum up the gains of so many attributes from now on, 0: of none; new ones have had none."""
        known, self.averages = self.averages, attributes
        for name in table.PER_ATTRIBUTE:
            if 0 < known < attributes:
                self._matrices[name] = np.pad(self._matrices[name], ((0, 0), (0, attributes - known)))
            elif known != attributes:
                self.tried[:] = 0
                self._matrices[name] = np.zeros((len(self.table), attributes))

    def watch(self, elements):
        """Have windows of so many elements, 0: none; where they are others than before, they are empty."""
        for name in table.PER_WINDOW:
            if self._matrices[name].shape[1] != elements:
                self._matrices[name] = np.zeros((len(self.table), elements))

    def widen(self, classes):
        """Have counts for so many classes."""
        more = classes - self.classes
        for name in table.PER_CLASS:
            self._matrices[name] = np.pad(self._matrices[name], ((0, 0), (0, more)))
        self.classes = classes

    def add(self, count):
        """Add a family of ``count`` leaves; return the row of the first."""
        self.reserve(count)
        first = int(table.take_rows(self.table, self.room, count))
        family = slice(first, first + count)
        self.table[family] = self.blank
        for matrix in self._matrices.values():
            matrix[family] = 0
        return first

    def reserve(self, count):
        """Make sure that the table has rows for a family of ``count``."""
        if self.rows + count > len(self.table):
            self._grow(max(64, 2 * len(self.table), self.rows + count))

    def _grow(self, capacity):
        old, self.table = self.table, np.zeros(capacity, table.DTYPE)
        self.table[: len(old)] = old
        for name, matrix in self._matrices.items():
            self._matrices[name] = np.zeros((capacity, matrix.shape[1]), matrix.dtype)
            self._matrices[name][: len(matrix)] = matrix

    def descendants(self, node=0):
        """A node and all below it, alternates, too, parents before children, left ones first; int array."""
        return table.descendants(self.table, node, self.rows)

    def leaves(self):
        """Indices of all leaves, those of alternates, too, from left to right in the tree; int array."""
        nodes = self.descendants()
        return nodes[self.kind[nodes] == table.LEAF]

    def inner(self):
        """Indices of all nodes with a test, those of alternates, too, parents before children; int array."""
        nodes = self.descendants()
        return nodes[(self.kind[nodes] != table.LEAF) & (self.kind[nodes] != table.FORK)]

    def predicting(self):
        """Indices of the nodes that predictions pass, parents before children; no forks, no alternates; int array."""
        return table.predicting(self.table, self.rows)[0]

    def standing(self, node):
        """A node, or of a fork the node that predicts."""
        return int(table.standing(self.table, node))

    @property
    def forks(self):
        """How many nodes have an alternate."""
        return int((self.kind[self.descendants()] == table.FORK).sum())

    def children(self, node):
        """Indices of a node's children."""
        return range(self.child[node], self.child[node] + self.width[node])

    def depth(self, node):
        """Splits above a node."""
        return sum(int(self.kind[over] != table.FORK) for over in [*self.path(node)][1:])

    @property
    def deepest(self):
        """Depth of the deepest leaf."""
        return int(table.predicting(self.table, self.rows)[1].max())

    def path(self, node):
        """Nodes from ``node`` up to the root, both included."""
        while node != table.NO_NODE:
            yield node
            node = int(self.parent[node])

    def code_range(self, node, attribute):
        """The codes ``[low, high)`` of a numeric attribute that a node's bins cover."""
        low, high = table.code_range(self.table, node, attribute)
        return int(low), int(high)

    def difference(self, other):
        """The first difference from another tree in words, or None.

        Nodes may be numbered in another order, and slots may differ; so may the boards' classes.
        """
        most = max(self.classes, other.classes)
        pairs = [(0, 0, "root")]
        while pairs:
            mine, theirs, path = pairs.pop()
            for name in ("kind", "attribute", "threshold", "width", "default", "majority", "counts"):
                a, b = getattr(self, name)[mine], getattr(other, name)[theirs]
                if name == "counts":
                    a, b = (np.pad(each, (0, most - len(each))) for each in (a, b))
                if (a != b).any():
                    return f"{path}: {name} is {a}, not {b}"
            pairs += [
                (child, twin, f"{path}.{branch}")
                for branch, (child, twin) in enumerate(zip(self.children(mine), other.children(theirs), strict=True))
            ]
        return None

    def state(self):
        """Arrays to save."""
        return {name: getattr(self, name).copy() for name in (*table.FIELDS, *table.MATRICES)}

    @classmethod
    def from_state(cls, state, attributes):
        """Nodes as saved, of a tree with so many attributes.

        KeyError or ValueError if they are none, or no tree: compiled code would go astray in them.
        """
        if not len(state["kind"]):
            raise ValueError(_NO_TREE)
        nodes = cls(state["counts"].shape[1])
        nodes.average_over(state["gains"].shape[1])
        nodes.watch(state["windows"].shape[1])
        nodes.add(len(state["kind"]) - 1)
        for name in (*table.FIELDS, *table.MATRICES):
            getattr(nodes, name)[:] = state[name]
        nodes._check_links(attributes)
        used = np.zeros(nodes.rows, bool)
        used[nodes.descendants()] = True
        if ((nodes.kind[used] == table.LEAF) != (nodes.width[used] == 0)).any():
            raise ValueError(_NO_TREE)
        for row in np.flatnonzero(~used):
            table.leave_rows(nodes.table, nodes.room, int(row), 1)
        return nodes

    def _check_links(self, attributes):
        inner = np.flatnonzero(self.width)
        child, width = self.child[inner], self.width[inner]
        sound = (
            ((self.kind >= table.LEAF) & (self.kind <= table.FORK)).all()
            and (width[self.kind[inner] == table.FORK] == 2).all()
            and ((self.majority >= 0) & (self.majority < self.classes)).all()
            and self.parent[0] == table.NO_NODE
            and ((width > 0) & (width <= _MOST_CHILDREN)).all()
            and ((child > 0) & (child <= self.rows - width)).all()
            and ((self.default[inner] >= 0) & (self.default[inner] < width)).all()
            and ((self.attribute[inner] >= 0) & (self.attribute[inner] < attributes)).all()
        )
        # A node whose parent is the one that leads to it is led to by no other.
        if not sound or any(
            (self.parent[first : first + count] != node).any()
            for node, first, count in zip(inner, child, width, strict=True)
        ):
            raise ValueError(_NO_TREE)
