"""The tree of ID5R and ITI: what batch ID3 builds of all instances so far, kept up as more come; and these instances.

Source: Utgoff, Incremental induction of decision trees, Machine Learning 4, 1989; An improved algorithm for
incremental induction of decision trees, ICML 1994.
"""

from collections import namedtuple

import numpy as np

from ...geometry import MISSING
from ...interrupt import deferred_interrupt
from .kernel import Data, Plan, Work, best_test, branches, divide, logarithms


class Instances:
    """Numbers, codes of nominal values and labels, one column after the other, with so many attributes of each kind.

    ``data`` has all of them: arrays that are never written to.
    """

    def __init__(self, numeric, nominal):
        self.data = Data(np.empty((numeric, 0)), np.empty((0, nominal), np.uint8), np.empty(0, np.int32))
        self._orders = np.empty((numeric, 0), np.int32)  # by rising value, missing ones last

    @property
    def count(self):
        """How many there are."""
        return len(self.data.labels)

    def work(self):
        """Orders of all instances, to be divided among the nodes of a tree: `Work`."""
        count = self.count
        rows, side, spare = np.arange(count, dtype=np.int32), np.empty(count, np.int16), np.empty(count, np.int32)
        return Work(rows, self._orders.copy(), side, spare)

    def add(self, data):
        """Take in more; returns their numbers, int32 array. Not to be interrupted, or an order would lack some."""
        kept, start = self.data, self.count
        orders = np.empty((len(self._orders), start + len(data.labels)), np.int32)
        for column, order in enumerate(self._orders):
            added = np.argsort(data.numbers[column], kind="stable")
            places = np.searchsorted(kept.numbers[column, order], data.numbers[column, added], side="right")
            orders[column] = np.insert(order, places, added + start)
        numbers = np.concatenate([kept.numbers, data.numbers], axis=1)
        codes, labels = (np.concatenate(pair) for pair in ((kept.codes, data.codes), (kept.labels, data.labels)))
        self.data, self._orders = Data(numbers, codes, labels), orders
        return np.arange(start, self.count, dtype=np.int32)

    def widen(self, numeric, nominal):
        """Have so many attributes of each kind; the values of the new ones are missing in all instances."""
        numbers, codes, labels = self.data
        more = numeric - len(numbers)
        self._orders = np.concatenate([self._orders, np.tile(np.arange(self.count, dtype=np.int32), (more, 1))])
        self.data = Data(
            np.pad(numbers, ((0, more), (0, 0)), constant_values=np.nan),
            np.pad(codes, ((0, 0), (0, nominal - codes.shape[1])), constant_values=MISSING),
            labels,
        )


Test = namedtuple("Test", "attribute value")  # of an inner node, as `best_test` tells it


class Node:
    """A leaf, which has its instances, or an inner node, which has a test and a child for each branch taken."""

    __slots__ = ("test", "children", "rows", "size", "stale")

    def __init__(self, rows):
        self.test, self.children = None, {}  # the children by branch, see `branches`
        self.rows = rows  # int32 array, a leaf's instances; None of an inner node
        self.size = len(rows)  # instances here and below
        self.stale = len(rows) > 1  # whether it, or a node below, may not be what ID3 would make of its instances

    def nodes(self):
        """This node and all below it, parents first, with their depths."""
        waiting = [(self, 0)]
        while waiting:
            node, depth = waiting.pop()
            yield node, depth
            waiting += [(child, depth + 1) for child in node.children.values()]


