"""What VFDT and EFDT share: counting, the splits of a node, and the children of one."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from .blocks import Blocks
from .bounds import Trial
from .criteria import CRITERIA, impurity, reduction, value_range
from .kernel import LEAF, MULTIWAY, NUMERIC, PREDICTIONS, advance, majority
from .observers import CODES, OBSERVERS
from .options import NEVER, Options
from .statistics import Statistics
from .tree import KINDS, Node, Nodes

__all__ = ["MIN_GAIN", "NEVER", "SAME", "Candidate", "Decision", "Learner", "Split", "Tally", "best_two"]

MIN_GAIN = 1e-10  # a split must beat the null split by it, as in MOA
SAME = 1e-9  # gains closer than this are equal: only rounding tells them apart
MISSING = 255

# A split made; ``margin`` is the gain by which the closest of its decisions was taken.
Split = namedtuple("Split", "seen attribute kind threshold margin tie")

# A trial's outcome: "keep", "split", "replace" or "prune", and the same margin.
Decision = namedtuple("Decision", "seen outcome margin")


@dataclass(eq=False)
class Candidate:
    """An attribute's best split."""

    attribute: int
    kind: int
    threshold: float
    gain: float
    lead: float  # gain over the attribute's next best threshold that is not equal


@dataclass
class Tally:
    """What has happened to a tree so far."""

    instances: int = 0
    trials: int = 0  # periods that were over
    splits: int = 0  # of leaves
    ties: int = 0  # splits and replacements that only the tie threshold allowed
    replaced: int = 0  # inner nodes split anew
    pruned: int = 0  # inner nodes that became leaves
    alternates: int = 0  # that began
    swapped: int = 0  # alternates that took over
    dropped: int = 0  # alternates that went


def _node_of(place):
    """Of a decision: a node's place is its number, that between it and its alternate ~number."""
    return place if place >= 0 else ~place


def best_two(candidates):
    """Best and second best; of equal gains the lower attribute's comes first."""
    left, ranked = list(candidates), []
    while left and len(ranked) < 2:
        most = max(candidate.gain for candidate in left)
        ranked.append(next(candidate for candidate in left if candidate.gain >= most - SAME))
        left.remove(ranked[-1])
    return ranked


