"""Textbook VFDT in float64, one instance at a time: the judge of the accelerated tree's decisions.

Domingos and Hulten, Mining high-speed data streams, KDD 2000, table 1, with the conventions of MOA
where the paper is silent: n is looked at every ``grace`` instances of a leaf, a child may inherit
the class counts of its side of the split, and the entropy before a split is that of all the leaf's
class counts. Numeric attributes are observed in zoomed bins, as on the board. Nothing here is
shared with the board, its model or its driver.
"""

import math
from dataclasses import dataclass, field

import numpy as np

__all__ = ["ReferenceTree", "Node"]

MISSING = 255
_SAME = 1e-9  # gains closer than this are equal: the lower attribute, then the lower threshold wins


@dataclass
class Node:
    """A leaf, or (``kind`` set) an inner node."""

    classes: int
    ranges: dict  # numeric attribute: (low, high) of the codes that can come
    inherited: np.ndarray
    fallback: int = 0  # prediction of a leaf that has no counts
    counts: np.ndarray = None  # classes for predictions, inherited ones included
    own: np.ndarray = None  # classes of the instances seen here
    table: list = None  # per attribute: class counts per bin or value
    since: int = 0
    # of an inner node:
    kind: str = ""
    attribute: int = -1
    threshold: int = 0
    default: int = 0
    children: list = field(default_factory=list)
    margin: float = 0.0  # bits by which the closest of its decisions was taken


def entropy(counts):
    """Bits."""
    total = counts.sum()
    share = counts[counts > 0] / total
    return float(-(share * np.log2(share)).sum())


