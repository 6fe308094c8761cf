"""The tree's nodes as arrays, one row per node, so that compiled code can walk them."""

import numpy as np

from ...compiled import njit
from ...geometry import MISSING

__all__ = [
    "LEAF",
    "NUMERIC",
    "MULTIWAY",
    "ONE_VS_REST",
    "FORK",
    "NO_NODE",
    "NEVER",
    "KEPT",
    "ASKED",
    "Nodes",
    "forget_trial",
    "fork",
    "join",
    "above",
    "code_range",
    "descendants",
    "has_alternate",
    "is_alternate",
    "standing",
    "take_rows",
]

LEAF, NUMERIC, MULTIWAY, ONE_VS_REST, FORK = range(5)  # as NodeKind; the first four as CellKind, with leaf for ignored
NO_NODE = -1
NEVER = -(1 << 62)  # of `due_at`: no trial yet
KEPT, ASKED = 0, -1  # of `verdict`: nothing is to be done; the board has not answered yet

# name: (dtype, value in a new node). One row holds all of a node's fields, so that a step down the
# tree touches one cache line, and so does what every instance changes: those come first.
_FIELDS = {
    "kind": (np.int32, LEAF),
    "attribute": (np.int32, -1),  # tested at an inner node
    "threshold": (np.int32, 0),  # numeric: codes below go to child 0; one-vs-rest: the value
    "child": (np.int32, NO_NODE),  # first child; siblings are consecutive
    "width": (np.int32, 0),  # number of children
    "default": (np.int32, 0),  # branch of missing and unknown values
    "parent": (np.int32, NO_NODE),
    "majority": (np.int32, 0),  # class predicted
    "slot": (np.int32, -1),  # -1: nothing is counted on the board
    "period": (np.int32, 0),  # instances between trials
    "own": (np.int64, 0),  # a leaf's arrivals that its slot counts, halved when the board halves them
    "since": (np.int64, 0),  # instances since the last trial
    "right": (np.int64, 0),  # predictions that were right: majority class's minus naive Bayes's
    "due_at": (np.int64, NEVER),  # instances that the tree had learnt when the last trial was due
    # What that has come to, and has not taken effect yet; also KEPT or ASKED.
    "verdict": (np.int32, KEPT),
    "cell": (np.int32, -1),
    "value": (np.int32, 0),
    "next": (np.int32, -1),  # of rows that are free: the next family's first
    "low": (np.int32, 0),  # codes [low, high) of the parent's numeric attribute that bins cover
    "high": (np.int32, 0),
    "wait": (np.int32, 0),  # own instances from which on a tie may be broken, where that adapts
    "tried": (np.int32, 0),  # trials that went into the averages
    # Of trees that forget. Instances that the tree had learnt before the first one that its slot, and its counts, know.
    "born": (np.int64, 0),
    "made": (np.int64, 0),
}
_PER_CLASS = (
    "counts",  # classes seen, as a leaf's predictions use them
    "base",  # classes that count in n though the board has not seen them
)
_PER_ATTRIBUTE = ("gains",)  # sums of gains per instance over the node's trials
_PER_WINDOW = ("windows",)  # a window of ``drift.adwin`` on the errors made at the node and below
_MATRICES = (*_PER_CLASS, *_PER_ATTRIBUTE, *_PER_WINDOW)
_DTYPE = np.dtype([(name, dtype) for name, (dtype, _) in _FIELDS.items()], align=True)

# Elements of `Nodes.room`: rows in use, how many of them are killed nodes', and from there on, by
# the size of a family, the first row of one that was killed; its "next" names the next one's.
_ROWS, _VACANT, _FAMILIES = range(3)
_MOST_CHILDREN = 255
_NO_TREE = "its nodes do not hang together"


@njit()
def take_rows(table, room, count):
    """Rows for a family of ``count`` leaves: the first, or -1 if the table must grow before."""
    for size in range(count, len(room) - _FAMILIES):
        first = room[_FAMILIES + size]
        if first >= 0:
            room[_FAMILIES + size] = table[first]["next"]
            room[_VACANT] -= size
            if size > count:
                _leave_rows(table, room, first + count, size - count)
            return first
    first = room[_ROWS]
    if first + count > len(table):
        return np.int64(-1)
    room[_ROWS] += count
    return first