class Tree:
    """A tree that learns.

    Whatever is interrupted loses no instance: the tree is built anew of all that it keeps. ``numeric`` says per
    attribute whether it is numeric, else nominal; ``multiway`` whether nominal attributes have a branch for each value,
    else one value is tested against the rest. It counts attempts (a node's best test was looked for), splits of
    leaves, inner nodes replaced (another test was better) and pruned: none, for instances only come.
    """

    def __init__(self, numeric, multiway):
        self.event_counts = dict.fromkeys(("attempts", "splits", "replaced", "pruned"), 0)
        self._multiway = multiway
        self._numeric = numeric
        self.instances = Instances(numeric.count(True), numeric.count(False))
        self._root = self._plan = None

    @property
    def root(self):
        """The root."""
        if self._root is None:
            event_counts = dict(self.event_counts)
            self._root = self._ensured(Node(np.arange(self.instances.count, dtype=np.int32)))
            self.event_counts = event_counts  # nothing is learnt that was not before
        return self._root

    def learn(self, data, values, classes):
        """Learn instances; ``values`` has of each nominal attribute a list of its values by code."""
        root = self.root
        self._root = None  # as long as it is half changed
        with deferred_interrupt():  # or the plan would not be of all instances
            rows = self.instances.add(data)
            self._prepare(values, classes)
        self._add(root, rows)
        self._root = self._ensured(root)

    def widen(self, numeric):
        """Have more attributes; their values are missing in all instances so far."""
        self._root = self.root  # by the plan that is still there
        self._numeric, self._plan = numeric, None
        self.instances.widen(numeric.count(True), numeric.count(False))

    def _prepare(self, values, classes):
        """Make a plan for these values and classes, and all instances."""
        numeric = np.array(self._numeric, np.bool_)
        if self._plan is None or len(self._plan.logs) <= self.instances.count:
            logs = logarithms(2 * self.instances.count)
        else:
            logs = self._plan.logs
        self._plan = Plan(
            numeric,
            np.where(numeric, np.cumsum(numeric), np.cumsum(~numeric)) - 1,
            np.cumsum([0, *map(len, values)], dtype=np.int64),
            np.concatenate([np.zeros(0, np.int64), *map(_ranked, values)]),
            self._multiway,
            classes,
            logs,
        )

    def _add(self, root, rows):
        """Hand instances down to the leaves."""
        waiting = [(root, rows)]
        while waiting:
            node, rows = waiting.pop()
            node.size += len(rows)
            node.stale = True
            if node.test is None:
                node.rows = np.concatenate([node.rows, rows])
                continue
            for branch, part in _parts(rows, self._branches(self.instances.data, node.test, rows)):
                child = node.children.get(branch)
                if child is None:
                    node.children[branch] = Node(part)
                else:
                    waiting.append((child, part))

    def _branches(self, data, test, rows):
        return branches(data, self._plan, test.attribute, test.value, rows)

    def _ensured(self, root):
        """The same tree, every node of it with the test that ID3 would give it."""
        data, work = self.instances.data, self.instances.work()
        waiting = [(root, 0)]  # stale nodes, and where their instances start in the orders
        while waiting:
            node, low = waiting.pop()
            high = low + node.size
            node.stale = False
            if not node.size:
                continue
            test = Test(*best_test(data, self._plan, work, low, high))
            self.event_counts["attempts"] += 1
            if test.attribute < 0:
                continue
            starts = divide(data, self._plan, work, *test, low, high).tolist()
            if node.test != test:
                self.event_counts["splits" if node.test is None else "replaced"] += 1
                stretches = enumerate(zip(starts, starts[1:], strict=False), -1)
                node.children = {branch: Node(work.rows[a:b].copy()) for branch, (a, b) in stretches if a < b}
                node.test, node.rows = test, None
            waiting += [(child, starts[branch + 1]) for branch, child in node.children.items() if child.stale]
        return root

    # Looking

    def reached(self, data, count):
        """Yield the nodes that instances come to, and which of them: leaves, or where there is no branch for them."""
        waiting = [(self.root, np.arange(count, dtype=np.int32))]
        while waiting:
            node, rows = waiting.pop()
            if node.test is None:
                yield node, rows
                continue
            for branch, part in _parts(rows, self._branches(data, node.test, rows)):
                if branch in node.children:
                    waiting.append((node.children[branch], part))
                else:
                    yield node, part

    def counts(self, node, classes):
        """How many of a node's instances are of each class, int64 array (classes,)."""
        leaves = [each.rows for each, _ in node.nodes() if each.test is None]
        return np.bincount(self.instances.data.labels[np.concatenate(leaves)], minlength=classes)

    def __getstate__(self):
        return {**self.__dict__, "_root": None}  # which may be as deep as there are instances


def majority(counts, classes):
    """The class with most counts, of equal ones the lower label: its place, array (...), in an array (..., classes)."""
    ranks = np.argsort(classes)  # classes may have come in any order
    return ranks[counts[..., ranks].argmax(axis=-1)]


def _parts(rows, sides):
    """Yield each branch that is taken, and the instances that take it."""
    if len(rows) == 1:
        yield int(sides[0]), rows
    elif len(rows):
        for side in np.flatnonzero(np.bincount(sides + 1)).tolist():
            yield side - 1, rows[sides == side - 1]


def _ranked(values):
    """Codes by rising values, numbers before texts."""
    return np.array(
        sorted(range(len(values)), key=lambda code: (isinstance(values[code], str), values[code])), np.int64
    )