class ReferenceTree:
    """VFDT over attribute codes.

    Parameters
    ----------
    capacities : sequence of int
        Per attribute 0 (numeric) or the number of values.
    classes, bins : int
    delta, tau, grace, child_counts, nominal_split
        As ``HoeffdingPolicy`` and ``CellMap``.
    """

    def __init__(self, capacities, classes, bins=16, delta=1e-7, tau=0.05, grace=200,
                 child_counts="inherit", nominal_split="multiway"):
        self.capacities = list(capacities)
        self.classes = classes
        self.bins = bins
        self.delta, self.tau, self.grace = delta, tau, grace
        self.child_counts, self.nominal_split = child_counts, nominal_split
        self.splits = []  # (instances seen, attribute, kind, threshold, margin)
        self.seen = 0
        ranges = {a: (0, MISSING) for a, values in enumerate(self.capacities) if not values}
        self.root = self._leaf(ranges, np.zeros(classes, np.int64), 0)

    def _leaf(self, ranges, counts, fallback):
        inherited = counts if self.child_counts == "inherit" else np.zeros_like(counts)
        leaf = Node(self.classes, ranges, inherited, fallback)
        leaf.counts = inherited.copy()
        leaf.own = np.zeros(self.classes, np.int64)
        leaf.table = np.zeros((len(self.capacities), max([self.bins, *self.capacities]),
                               self.classes), np.int64)
        return leaf

    def _shift(self, codes):
        return max(0, math.ceil(math.log2(codes / self.bins))) if codes else 0

    def learn(self, codes, label):
        """Predict one instance, then learn it; returns the prediction."""
        self.seen += 1
        leaf = self.leaf(codes)
        prediction = self.majority(leaf)
        leaf.counts[label] += 1
        leaf.own[label] += 1
        index = np.array(codes, np.int64)
        for attribute, (low, high) in leaf.ranges.items():
            if codes[attribute] != MISSING:
                shift = self._shift(high - low)
                index[attribute] = min(max(codes[attribute] - low, 0) >> shift, self.bins - 1)
        known = np.flatnonzero(np.asarray(codes) != MISSING)
        leaf.table[known, index[known], label] += 1
        leaf.since += 1
        if leaf.since == self.grace:
            leaf.since = 0
            self.attempt(leaf)
        return prediction

    def leaf(self, codes):
        """The leaf that an instance reaches."""
        node = self.root
        while node.kind:
            node = node.children[self.branch(node, codes[node.attribute])]
        return node

    @staticmethod
    def branch(node, code):
        """Which child a code goes to."""
        if code == MISSING:
            return node.default
        if node.kind == "numeric":
            return int(code >= node.threshold)
        if node.kind == "one_vs_rest":
            return int(code != node.threshold)
        return int(code) if code < len(node.children) else node.default

    @staticmethod
    def majority(leaf):
        """The class predicted."""
        return int(np.argmax(leaf.counts)) if leaf.counts.any() else leaf.fallback

    def candidates(self, leaf, attribute):
        """``(gain, threshold, sides)`` of an attribute's every split, gain over known values."""
        capacity = self.capacities[attribute]
        table = leaf.table[attribute]
        known = table.sum(axis=0)
        before = entropy(known) if known.any() else 0.0

        def weigh(sides):
            after = sum(side.sum() * entropy(side) for side in sides if side.any())
            return known.sum() * before - after

        if not capacity:
            low, high = leaf.ranges[attribute]
            shift = self._shift(high - low)
            for last in range(self.bins - 1):
                sides = [table[:last + 1].sum(axis=0), table[last + 1:].sum(axis=0)]
                yield weigh(sides), low + (last + 1 << shift), sides
        elif self.nominal_split == "one_vs_rest":
            for value in range(capacity):
                sides = [table[value], known - table[value]]
                yield weigh(sides), value, sides
        else:
            highest = max(np.flatnonzero(table.any(axis=1)), default=0)
            yield weigh(list(table)), 0, list(table[:highest + 1])

    def attempt(self, leaf):
        """Split a leaf if Hoeffding's bound, or the tie threshold, allows it."""
        both = leaf.own + leaf.inherited
        if np.count_nonzero(both) < 2:
            return
        found = []
        for attribute in range(len(self.capacities)):
            best = None
            for candidate in self.candidates(leaf, attribute):
                if best is None or candidate[0] > best[0] + _SAME:
                    best = candidate
            gain = best[0] / leaf.own.sum() + entropy(both) - entropy(leaf.own)
            found.append((gain, attribute, *best[1:]))
        best = second = None
        for candidate in found:
            if best is None or candidate[0] > best[0] + _SAME:
                best, second = candidate, best
            elif second is None or candidate[0] > second[0] + _SAME:
                second = candidate
        epsilon = math.log2(max(2, self.classes)) * math.sqrt(
            math.log(1 / self.delta) / (2 * both.sum()))
        gap = best[0] - max(second[0] if second else 0.0, 0.0)
        if best[0] <= _SAME or not (gap > epsilon or epsilon < self.tau):
            return
        tie = gap <= epsilon
        margin = min(best[0], gap if tie else min(gap, gap - epsilon))
        self.split(leaf, best, margin)

    def split(self, leaf, candidate, margin):
        """Turn a leaf into a test."""
        _, attribute, threshold, sides = candidate
        sides = [side.copy() for side in sides]
        default = int(np.argmax([side.sum() for side in sides]))
        sides[default] += leaf.own - sum(sides)  # the missing go where later ones will go
        fallback = self.majority(leaf)
        for branch, side in enumerate(sides):
            ranges = dict(leaf.ranges)
            if not self.capacities[attribute]:
                low, high = ranges[attribute]
                ranges[attribute] = ((low, min(threshold, high)) if branch == 0
                                     else (min(threshold, high), high))
            leaf.children.append(self._leaf(
                ranges, side, int(np.argmax(side)) if side.any() else fallback))
        if not self.capacities[attribute]:
            leaf.kind = "numeric"
        else:
            leaf.kind = self.nominal_split
        leaf.attribute, leaf.threshold, leaf.default = attribute, threshold, default
        leaf.margin = margin
        leaf.table = None
        self.splits.append((self.seen, attribute, leaf.kind, threshold, margin))