@njit()
def _leave_rows(table, room, first, count):
    table[first]["next"] = room[_FAMILIES + count]
    room[_FAMILIES + count] = first
    room[_VACANT] += count


@njit()
def forget_trial(row):
    """A node's statistics are no more: what its last trial has come to, or will, is void."""
    row["due_at"], row["verdict"] = NEVER, KEPT


@njit(inner=True)
def is_alternate(table, node):
    """Whether a node is the alternate of its fork."""
    parent = table[node]["parent"]
    return parent != NO_NODE and table[parent]["kind"] == FORK and table[parent]["child"] != node


@njit()
def has_alternate(table, node):
    """Whether a node, no fork, stands beside an alternate."""
    parent = table[node]["parent"]
    return parent != NO_NODE and table[parent]["kind"] == FORK and table[parent]["child"] == node


@njit()
def above(table, node):
    """The next node above that counts the instances that a node counts, NO_NODE: there is none.

    Forks count nothing, and what is above an alternate does not count for it.
    """
    parent = table[node]["parent"]
    while parent != NO_NODE and table[parent]["kind"] == FORK:
        if table[parent]["child"] != node:
            return np.int32(NO_NODE)
        node, parent = parent, table[parent]["parent"]
    return parent


@njit()
def standing(table, node):
    """A node, or of a fork the node that predicts."""
    while table[node]["kind"] == FORK:
        node = table[node]["child"]
    return node


@njit()
def code_range(table, node, attribute):
    """The codes ``[low, high)`` of a numeric attribute that a node's bins cover."""
    above = table[node]["parent"]
    while above != NO_NODE:
        if table[above]["kind"] == NUMERIC and table[above]["attribute"] == attribute:
            return table[node]["low"], table[node]["high"]
        node, above = above, table[above]["parent"]
    return np.int32(0), np.int32(MISSING)  # codes 0..254 are values


@njit()
def _place(table, row, new):
    """Give a row other contents, but for what it says of its place in the tree."""
    parent, low, high = table[row]["parent"], table[row]["low"], table[row]["high"]
    table[row] = new
    table[row]["parent"], table[row]["low"], table[row]["high"] = parent, low, high


@njit()
def _move(table, matrices, node, row):
    """Take a node to another row, whose place in the tree it gets; what its last trial has come to is void."""
    counts, base, gains, windows = matrices
    _place(table, row, table[node])
    counts[row], base[row], gains[row], windows[row] = counts[node], base[node], gains[node], windows[node]
    forget_trial(table[row])
    for branch in range(table[row]["width"]):
        table[table[row]["child"] + branch]["parent"] = row


@njit()
def _clear(table, matrices, blank, row):
    """Make a row that of a new node in the same place."""
    counts, base, gains, windows = matrices
    _place(table, row, blank[0])
    counts[row], base[row], gains[row], windows[row] = 0, 0, 0, 0


@njit()
def predicting(table, rows):
    """The nodes that predictions pass, parents first, and how far each is from the root; no forks, no alternates."""
    found, depth = np.empty(rows, np.int64), np.empty(rows, np.int64)
    count, at = 1, 0
    found[0], depth[0] = standing(table, 0), 0
    while at < count:
        row = table[found[at]]
        for branch in range(row["width"]):
            found[count], depth[count] = standing(table, row["child"] + branch), depth[at] + 1
            count += 1
        at += 1
    return found[:count], depth[:count]


@njit()
def descendants(table, top, rows):
    """A node and all below it, alternates and what is below them, too, parents first, from left to right."""
    found = np.empty(rows, np.int64)
    stack = np.empty(rows, np.int64)
    stack[0] = top
    height, count = 1, 0
    while height:
        height -= 1
        node = stack[height]
        found[count] = node
        count += 1
        for branch in range(table[node]["width"] - 1, -1, -1):
            stack[height] = table[node]["child"] + branch
            height += 1
    return found[:count]


