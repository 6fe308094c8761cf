"""HAT. Bifet and Gavalda, Adaptive learning from evolving data streams, IDA 2009."""

import math

import numpy as np

from .kernel import NUMERIC, PREDICTIONS, majority, visit
from .learner import NEVER
from .observers import CODES
from .vfdt import ReferenceVFDT

__all__ = ["ReferenceHAT", "Watched"]


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
        if options.get("zoom", "path") != "path":
            raise ValueError("zoom='seen' is not for alternates here")
        self.drift_delta, self.switch_delta, self.switch_width = drift_delta, switch_delta, switch_width
        self.leaf_alternates = leaf_alternates
        self._alternates = {}  # node -> root of its alternate
        self._windows = {}  # node -> ADWIN
        self._above = {0: None}  # node -> (node above, branch), None at the root
        self._majorities = {}  # inner node -> what it predicted last
        self._decided = {}  # node beside an alternate -> instances at the last decision between the two
        self._beginning = set()  # nodes beside which an alternate is to begin
        super().__init__(capacities, classes, **options)
        self._scores = np.empty(classes)

    def live(self):
        """Of a node's, those of its alternate come before those below it."""
        found, waiting = [], [0]
        while waiting:
            at = waiting.pop()
            found.append(at)
            waiting += reversed(self.tree.children(at))
            if at in self._alternates:
                waiting.append(self._alternates[at])
        return found

    # Learning

    def _learn(self, X, y, predictions, gaps):
        for i, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
            self.tally.instances += 1
            predictions[i], gaps[i] = self._walk(0, x, label)
            if self.tally.instances >= self._ends:
                self._end_block()

    def _walk(self, top, x, label):
        """Learn an instance from a node on down, and in all alternates on the way."""
        path = np.empty(self._deepest + 1, np.int64)
        mode = PREDICTIONS.index(self.options.leaf_prediction)
        prediction, gap, length = visit(
            self.tree.table,
            *self.statistics.arrays,
            self.observer.kind,
            self.observer.bins,
            x,
            label,
            top,
            mode,
            self.whole_path,
            self.tally.instances % self._multiple == 0,
            self._scores,
            path,
        )
        path = path[:length].tolist()
        for at in path:
            self._watch(at, prediction != label)
        for at in path:
            if at in self._alternates:
                self._walk(self._alternates[at], x, label)
                self._compare(at)
        return prediction, gap

    def _watch(self, at, wrong):
        window = self._window(at)
        before = _mean(window)
        changed = window.update(float(wrong))
        if changed and (self.leaf_alternates or not self.is_leaf(at)) and _mean(window) >= before:
            if self._decide_later(at, self.tree[at]["tried_at"], self._begin_alternate):
                self.tree[at]["tried_at"] = self._decision_time
                self._beginning.add(at)

    def _window(self, at):
        if at not in self._windows:
            from river.drift.adwin import AdaptiveWindowing

            self._windows[at] = AdaptiveWindowing(self.drift_delta, 32, 5, 5, 10)
        return self._windows[at]

    def _compare(self, at):
        mine, other = self._window(at), self._window(self._alternates[at])
        seen, other_seen = mine.get_width(), other.get_width()
        if min(seen, other_seen) <= self.switch_width or at in self._beginning:
            return
        error = _mean(mine)
        gap = error - _mean(other)
        bound = math.sqrt(2 * error * (1 - error) * math.log(2 / self.switch_delta) * (1 / seen + 1 / other_seen))
        if abs(gap) > bound:
            change = self._swap if gap > 0 else self._drop
            if self._decide_later(~at, self._decided.get(at, -NEVER), change):
                self._decided[at] = self._decision_time

    # Decisions; those between a node and its alternate are of ~node

    def _decide_later(self, place, last, change):
        """Whether a decision is noted: nothing is pending, and the last one, or trial, was before the block."""
        before = self.tally.instances if self.options.at_once else self._begun
        decides = last < before and not any(node == place for _, node, _ in self._pending)
        if decides:
            self._pending.append((self._decision_time, place, change))
        return decides

    def _try(self, at):
        self._void(at)  # a change of its errors within the block
        super()._try(at)

    def _void(self, *places):
        for entry in [entry for entry in self._pending if entry[1] in places]:
            self._pending.remove(entry)
        for place in places:
            if place < 0:
                self._decided.pop(~place, None)
            else:
                self._beginning.discard(place)
                self.tree[place]["tried_at"] = -NEVER

    # Changes

    def _begin_alternate(self, at):
        if at in self._alternates:
            self._drop(at)
        self._void(at)
        tree = self.tree
        other = tree.add(1)
        tree[other]["height"] = tree[at]["height"]
        tree[other]["fallback"] = self._majority(at)
        self._used[other] = self._used[at]
        self._above[other] = self._above[at]
        row = self._begin(other)
        arrays = self.statistics.arrays
        for attribute in self._numeric:
            self.observer.zoom(arrays, row, attribute, *self._range(at, attribute))
        self._alternates[at] = other
        self.tally.alternates += 1

    def _range(self, at, attribute):
        """The codes of an attribute that can come to a node."""
        steps = []
        while self._above[at] is not None:
            at, branch = self._above[at]
            steps.append((self.tree[at], branch))
        low, high = 0, CODES
        for node, branch in reversed(steps):
            if node["kind"] == NUMERIC and node["attribute"] == attribute:
                middle = min(max(int(node["threshold"]), low), high)
                low, high = (low, middle) if branch == 0 else (middle, high)
        return low, high

    def _drop(self, at):
        self._void(at, ~at)
        self._remove(self._alternates.pop(at))
        self.tally.dropped += 1

    def _swap(self, at):
        other = self._alternates.pop(at)
        self._void(at, ~at, ~other)
        if other not in self._alternates:
            self._void(other)
        for child in self.tree.children(at):
            self._remove(child)
        if self.tree[at]["row"] >= 0:
            self.forget(at)
        self._windows.pop(at, None)
        tree = self.tree
        tree.table[at] = tree.table[other]
        tree[other]["row"] = -1
        for child in tree.children(at):
            self._above[child] = (at, self._above[child][1])
        for kept in (self._windows, self._majorities, self._alternates, self._decided):
            if other in kept:
                kept[at] = kept.pop(other)
        for entry in [entry for entry in self._pending if entry[1] == other]:  # stays a node beside an alternate
            self._pending.remove(entry)
            self._pending.append((entry[0], at, entry[2]))
        if other in self._beginning:
            self._beginning.remove(other)
            self._beginning.add(at)
        self.tally.swapped += 1

    def _kill(self, at):
        """Take all below a node away, alternates, too."""
        for child in self.tree.children(at):
            self._remove(child)

    def _remove(self, at):
        """Take a node away with all below it and beside it."""
        self._kill(at)
        if at in self._alternates:
            self._remove(self._alternates.pop(at))
        if self.tree[at]["row"] >= 0:
            self.forget(at)
        self._void(at, ~at)
        self._windows.pop(at, None)

    def _split(self, at, candidate, margin, tie):
        self._majorities[at] = self._majority(at)
        self._windows.pop(at, None)
        super()._split(at, candidate, margin, tie)
        for branch, child in enumerate(self.tree.children(at)):
            self._above[child] = (at, branch)

    def _majority(self, at):
        """What a node predicts by the majority class; an inner one did so last."""
        if not self.is_leaf(at):
            return self._majorities[at]
        arrays, row = self.statistics.arrays, self.tree[at]["row"]
        return majority(arrays.base[row], arrays.own[row], self.tree[at]["fallback"])


class ReferenceHAT(Watched, ReferenceVFDT):
    """Hoeffding adaptive tree."""


def _mean(window):
    return window.get_total() / window.get_width() if window.get_width() else 0.0
