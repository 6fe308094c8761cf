"""CVFDT. Hulten, Spencer and Domingos, Mining time-changing data streams, KDD 2001, tables 1 to 3.

Instance by instance, in plain Python; numeric attributes are seen through the board's zoomed bins.
"""

import math
from collections import deque

import numpy as np

from .blocks import Blocks
from .bounds import Trial
from .criteria import CRITERIA, impurity, reduction
from .learner import MIN_GAIN, SAME, Candidate, Tally, best_two
from .observers import CODES
from .options import Options

__all__ = ["ReferenceCVFDT"]

MISSING = 255
PROGRESS = 0.01  # by which an alternate must come closer from test to test


class _Node:
    def __init__(self, owner, parent, height, zoom, used):
        self.parent, self.height, self.zoom, self.used = parent, height, dict(zoom), used
        self.kind, self.attribute, self.threshold, self.default, self.children = "", -1, 0, 0, []
        self.alternate = self.beside = None  # the alternate of this node; the node that this is the alternate of
        self.base, self.own = np.zeros((2, owner.classes), np.int64)
        self.table = [np.zeros((capacity or owner.bins, owner.classes), np.int64) for capacity in owner.capacities]
        self.majority = 0
        self.since, self.period = 0, owner.options.grace
        self.tried_at = -math.inf  # instances that the tree had learnt then
        self.born = self.made = owner.tally.instances  # instances that came before those of `own`; of `base`
        self.age = self.score = 0
        self.best = -math.inf
        self.gone = False

    @property
    def counts(self):
        return self.base + self.own

    @property
    def above(self):
        """The node above that counts the same instances."""
        return None if self.beside is not None else self.parent

    @property
    def path(self):
        node = self
        while node is not None:
            yield node
            node = node.above

    @property
    def top(self):
        *_, last = self.path
        return last

    def settle_majority(self):
        if self.counts.any():  # an empty leaf predicts as before
            self.majority = int(np.argmax(self.counts))