@njit()
def kill(table, room, node):
    """Forget all below a node, which becomes a leaf."""
    killed = descendants(table, node, room[_ROWS])[1:]
    for below in killed:
        row = table[below]
        if row["width"]:
            _leave_rows(table, room, np.int64(row["child"]), np.int64(row["width"]))
        row["slot"], row["width"] = -1, 0
        forget_trial(row)
    row = table[node]
    if row["width"]:
        _leave_rows(table, room, np.int64(row["child"]), np.int64(row["width"]))
    row["kind"], row["attribute"], row["child"], row["width"] = LEAF, -1, NO_NODE, 0


@njit()
def fork(table, matrices, room, blank, node):
    """Make a node a fork of itself and an alternate, a leaf without counts; return the row of the alternate.

    There are rows for two in the table.
    """
    first = take_rows(table, room, 2)
    for row in (first, first + 1):
        table[row]["parent"], table[row]["low"], table[row]["high"] = node, table[node]["low"], table[node]["high"]
        _clear(table, matrices, blank, row)
    table[first + 1]["majority"] = table[node]["majority"]
    _move(table, matrices, node, first)
    _clear(table, matrices, blank, node)
    row = table[node]
    row["kind"], row["attribute"], row["child"], row["width"] = FORK, 0, first, 2
    return first + 1


@njit()
def join(table, matrices, room, blank, node, branch):
    """Let a child of a fork take its place; the other one goes with all below it."""
    first = np.int64(table[node]["child"])
    kill(table, room, first + 1 - branch)
    _move(table, matrices, first + branch, node)
    for row in (first, first + 1):
        _clear(table, matrices, blank, row)
    _leave_rows(table, room, first, 2)