class Learner(Blocks):
    """A tree over a stream.

    Parameters
    ----------
    capacities : sequence of int
        Per attribute 0 (numeric) or the number of values.
    classes : int
    observer : "zoomed", "fixed", "vfml" or "gaussian"
        How numeric attributes are observed.
    bins : int, optional
        Bins, or (gaussian) cut points; by default 16, 16, 1000, 10.
    limits : array (attributes, 2), optional
        Of the fixed bins; by default those of the ``head`` first instances learnt.
    head : int
    options
        Of `Options`.

    Raises
    ------
    ValueError
        If an option is unknown, or options do not go together.

    Attributes
    ----------
    root : Node
    nodes : list of Node
        Parents first.
    splits : list of Split
    decisions : list of Decision
        One per trial of a node that had several classes.
    tally : Tally
    leaves : int
    gaps : float array
        Of the last ``learn``: by how much (log2) naive Bayes' best class led the second; inf where
        it was not asked.
    """

    whole_path = False  # count at every node of the path

    def __init__(self, capacities, classes, *, observer="zoomed", bins=None, limits=None, head=1000, **options):
        if observer not in OBSERVERS:
            raise ValueError(f"observer must be one of {', '.join(OBSERVERS)}, not {observer!r}")
        self.options = Options(**options)
        self.options.check(capacities, classes)
        self.capacities = np.array(capacities, np.int64)
        self.classes = classes
        self.observer = OBSERVERS[observer](bins)
        self._criterion = CRITERIA.index(self.options.criterion)
        self.R = value_range(self.options.criterion, classes)
        self.bound = self.options.make_bound()
        self._limits, self._head = limits, head
        self._numeric = np.flatnonzero(self.capacities == 0)
        self._nominal = np.flatnonzero(self.capacities)
        self._multiple = NEVER  # inner nodes are due when the instances learnt are a multiple
        self.statistics = Statistics(self.capacities, classes, self.observer)
        self.tree = Nodes()
        self.splits, self.decisions, self.tally = [], [], Tally()
        self.gaps = np.empty(0)
        self._pending = []  # (instances when it was decided, node or, between it and its alternate, ~node; change)
        self._used = {0: frozenset()}  # by node: attributes of the multiway splits above
        self._deepest = 0  # height of any leaf so far
        self._plant()
        self._begin_block()

    def _plant(self):
        root = self.tree.add(1)
        row = self._begin(root)
        if self.observer.name == "zoomed":
            for attribute in self._numeric:
                self.observer.zoom(self.statistics.arrays, row, attribute, 0, CODES)

    @property
    def root(self):
        return Node(self.tree, self.statistics.arrays, 0)

    @property
    def nodes(self):
        return [Node(self.tree, self.statistics.arrays, at) for at in (0, *self.tree.below(0))]

    def live(self):
        """Numbers of all nodes that learn, parents first, left ones before right ones."""
        return [0, *self.tree.below(0)]

    @property
    def leaves(self):
        """How many there are."""
        return sum(self.is_leaf(at) for at in (0, *self.tree.below(0)))

    # Learning

    def learn(self, X, labels):
        """Predict, then learn each instance in order.

        Parameters
        ----------
        X : array (n, attributes)
            Zoomed: codes 0 to 254, 255 missing. Else numbers; nominal values by index; NaN missing.
        labels : int array (n,)

        Returns
        -------
        int64 array (n,)
            The prediction for each instance by the tree that had learnt all before it.

        Raises
        ------
        ValueError
            If the shapes do not fit or a label is not 0 to classes - 1.
        """
        X = np.asarray(X)
        labels = np.ascontiguousarray(labels, np.int64)
        if X.shape != (len(labels), len(self.capacities)):
            raise ValueError(f"X must be {(len(labels), len(self.capacities))}, not {X.shape}")
        if len(labels) and not 0 <= labels.min() <= labels.max() < self.classes:
            raise ValueError(f"labels must be 0 to {self.classes - 1}, not {labels.min()} to {labels.max()}")
        if self.observer.name == "fixed" and not self.tally.instances:
            self._set_limits(X)
        predictions, gaps = np.empty(len(X), np.int64), np.empty(len(X))
        most = 1 << 16
        for start in range(0, len(X), most):
            part = slice(start, start + most)
            self._learn(self._numbers(X[part]), labels[part], predictions[part], gaps[part])
        self.gaps = gaps
        return predictions

    def _numbers(self, X):
        numbers = np.ascontiguousarray(X, np.float64)
        if self.observer.name == "zoomed" or X.dtype == np.uint8:
            numbers = np.where(X == MISSING, np.nan, numbers)
        return numbers

    def _set_limits(self, X):
        limits = self.statistics.arrays.limits
        if self._limits is None:
            head = self._numbers(X[: self._head])
            limits[:, 0] = np.nanmin(head, axis=0)
            limits[:, 1] = np.nanmax(head, axis=0)
        else:
            limits[:] = self._limits

    def _learn(self, X, y, predictions, gaps):
        at = 0
        while at < len(X):
            until = len(X) if self.options.at_once else at + self._ends - self.tally.instances
            done, over = advance(
                self.tree.table,
                *self.statistics.arrays,
                self.observer.kind,
                self.observer.bins,
                X[:until],
                y,
                at,
                PREDICTIONS.index(self.options.leaf_prediction),
                self.whole_path,
                self.tally.instances - at,
                self._multiple,
                self.options.at_once,
                self._begun,
                self.options.margin,
                np.empty(self._deepest + 1, np.int64),
                predictions,
                gaps,
            )
            self.tally.instances += done - at
            at = done
            if over:
                self._cut_short()
            if self.tally.instances >= self._ends:
                self._end_block()

    def _take_effect(self, made=NEVER):
        while ready := [entry for entry in self._pending if entry[0] <= made]:
            order = {at: place for place, at in enumerate(self.live())}
            first = min(ready, key=lambda entry: (order[_node_of(entry[1])], entry[1] >= 0))
            self._pending.remove(first)
            _, place, change = first
            change(_node_of(place))

    def _due(self):
        nodes = self.tree.table[: self.tree.count]
        due = set(np.flatnonzero((nodes["row"] >= 0) & (nodes["since"] >= nodes["period"])).tolist())
        return [at for at in self.live() if at in due] if due else []

    def _try(self, at):
        self.tree[at]["since"] = 0
        self.tree[at]["tried_at"] = self.tally.instances
        self.tally.trials += 1
        both = self._both(at)
        if self._may_split(at) and np.count_nonzero(both) > 1:
            change = self.attempt(at, both)
            if change is not None:
                self._pending.append((self.tally.instances, at, change))

    def _may_split(self, at):
        deepest = self.options.max_depth
        return not self.is_leaf(at) or deepest is None or self.tree[at]["height"] < deepest

    def attempt(self, at, both):
        """Try a node; returns what is to be done with it when that takes effect, or None."""
        raise NotImplementedError

    # Statistics

    def _begin(self, at, side=None):
        """Give a leaf statistics, with its side's classes if they are inherited."""
        node = self.tree[at]
        node["row"] = row = self.statistics.take()
        node["since"], node["period"] = 0, self.options.grace
        if side is not None and self.options.child_counts == "inherit":
            self.statistics.arrays.base[row] = side
        return row

    def _both(self, at):
        row = self.tree[at]["row"]
        return self.statistics.arrays.base[row] + self.statistics.arrays.own[row]

    def impurity(self, counts):
        """Of classes, by the criterion."""
        return impurity(self._criterion, counts.astype(float))

    def facts(self, at, both, seen=None):
        """What a bound may look at; ``seen`` are the instances learnt, if not those of now."""
        seen = self.tally.instances if seen is None else seen
        return Trial(both.sum(), int(self.tree[at]["height"]), seen, len(self.capacities), self.classes)

    # Splits that a node could make

    def candidates(self, at):
        """Every attribute's best split, in order.

        Without those that have none, and those that a multiway split above has used.
        """
        row = self.tree[at]["row"]
        found = []
        if len(self._numeric):
            found += self._best(at, NUMERIC, self._numeric, *self._numeric_splits(row))
        if len(self._nominal):
            found += self._best(at, self.options.nominal_kind, self._nominal, *self._nominal_splits(row))
        return sorted(
            (candidate for candidate in found if candidate.attribute not in self._used[at]),
            key=lambda candidate: candidate.attribute,
        )

    # Splits of several attributes are thresholds (attributes, m), NaN where there is no split, and
    # the classes of their sides (attributes, m, sides, classes).

    def _numeric_splits(self, row):
        arrays = self.statistics.arrays
        thresholds, left = self.observer.splits(arrays, row, self._numeric)
        known = self.observer.known(arrays, row, self._numeric)
        return thresholds, np.stack([left, known[:, None] - left], axis=-2)

    def _nominal_splits(self, row):
        capacities = self.capacities[self._nominal, None]
        values = self.statistics.arrays.table[row, self._nominal, : capacities.max()]
        if self.options.nominal_kind == MULTIWAY:
            return np.zeros((len(values), 1)), values[:, None]
        value = np.arange(float(capacities.max()))
        rest = values.sum(axis=1, keepdims=True) - values
        return np.where(value < capacities, value, np.nan), np.stack([values, rest], axis=-2)

    def _gains(self, at, sides):
        """G of splits: a share of the node's instances for those whose value is known."""
        own = self.statistics.arrays.own[self.tree[at]["row"]]
        shift = self.impurity(self._both(at)) - self.impurity(own)
        return reduction(self._criterion, sides.astype(float)) / own.sum() + shift

    def _best(self, at, kind, attributes, thresholds, sides):
        """Candidates of some attributes."""
        gains = np.where(np.isnan(thresholds), -np.inf, self._gains(at, sides))
        found = []
        for i in np.flatnonzero(gains.max(axis=1) > -np.inf):
            most = gains[i].max()
            best = int(np.argmax(gains[i] >= most - SAME))
            lead = most - gains[i].max(where=gains[i] < most - SAME, initial=-np.inf)
            found.append(Candidate(int(attributes[i]), kind, float(thresholds[i, best]), float(most), float(lead)))
        return found

    def gain_at(self, at, attribute, threshold):
        """The gain of one numeric or one-vs-rest split."""
        kind = self.options.nominal_kind if self.capacities[attribute] else NUMERIC
        return float(self._gains(at, self.sides_at(at, attribute, kind, threshold)[None, None])[0, 0])

    def sides_at(self, at, attribute, kind, threshold):
        """The classes of a split's sides (children, classes), by a node's present statistics."""
        arrays, row = self.statistics.arrays, self.tree[at]["row"]
        values = arrays.table[row, attribute]
        if kind == MULTIWAY:
            return values[: np.flatnonzero(values.any(axis=1)).max(initial=0) + 1]
        if kind == NUMERIC:
            left = self.observer.below(arrays, row, attribute, threshold)
            known = self.observer.known(arrays, row, [attribute])[0]
        else:
            left, known = values[int(threshold)], values.sum(axis=0)
        return np.stack([left, known - left])

    # Children

    def split(self, at, candidate, margin, tie):
        """Turn a leaf into a test with one fresh leaf per side."""
        tree, arrays = self.tree, self.statistics.arrays
        row = int(tree[at]["row"])
        sides = self.sides_at(at, candidate.attribute, candidate.kind, candidate.threshold).astype(float)
        default = int(np.argmax(sides.sum(axis=1)))
        # The instances whose value is missing go where later ones will go.
        sides[default] += np.maximum(arrays.own[row] - sides.sum(axis=0), 0)
        fallback = majority(arrays.base[row], arrays.own[row], tree[at]["fallback"])
        child = tree.add(len(sides))
        node = tree[at]
        node["kind"], node["attribute"] = candidate.kind, candidate.attribute
        node["threshold"], node["default"] = candidate.threshold, default
        node["child"], node["width"] = child, len(sides)
        used = self._used[at] | ({candidate.attribute} if candidate.kind == MULTIWAY else set())
        for branch, side in enumerate(sides):
            self._used[child + branch] = used
            leaf = tree[child + branch]
            leaf["height"] = node["height"] + 1
            leaf["fallback"] = np.argmax(side) if side.any() else fallback
            self._begin(child + branch, side)
            self._zoom(child + branch, at, branch)
        self._deepest = max(self._deepest, int(node["height"]) + 1)
        self.tally.ties += int(tie)
        self.splits.append(
            Split(
                self.tally.instances,
                candidate.attribute,
                KINDS[candidate.kind],
                self._plain(candidate.threshold),
                margin,
                bool(tie),
            )
        )

    def _plain(self, threshold):
        return int(threshold) if threshold.is_integer() else threshold

    def _zoom(self, at, parent, branch):
        """Zoom a child into the codes that can come."""
        if self.observer.name != "zoomed":
            return
        arrays, split = self.statistics.arrays, self.tree[parent]
        row = self.tree[at]["row"]
        arrays.zoom[row] = arrays.zoom[split["row"]]
        if split["kind"] == NUMERIC:
            low, high, shift = arrays.zoom[row, split["attribute"]]
            if self.options.zoom == "seen":
                counted = arrays.table[split["row"], split["attribute"]].any(axis=1)
                bins = np.flatnonzero(counted)
                low, high = (min(low + (bins[0] << shift), high), min(high, low + ((bins[-1] + 1) << shift)))
            middle = min(max(int(split["threshold"]), low), high)
            self.observer.zoom(arrays, row, split["attribute"], *((low, middle) if branch == 0 else (middle, high)))

    def forget(self, at):
        """Give a node's statistics back."""
        node = self.tree[at]
        self.statistics.give_back(int(node["row"]))
        node["row"] = -1

    def decide(self, outcome, margin):
        """Note a trial's outcome."""
        self.decisions.append(Decision(self.tally.instances, outcome, float(margin)))

    def is_leaf(self, at):
        return self.tree[at]["kind"] == LEAF
