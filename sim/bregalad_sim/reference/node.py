"""The nodes of a tree."""

import numpy as np

NUMERIC, MULTIWAY, ONE_VS_REST = "numeric", "multiway", "one_vs_rest"
LONG_AGO = -(1 << 62)


class Node:
    """A leaf, or with a ``kind`` a test."""

    def __init__(self, classes, observers, *, parent=None, branch=0, height=0, used=frozenset(), fallback=0):
        # Of the test: "" is a leaf's kind; the default is the branch of missing and unknown values.
        self.kind, self.attribute, self.threshold, self.default, self.children = "", 0, 0, 0, []
        self.parent, self.branch, self.height = parent, branch, height  # whose child it is, and which
        self.used = used  # attributes of the multiway splits above
        self.alternate = None  # the node that grows beside it
        # Classes given by the split above, and of the instances counted, arrays (classes,); per attribute what sees it.
        # None where they are forgotten.
        self.inherited, self.observed, self.observers = np.zeros(classes), np.zeros(classes, np.int64), observers
        self.fallback = fallback  # prediction of a leaf that has no counts
        # Instances since the last attempt, and to the next; those that the tree had learnt at the last.
        self.since, self.period, self.tried_at = 0, 0, LONG_AGO
        self.wait = 0  # instances before a tie is broken (htat)
        self.bayes_right = self.majority_right = 0

    @property
    def counts(self):
        """Classes for predictions, inherited ones included; None where they are forgotten."""
        return None if self.observed is None else self.inherited + self.observed

    @property
    def majority(self):
        """The class with most counts, the lower of equal ones."""
        counts = self.inherited + self.observed
        best = int(counts.argmax())
        return best if counts[best] > 0 else self.fallback

    def branch_of(self, value):
        """Which child a value goes to; NaN is missing."""
        if value != value:
            return self.default
        if self.kind == NUMERIC:
            return int(value >= self.threshold)
        if self.kind == ONE_VS_REST:
            return int(value != self.threshold)
        return int(value) if 0 <= value < len(self.children) else self.default

    def path(self, x):
        """The nodes from this one down to an instance's leaf."""
        found = [self]
        while found[-1].kind:
            node = found[-1]
            found.append(node.children[node.branch_of(x[node.attribute])])
        return found

    def below(self):
        """All nodes below, parents before their children, left ones first."""
        found, waiting = [], self.children[::-1]
        while waiting:  # a tree may be deeper than Python's stack
            found.append(waiting.pop())
            waiting += reversed(found[-1].children)
        return found

    def forget(self):
        """Give the statistics up."""
        self.inherited = self.observed = self.observers = None