class Nodes:
    """The nodes of a tree, rows of arrays; node 0 is the root. Rows of killed nodes are used again.

    Every name in ``_FIELDS``, ``_PER_CLASS``, ``_PER_ATTRIBUTE`` and ``_PER_WINDOW`` is an attribute:
    an array of ``rows`` rows.

    A node with an alternate is a fork. Its children are two: the node as it would be without, which predicts, and the
    alternate. Instances reach both. What a node's place in the tree says, such as its range of codes, the fork has.

    Parameters
    ----------
    classes : int

    Attributes
    ----------
    table : structured array
        For compiled code; has more rows than are in use, and is replaced when nodes are added.
    blank : structured array (1,)
        A new node.
    room : int64 array
        Rows in use and those of killed nodes, for ``take_rows``.
    """

    def __init__(self, classes):
        self.classes = classes
        self.averages = 0
        self.room = np.full(_FAMILIES + _MOST_CHILDREN + 1, -1, np.int64)
        self.room[[_ROWS, _VACANT]] = 0
        self.blank = np.array([tuple(value for _, value in _FIELDS.values())], _DTYPE)
        self.table = np.zeros(0, _DTYPE)
        self._matrices = {name: np.zeros((0, classes), np.int64) for name in _PER_CLASS}
        self._matrices |= {name: np.zeros((0, 0)) for name in (*_PER_ATTRIBUTE, *_PER_WINDOW)}
        self.add(1)

    def __len__(self):
        return int(self.room[_ROWS] - self.room[_VACANT])

    @property
    def rows(self):
        """Rows in use, those of killed nodes among them."""
        return int(self.room[_ROWS])

    def __getattr__(self, name):
        if name in _FIELDS:
            return self.table[name][: self.rows]
        if name in _MATRICES:
            return self._matrices[name][: self.rows]
        raise AttributeError(name)

    @property
    def matrices(self):
        """``counts``, ``base``, ``gains`` and ``windows`` with all their rows, for compiled code."""
        return tuple(self._matrices.values())

    def average_over(self, attributes):
        """Sum up the gains of so many attributes from now on, 0: of none; new ones have had none."""
        known, self.averages = self.averages, attributes
        for name in _PER_ATTRIBUTE:
            if 0 < known < attributes:
                self._matrices[name] = np.pad(self._matrices[name], ((0, 0), (0, attributes - known)))
            elif known != attributes:
                self.tried[:] = 0
                self._matrices[name] = np.zeros((len(self.table), attributes))

    def watch(self, elements):
        """Have windows of so many elements, 0: none; where they are others than before, they are empty."""
        for name in _PER_WINDOW:
            if self._matrices[name].shape[1] != elements:
                self._matrices[name] = np.zeros((len(self.table), elements))

    def widen(self, classes):
        """Have counts for so many classes."""
        more = classes - self.classes
        for name in _PER_CLASS:
            self._matrices[name] = np.pad(self._matrices[name], ((0, 0), (0, more)))
        self.classes = classes

    def add(self, count):
        """Add a family of ``count`` leaves; return the row of the first."""
        self.reserve(count)
        first = int(take_rows(self.table, self.room, count))
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
        old, self.table = self.table, np.zeros(capacity, _DTYPE)
        self.table[: len(old)] = old
        for name, matrix in self._matrices.items():
            self._matrices[name] = np.zeros((capacity, matrix.shape[1]), matrix.dtype)
            self._matrices[name][: len(matrix)] = matrix

    def kill(self, node):
        """Forget all below a node, which becomes a leaf."""
        kill(self.table, self.room, node)

    def descendants(self, node=0):
        """A node and all below it, alternates, too, parents before children, left ones first; int array."""
        return descendants(self.table, node, self.rows)

    def leaves(self):
        """Indices of all leaves, those of alternates, too, from left to right in the tree; int array."""
        nodes = self.descendants()
        return nodes[self.kind[nodes] == LEAF]

    def inner(self):
        """Indices of all nodes with a test, those of alternates, too, parents before children; int array."""
        nodes = self.descendants()
        return nodes[(self.kind[nodes] != LEAF) & (self.kind[nodes] != FORK)]

    @property
    def inactive(self):
        """How many leaves hold no slot."""
        return int((self.slot[self.leaves()] < 0).sum())

    def predicting(self):
        """Indices of the nodes that predictions pass, parents before children; no forks, no alternates; int array."""
        return predicting(self.table, self.rows)[0]

    def standing(self, node):
        """A node, or of a fork the node that predicts."""
        return int(standing(self.table, node))

    @property
    def forks(self):
        """How many nodes have an alternate."""
        return int((self.kind[self.descendants()] == FORK).sum())

    def children(self, node):
        """Indices of a node's children."""
        return range(self.child[node], self.child[node] + self.width[node])

    def depth(self, node):
        """Splits above a node."""
        return sum(int(self.kind[over] != FORK) for over in [*self.path(node)][1:])

    @property
    def deepest(self):
        """Depth of the deepest leaf."""
        return int(predicting(self.table, self.rows)[1].max())

    def path(self, node):
        """Nodes from ``node`` up to the root, both included."""
        while node != NO_NODE:
            yield node
            node = int(self.parent[node])

    def code_range(self, node, attribute):
        """The codes ``[low, high)`` of a numeric attribute that a node's bins cover."""
        low, high = code_range(self.table, node, attribute)
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
        return {name: getattr(self, name).copy() for name in (*_FIELDS, *_MATRICES)}

    @classmethod
    def from_state(cls, state, attributes):
        """Nodes as saved, of a tree with so many attributes.

        Raises
        ------
        KeyError, ValueError
            If they are none, or no tree: compiled code would go astray in them.
        """
        if not len(state["kind"]):
            raise ValueError(_NO_TREE)
        nodes = cls(state["counts"].shape[1])
        nodes.average_over(state["gains"].shape[1])
        nodes.watch(state["windows"].shape[1])
        nodes.add(len(state["kind"]) - 1)
        for name in (*_FIELDS, *_MATRICES):
            getattr(nodes, name)[:] = state[name]
        nodes._check_links(attributes)
        used = np.zeros(nodes.rows, bool)
        used[nodes.descendants()] = True
        if ((nodes.kind[used] == LEAF) != (nodes.width[used] == 0)).any():
            raise ValueError(_NO_TREE)
        for row in np.flatnonzero(~used):
            _leave_rows(nodes.table, nodes.room, int(row), 1)
        return nodes

    def _check_links(self, attributes):
        inner = np.flatnonzero(self.width)
        child, width = self.child[inner], self.width[inner]
        sound = (
            ((self.kind >= LEAF) & (self.kind <= FORK)).all()
            and (width[self.kind[inner] == FORK] == 2).all()
            and ((self.majority >= 0) & (self.majority < self.classes)).all()
            and self.parent[0] == NO_NODE
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
