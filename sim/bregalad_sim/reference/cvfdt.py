"""CVFDT. Hulten, Spencer and Domingos, Mining time-changing data streams, KDD 2001, tables 1 to 3."""

import math
from collections import deque

from .learner import MIN_GAIN, Learner, Pending, best_two
from .node import MULTIWAY, Node

PROGRESS = 0.01  # by which an alternate must come closer from test to test


class _WindowNode(Node):
    """A node of a tree that forgets; its fallback is what it predicted before it was empty."""

    beside = None  # the node that this is the alternate of
    born = made = 0  # instances that came before those of `observed`; of `inherited`
    age = score = 0
    best = -math.inf

    @property
    def upwards(self):
        """This node and those above that count the same instances."""
        node = self
        while node is not None:
            yield node
            node = node.parent if node.beside is None else None

    @property
    def top(self):
        *_, last = self.upwards
        return last


class ReferenceCVFDT(Learner):
    """Concept-adapting very fast decision tree.

    Parameters
    ----------
    capacities, classes, ...
        As ``Learner``.
    window : int
    same_attribute : "keep" or "replace"
        Whether an alternate may be split on another threshold of the same attribute.
    inner_grace : int
        Instances between attempts of an inner node.
    test_every, test_length : int
        Instances between two tests of an alternate; in one.
    """

    node_kind = _WindowNode

    def __init__(
        self, capacities, classes, *, window, inner_grace, test_every, test_length, same_attribute="keep", **options
    ):
        self.window, self.inner_grace = window, inner_grace
        self.test_every, self.test_length = test_every, test_length
        self.same_attribute = same_attribute
        self._past = deque()
        super().__init__(capacities, classes, **options)

    def _leaf(self, observers, **place):
        leaf = super()._leaf(observers, **place)
        leaf.born = leaf.made = self.event_counts.instances
        return leaf

    # Learning

    def _learn(self, x, label):
        number = self.event_counts.instances
        if number > self.window:
            old, old_label = self._past.popleft()
            for leaf in self._leaves_of(old):
                self._forget(leaf, old, old_label, number - self.window)
        self._past.append((x, label))
        leaves = self._leaves_of(x)
        guess = leaves[0].majority
        worths = [self._worth(leaf, label) for leaf in leaves]
        for leaf in leaves:
            for node in leaf.upwards:
                self._count(node, x, label, 1)
                node.since += 1
                self._ripe |= node.since >= node.period
            leaf.fallback = leaf.majority
        for leaf, worth in zip(leaves[1:], worths[1:], strict=True):
            self._compare(leaf.top, worth - worths[0])
        return guess, math.inf

    @staticmethod
    def _worth(leaf, label):
        """What a leaf's prediction counts in a test."""
        return float(leaf.majority == label)

    def _leaves_of(self, x):
        """The leaf that predicts, and those that the instance reaches by alternates."""
        found, waiting = [], [self.root]
        while waiting:
            path = waiting.pop(0).path(x)
            found.append(path[-1])
            waiting += [node.alternate for node in reversed(path) if node.alternate is not None]
        return found

    @staticmethod
    def _count(node, x, label, weight):
        node.observed[label] += weight
        for attribute, value in enumerate(x):
            if value == value:
                node.observers[attribute].count(value, label, weight)

    def _forget(self, leaf, x, label, number):
        """Weight -1 at every node that has counted the instance."""
        for node in leaf.upwards:
            if number > node.born:
                self._count(node, x, label, -1)
            elif number > node.made and node.inherited[label]:
                node.inherited[label] -= 1
        leaf.fallback = leaf.majority

    # Attempts

    def _may_split(self, node):
        if any(entry.node is node for entry in self._pending) or not node.observed.any():
            return False
        if node.kind:  # none that has an alternate, or is in one
            return node.alternate is None and node.top.beside is None
        return super()._may_split(node)

    def attempt(self, node, total):
        """Split a leaf; begin an alternate of an inner node."""
        candidates = self.candidates(node)
        if not candidates:
            return None
        Xa, *others = best_two(candidates)
        attempt = self.facts(node, total)
        if not node.kind:
            gap = Xa.gain - max(others[0].gain if others else -math.inf, 0.0)
            sure = self.bound.sure(gap, attempt)
            splits = Xa.gain >= MIN_GAIN and (sure or self.bound.tied(attempt))
            return (lambda node: self._split_leaf(node, Xa, not sure)) if splits else None
        if Xa.attribute == node.attribute:
            moves = self.same_attribute == "replace" and node.kind != MULTIWAY
            return (lambda node: self._reconsider(node, Xa)) if moves else None
        gap = Xa.gain - sum(candidate.gain for candidate in candidates if candidate.attribute == node.attribute)
        return (lambda node: self._begin_alternate(node, Xa)) if self._beats(gap, attempt) else None

    def _beats(self, gap, attempt):
        """Whether a gap is enough to begin an alternate."""
        return self.bound.sure(gap, attempt) or self.bound.tied(attempt) and gap > self.bound.half_tau()

    # Decisions

    def _split_leaf(self, node, candidate, tie):
        self.event_counts.splits += 1
        self._split(node, candidate, tie, node)

    def _split(self, node, candidate, tie, source):
        """Make a node a test, by what another, or itself, has counted."""
        self.split(node, candidate, 0.0, tie, source)
        node.since, node.period = 0, self.inner_grace
        for child in node.children:
            if self.options.child_counts == "inherit":
                child.made = source.born

    def _reconsider(self, node, candidate):
        """Begin an alternate at another threshold of the node's attribute, if that is enough better by now."""
        if candidate.threshold == node.threshold:
            return
        better, worse = (self.gain_at(node, node.attribute, at) for at in (candidate.threshold, node.threshold))
        if self._beats(better - worse, self.facts(node, node.counts)):
            self._begin_alternate(node, candidate)

    def _begin_alternate(self, node, candidate):
        place = {name: getattr(node, name) for name in ("parent", "branch", "height", "used")}
        node.alternate = self._leaf([observer.fresh() for observer in node.observers], **place)
        node.alternate.beside = node
        self._split(node.alternate, candidate, False, node)
        self.event_counts.alternates += 1

    def _compare(self, alternate, better):
        """Count an instance for which an alternate's prediction is worth so much more than its node's."""
        cycle = self.test_every + self.test_length
        alternate.age += 1
        if 0 < alternate.age % cycle <= self.test_every:
            return
        alternate.score += better
        if alternate.age % cycle:
            return
        score, alternate.score = alternate.score, 0
        if score > 0:
            self._decide(self._swap, alternate)
        elif score < alternate.best + PROGRESS * self.test_length:
            self._decide(self._drop, alternate)
        alternate.best = max(alternate.best, score)

    def _decide(self, change, alternate):
        if not any(entry.node is alternate for entry in self._pending):
            self._pending.append(Pending(self._decision_time, alternate, False, change))

    def _swap(self, alternate):
        node = alternate.beside
        node.alternate = alternate.beside = None
        self._kill(node)
        if node.parent is None:
            self.root = alternate
        else:
            node.parent.children[node.branch] = alternate
        self.event_counts.swapped += 1

    def _drop(self, alternate):
        alternate.beside.alternate = None
        self._kill(alternate)
        self.event_counts.dropped += 1

    def _kill(self, top):
        """Nothing happens any more to a node, nor to what is below it and beside that."""
        gone = [top]
        for node in gone:
            gone += [*node.children, *([node.alternate] if node.alternate is not None else [])]
        self._pending = [entry for entry in self._pending if entry.node not in gone]
