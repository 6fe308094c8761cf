"""HAT. Bifet and Gavalda, Adaptive learning from evolving data streams, IDA 2009."""

import math

import numpy as np

from .kernel import NUMERIC, PREDICTIONS, majority, visit
from .learner import NEVER
from .observers import CODES
from .vfdt import ReferenceVFDT

__all__ = ["ReferenceHAT"]


class ReferenceHAT(ReferenceVFDT):
    """Hoeffding adaptive tree; its change detectors are River's.

    Parameters
    ----------
    capacities, classes, ...
        As ``Learner``.
    drift_delta : float
        Of ADWIN.
    switch_delta : float
        Of the comparison of a node and its alternate.
    switch_width : int
        Both windows are longer when they are compared.
    """

    def __init__(self, capacities, classes, *, drift_delta=0.002, switch_delta=0.05, switch_width=300, **options):
        if options.get("zoom", "path") != "path":
            raise ValueError("zoom='seen' is not for alternates here")
        self.drift_delta, self.switch_delta, self.switch_width = drift_delta, switch_delta, switch_width
        self._alternates = {}  # node -> root of its alternate
        self._windows = {}  # node -> ADWIN
        self._above = {0: None}  # node -> (node above, branch), None at the root
        self._majorities = {}  # inner node -> what it predicted last
        self._decided = {}  # node, or ~node for its fork -> instances at the last decision on alternates
        super().__init__(capacities, classes, **options)
        self._scores = np.empty(classes)

    def live(self):
        found, waiting = [], [0]
        while waiting:
            at = waiting.pop()
            found.append(at)
            waiting += self.tree.children(at)
            if at in self._alternates:
                waiting.append(self._alternates[at])
        return found

    # Learning

    def _learn(self, X, y, predictions, gaps):
        for i, (x, label) in enumerate(zip(X, y.tolist(), strict=True)):
            self.tally.instances += 1
            predictions[i], gaps[i] = self._walk(0, x, label)
            self.settle(self.tally.instances)

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
            False,
            self._scores,
            path,
        )
        path = path[:length].tolist()
        for at in path:
            self._watch(at, prediction != label)
        self._try_path(path[-1:])
        for at in path:
            if at in self._alternates:
                self._walk(self._alternates[at], x, label)
                self._compare(at)
        return prediction, gap

    def _watch(self, at, wrong):
        window = self._window(at)
        before = _mean(window)
        changed = window.update(float(wrong))
        if changed and not self.is_leaf(at) and _mean(window) >= before:
            self._decide_later(at, lambda: self._begin_alternate(at))

    def _window(self, at):
        if at not in self._windows:
            from river.drift.adwin import AdaptiveWindowing

            self._windows[at] = AdaptiveWindowing(self.drift_delta, 32, 5, 5, 10)
        return self._windows[at]

    def _compare(self, at):
        mine, other = self._window(at), self._window(self._alternates[at])
        seen, other_seen = mine.get_width(), other.get_width()
        if min(seen, other_seen) <= self.switch_width or any(node == at for _, node, _ in self._pending):
            return
        error = _mean(mine)
        gap = error - _mean(other)
        bound = math.sqrt(2 * error * (1 - error) * math.log(2 / self.switch_delta) * (1 / seen + 1 / other_seen))
        if gap > bound:
            self._decide_later(~at, lambda: self._swap(at))
        elif -gap > bound:
            self._decide_later(~at, lambda: self._drop(at))

    # Decisions; those on a fork are of ~node

    def _decide_later(self, place, change):
        now, delay = self.tally.instances, self.options.delay
        pending = any(node == place for _, node, _ in self._pending)
        if not pending and now > self._decided.get(place, -NEVER) + delay:
            self._decided[place] = now
            self._pending.append((now + delay, place, change))

    def settle(self, instances=NEVER):
        while self._pending:
            first = min(self._pending, key=self._order)
            if first[0] > instances:
                return
            self._pending.remove(first)
            first[2]()

    def _order(self, entry):
        when, place, _ = entry
        return (when, 2 * int(self.tree[place if place >= 0 else ~place]["height"]) + (place >= 0))

    def _void(self, *places):
        for entry in [entry for entry in self._pending if entry[1] in places]:
            self._pending.remove(entry)
        for place in places:
            self._decided.pop(place, None)

    # Changes

    def _begin_alternate(self, at):
        if at in self._alternates:
            self._drop(at)
        self._void(at)
        tree, arrays = self.tree, self.statistics.arrays
        other = tree.add(1)
        tree[other]["height"] = tree[at]["height"]
        tree[other]["fallback"] = self._majorities[at]
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
        self._kill(self._alternates.pop(at))
        self.tally.dropped += 1

    def _swap(self, at):
        other = self._alternates.pop(at)
        self._void(at, ~at, ~other)
        if other not in self._alternates:
            self._void(other)
        for child in self.tree.children(at):
            self._kill(child)
        self._windows.pop(at, None)
        tree = self.tree
        tree.table[at] = tree.table[other]
        tree[other]["row"] = -1
        for child in tree.children(at):
            self._above[child] = (at, self._above[child][1])
        if other not in self._alternates:
            tree[at]["tried_at"] = -NEVER
        for kept in (self._windows, self._majorities, self._alternates, self._decided):
            if other in kept:
                kept[at] = kept.pop(other)
        for entry in [entry for entry in self._pending if entry[1] == other]:  # stays a node beside an alternate
            self._pending.remove(entry)
            self._pending.append((entry[0], at, lambda: self._begin_alternate(at)))
        self.tally.swapped += 1

    def _kill(self, at):
        """Take a node away with all below it and beside it."""
        for child in self.tree.children(at):
            self._kill(child)
        if at in self._alternates:
            self._kill(self._alternates.pop(at))
        if self.tree[at]["row"] >= 0:
            self.forget(at)
        self._void(at, ~at)
        self._windows.pop(at, None)

    def _split(self, at, candidate, margin, tie):
        arrays, row = self.statistics.arrays, self.tree[at]["row"]
        self._majorities[at] = majority(arrays.base[row], arrays.own[row], self.tree[at]["fallback"])
        self._windows.pop(at, None)
        super()._split(at, candidate, margin, tie)
        for branch, child in enumerate(self.tree.children(at)):
            self._above[child] = (at, branch)


def _mean(window):
    return window.get_total() / window.get_width() if window.get_width() else 0.0
