"""HAT. Bifet and Gavalda, Adaptive learning from evolving data streams, IDA 2009."""

import math

from .learner import NEVER, Pending
from .node import NUMERIC, Node
from .observers import CODES, BinWindow
from .vfdt import ReferenceVFDT


def new_window(delta):
    """River's adaptive window of a confidence, with the other parameters' defaults."""
    from river.drift.adwin import AdaptiveWindowing

    return AdaptiveWindowing(delta, 32, 5, 5, 10)


def mean(window):
    """Of what is in a window; 0 of nothing."""
    return window.get_total() / window.get_width() if window.get_width() else 0.0


class _WatchedNode(Node):
    """A node; ``window`` has its errors."""

    window = None
    last_majority = 0  # of an inner node: what it predicted last
    decided_at = -NEVER  # instances at the last decision between it and its alternate
    is_beginning = False  # an alternate is to begin beside it


class Watched:
    """Mixin of a tree: its nodes' errors are watched, by River's change detectors, and alternates grow beside them.

    Parameters
    ----------
    capacities, classes, ...
        As the tree.
    drift_delta : float
        Of ADWIN.
    switch_delta : float
        Of the comparison of a node and its alternate.
    switch_width : int
        Both windows are longer when they are compared.
    leaf_alternates : bool
        Beside leaves, too.
    """

    watched = True
    node_kind = _WatchedNode

    def __init__(
        self,
        capacities,
        classes,
        *,
        drift_delta=0.02,
        switch_delta=0.05,
        switch_width=50,
        leaf_alternates=True,
        **options,
    ):
        if options.get("bin_window", "path") != "path":
            raise ValueError("bin_window='seen' is not for alternates here")
        self.drift_delta, self.switch_delta, self.switch_width = drift_delta, switch_delta, switch_width
        self.leaf_alternates = leaf_alternates
        super().__init__(capacities, classes, **options)

    # Learning

    def _learn(self, x, label, top=None):
        """Learn an instance from a node on down, and in all alternates on the way."""
        path = (top or self.root).path(x)
        prediction, gap = self._visit(path, x, label)
        for node in path:
            self._watch(node, prediction != label)
        for node in path:
            if node.alternate is not None:
                self._learn(x, label, node.alternate)
                self._compare(node)
        return prediction, gap

    def _watch(self, node, wrong):
        window = self._window(node)
        before = mean(window)
        changed = window.update(float(wrong))
        worse = changed and (self.leaf_alternates or node.kind) and mean(window) >= before
        if worse and self._decide_later(node, False, node.tried_at, self._begin_alternate):
            node.tried_at = self._decision_time
            node.is_beginning = True

    def _window(self, node):
        if node.window is None:
            node.window = new_window(self.drift_delta)
        return node.window

    def _compare(self, node):
        mine, other = self._window(node), self._window(node.alternate)
        seen, other_seen = mine.get_width(), other.get_width()
        if min(seen, other_seen) <= self.switch_width or node.is_beginning:
            return
        error = mean(mine)
        gap = error - mean(other)
        bound = math.sqrt(2 * error * (1 - error) * math.log(2 / self.switch_delta) * (1 / seen + 1 / other_seen))
        if abs(gap) > bound:
            change = self._swap if gap > 0 else self._drop
            if self._decide_later(node, True, node.decided_at, change):
                node.decided_at = self._decision_time

    # Decisions

    def _decide_later(self, node, between, last, change):
        """Whether a decision is recorded: nothing is pending, and the last one, or attempt, was before the block."""
        before = self.event_counts.instances if self.options.at_once else self._begun
        decides = last < before and not any(entry[1:3] == (node, between) for entry in self._pending)
        if decides:
            self._pending.append(Pending(self._decision_time, node, between, change))
        return decides

    def _try(self, node):
        self._void(node)  # a change of its errors within the block
        super()._try(node)

    def _void(self, node, between=False):
        self._pending = [entry for entry in self._pending if entry[1:3] != (node, between)]
        if between:
            node.decided_at = -NEVER
        else:
            node.is_beginning, node.tried_at = False, -NEVER

    # Changes

    def _begin_alternate(self, node):
        if node.alternate is not None:
            self._drop(node)
        self._void(node)
        observers = [
            self._observer(attribute) if capacity else BinWindow(self.bins, self.classes, *self._range(node, attribute))
            for attribute, capacity in enumerate(self.capacities)
        ]
        place = {name: getattr(node, name) for name in ("parent", "branch", "height", "used")}
        node.alternate = self._leaf(observers, fallback=self._majority(node), **place)
        self.event_counts.alternates += 1

    def _range(self, node, attribute):
        """The codes of an attribute that can come to a node."""
        steps = []
        while node.parent is not None:
            steps.append((node.parent, node.branch))
            node = node.parent
        low, high = 0, CODES
        for above, branch in reversed(steps):
            if above.kind == NUMERIC and above.attribute == attribute:
                middle = min(max(above.threshold, low), high)
                low, high = (middle, high) if branch else (low, middle)
        return low, high

    def _drop(self, node):
        self._void(node)
        self._void(node, between=True)
        self._remove(node.alternate)
        node.alternate = None
        self.event_counts.dropped += 1

    def _swap(self, node):
        """The node becomes what its alternate is."""
        other, node.alternate = node.alternate, None
        self._void(node)
        self._void(node, between=True)
        self._void(other, between=True)
        if other.alternate is None:
            self._void(other)
        self._kill(node)
        node.window = None
        vars(node).update(vars(other))
        for child in node.children:
            while child is not None:
                child.parent, child = node, child.alternate
        self._pending = [entry._replace(node=node) if entry.node is other else entry for entry in self._pending]
        self.event_counts.swapped += 1

    def _kill(self, node):
        """Take all below a node away, alternates, too."""
        for child in node.children:
            self._remove(child)
        node.children = []

    def _remove(self, node):
        """Take a node away with all below it and beside it."""
        self._kill(node)
        if node.alternate is not None:
            self._remove(node.alternate)
        self._void(node)
        self._void(node, between=True)

    def _split(self, node, candidate, margin, tie):
        node.last_majority, node.window = self._majority(node), None
        super()._split(node, candidate, margin, tie)

    @staticmethod
    def _majority(node):
        """What a node predicts by the majority class; an inner one did so last."""
        return node.last_majority if node.kind else node.majority


class ReferenceHAT(Watched, ReferenceVFDT):
    """Hoeffding adaptive tree."""