class ReferenceCVFDT(Blocks):
    """Concept-adapting very fast decision tree.

    Parameters
    ----------
    capacities : sequence of int
        Per attribute 0 (numeric) or the number of values.
    classes : int
    window : int
    same_attribute : "keep" or "replace"
        Whether an alternate may be split on another threshold of the same attribute.
    inner_grace : int
        Instances between trials of an inner node.
    test_every, test_length : int
        Instances between two tests of an alternate; in one.
    bins : int
    options
        Of `Options`.

    Attributes
    ----------
    root : node
    tally : Tally
    alternates, swapped, dropped : int
    """

    def __init__(
        self,
        capacities,
        classes,
        *,
        window,
        inner_grace,
        test_every,
        test_length,
        same_attribute="keep",
        bins=16,
        **options,
    ):
        self.options = Options(**options)
        self.options.check(capacities, classes)
        self.capacities, self.classes, self.bins = tuple(capacities), classes, bins
        self.window, self.inner_grace = window, inner_grace
        self.test_every, self.test_length = test_every, test_length
        self.same_attribute = same_attribute
        self.bound = self.options.make_bound()
        self._criterion = CRITERIA.index(self.options.criterion)
        self.tally = Tally()
        self.alternates = self.swapped = self.dropped = 0
        self._past = deque()
        self._pending = []  # (instances when it was decided, what is to be done, node or alternate)
        whole = {a: self._zoom(0, CODES) for a, capacity in enumerate(capacities) if not capacity}
        self.root = _Node(self, None, 0, whole, frozenset())
        self._begin_block()

    def _zoom(self, low, high):
        shift = 0
        while self.bins << shift < high - low:
            shift += 1
        return low, high, shift

    def learn(self, codes, labels):
        """Predict, then learn each instance in order; predictions as an int array (n,)."""
        return np.array(
            [self._learn_one(row, label) for row, label in zip(codes.tolist(), labels.tolist(), strict=True)]
        )

    def _learn_one(self, row, label):
        number = self.tally.instances + 1
        if number > self.window:
            old, old_label = self._past.popleft()
            for leaf in self._leaves(old):
                self._forget(leaf, old, old_label, number - self.window)
        self._past.append((row, label))
        self.tally.instances = number
        leaves = self._leaves(row)
        guess = leaves[0].majority
        worths = [self._worth(leaf, label) for leaf in leaves]
        for leaf in leaves:
            for node in leaf.path:
                self._count(node, row, label, 1)
                node.since += 1
            leaf.settle_majority()
        self._hurry(leaves[0].since, leaves[0].period, leaves[0].tried_at)
        for leaf, worth in zip(leaves[1:], worths[1:], strict=True):
            self._compare(leaf.top, worth - worths[0])
        if number == self._ends:
            self._end_block()
        return guess

    def _nodes(self):
        found, waiting = [], [self.root]
        while waiting:
            found.append(waiting.pop())
            waiting += found[-1].children
            if found[-1].alternate is not None:
                waiting.append(found[-1].alternate)
        return found

    @property
    def leaves(self):
        """How many predict."""
        return sum(not node.kind and node.top.beside is None for node in self._nodes())

    @staticmethod
    def _worth(leaf, label):
        """What a leaf's prediction counts in a test."""
        return float(leaf.majority == label)

    def _leaves(self, row):
        """The leaf that predicts, and those that the instance reaches by alternates."""
        found, waiting = [], [self.root]
        while waiting:
            node = waiting.pop(0)
            forks = []
            while True:
                if node.alternate is not None:
                    forks.append(node.alternate)
                if not node.kind:
                    break
                node = node.children[self._branch(node, row[node.attribute])]
            found.append(node)
            waiting += reversed(forks)
        return found

    @staticmethod
    def _branch(node, code):
        if code == MISSING:
            return node.default
        if node.kind == "numeric":
            return int(code >= node.threshold)
        if node.kind == "multiway":
            return code if code < len(node.children) else node.default
        return int(code != node.threshold)

    def _count(self, node, row, label, weight):
        node.own[label] += weight
        for attribute, code in enumerate(row):
            if code == MISSING:
                continue
            if not self.capacities[attribute]:
                low, _, shift = node.zoom[attribute]
                code = min(max(code - low, 0) >> shift, self.bins - 1)
            node.table[attribute][code, label] += weight

    def _forget(self, leaf, row, label, number):
        """Weight -1 at every node that has counted the instance."""
        for node in leaf.path:
            if number > node.born:
                self._count(node, row, label, -1)
            elif number > node.made and node.base[label]:
                node.base[label] -= 1
        leaf.settle_majority()

    # Trials

    def _due(self):
        return [node for node in self._nodes() if node.since >= node.period]

    def _try(self, node):
        node.since, node.tried_at = 0, self.tally.instances
        self.tally.trials += 1
        if np.count_nonzero(node.counts) > 1 and node.own.sum():
            self._attempt(node)

    def _attempt(self, node):
        self._judge(node, self._decide)

    def _judge(self, node, decide):
        """Have something decided on a node."""
        candidates = self._candidates(node)
        if not candidates:
            return
        Xa, *others = best_two(candidates)
        trial = Trial(node.counts.sum(), node.height, self.tally.instances, len(self.capacities), self.classes)
        if not node.kind:
            deepest = self.options.max_depth
            gap = Xa.gain - max(others[0].gain if others else -math.inf, 0.0)
            sure = self.bound.sure(gap, trial)
            if (deepest is None or node.height < deepest) and Xa.gain >= MIN_GAIN and (sure or self.bound.tied(trial)):
                decide(lambda: self._split_leaf(node, Xa, not sure), node)
        elif node.alternate is not None or node.top.beside is not None:
            return
        elif Xa.attribute == node.attribute:
            if self.same_attribute == "replace" and node.kind != "multiway":
                decide(lambda: self._reconsider(node, Xa), node)
        else:
            gap = Xa.gain - sum(candidate.gain for candidate in candidates if candidate.attribute == node.attribute)
            if self.bound.sure(gap, trial) or self.bound.tied(trial) and gap > self.bound.half_tau():
                decide(lambda: self._begin_alternate(node, Xa), node)

    def _candidates(self, node):
        found = []
        for attribute, capacity in enumerate(self.capacities):
            if attribute in node.used:
                continue
            table = node.table[attribute]
            if not capacity:
                kind, (low, _, step) = "numeric", node.zoom[attribute]
                thresholds = [low + (value << step) for value in range(1, self.bins)]
            else:
                kind = self.options.nominal_split
                thresholds = [0] if kind == "multiway" else list(range(capacity))
            gains = np.array([self._gain(node, self._sides(node, attribute, kind, at)) for at in thresholds])
            best = int(np.argmax(gains >= gains.max() - SAME))
            found.append(Candidate(attribute, kind, thresholds[best], float(gains[best]), 0.0))
            assert table.sum() <= node.own.sum()
        return found

    def _sides(self, node, attribute, kind, threshold):
        table = node.table[attribute]
        if kind == "multiway":
            return table[: np.flatnonzero(table.any(axis=1)).max(initial=0) + 1]
        if kind == "numeric":
            low, _, step = node.zoom[attribute]
            left = table[: threshold - low >> step].sum(axis=0)
        else:
            left = table[threshold]
        return np.stack([left, table.sum(axis=0) - left])

    def _gain(self, node, sides):
        """The gain of a split of a node."""
        found = float(reduction(self._criterion, sides[None, None].astype(float))[0, 0])
        return found / node.own.sum() + self._impurity(node.counts) - self._impurity(node.own)

    def _impurity(self, counts):
        return impurity(self._criterion, counts.astype(float))

    # Decisions

    def _decide(self, change, node, made=None):
        if not any(other is node for _, _, other in self._pending):
            self._pending.append((self.tally.instances if made is None else made, change, node))

    def _take_effect(self, made=math.inf):
        ready = [each for each in self._pending if each[0] <= made]
        self._pending = [each for each in self._pending if each[0] > made]
        for _, change, node in sorted(ready, key=lambda each: each[2].height):
            if not node.gone:
                change()

    def _split_leaf(self, node, candidate, tie):
        self.tally.splits += 1
        self.tally.ties += tie
        self._split(node, candidate, node)

    def _split(self, node, candidate, source):
        """Make a node a test, by what another, or itself, has counted."""
        sides = self._sides(source, candidate.attribute, candidate.kind, candidate.threshold).copy()
        default = int(np.argmax(sides.sum(axis=1)))
        sides[default] += np.maximum(source.own - sides.sum(axis=0), 0)
        counts = source.counts
        fallback = int(np.argmax(counts)) if counts.any() else source.majority
        node.kind, node.attribute, node.threshold = candidate.kind, candidate.attribute, candidate.threshold
        node.default, node.since, node.period = default, 0, self.inner_grace
        used = node.used | ({candidate.attribute} if candidate.kind == "multiway" else set())
        for branch, side in enumerate(sides):
            leaf = _Node(self, node, node.height + 1, node.zoom, used)
            if candidate.kind == "numeric":
                low, high, _ = node.zoom[candidate.attribute]
                middle = min(max(candidate.threshold, low), high)
                ends = (middle, high) if branch else (low, middle)
                leaf.zoom[candidate.attribute] = self._zoom(*ends)
            leaf.majority = int(np.argmax(side)) if side.any() else fallback
            if self.options.child_counts == "inherit":
                leaf.base[:] = side
                leaf.made = source.born
            node.children.append(leaf)

    def _reconsider(self, node, candidate):
        """Begin an alternate at another threshold of the node's attribute, if that is enough better by now."""
        if candidate.threshold == node.threshold:
            return
        sides = [self._sides(node, node.attribute, node.kind, at) for at in (candidate.threshold, node.threshold)]
        better, worse = (self._gain(node, each) for each in sides)
        gap = better - worse
        trial = Trial(node.counts.sum(), node.height, self.tally.instances, len(self.capacities), self.classes)
        if self.bound.sure(gap, trial) or self.bound.tied(trial) and gap > self.bound.half_tau():
            self._begin_alternate(node, candidate)

    def _begin_alternate(self, node, candidate):
        alternate = _Node(self, node.parent, node.height, node.zoom, node.used)
        alternate.beside, node.alternate = node, alternate
        self._split(alternate, candidate, node)
        self.alternates += 1

    def _compare(self, alternate, better):
        """Count an instance for which an alternate's prediction is worth so much more than its node's."""
        cycle = self.test_every + self.test_length
        alternate.age += 1
        if 0 < alternate.age % cycle <= self.test_every:
            return
        alternate.score += better
        if alternate.age % cycle:
            return
        node, score = alternate.beside, alternate.score
        alternate.score = 0
        if score > 0:
            self._decide(lambda: self._swap(node), alternate, self._decision_time)
        elif score < alternate.best + PROGRESS * self.test_length:
            self._decide(lambda: self._drop(node), alternate, self._decision_time)
        alternate.best = max(alternate.best, score)

    def _swap(self, node):
        alternate = node.alternate
        self._kill(node, alternates=False)
        alternate.beside = None
        if node.parent is None:
            self.root = alternate
        else:
            node.parent.children[node.parent.children.index(node)] = alternate
        self.swapped += 1

    def _drop(self, node):
        self._kill(node.alternate)
        node.alternate = None
        self.dropped += 1

    def _kill(self, node, alternates=True):
        node.gone = True
        if alternates and node.alternate is not None:
            self._kill(node.alternate)
        for child in node.children:
            self._kill(child)
