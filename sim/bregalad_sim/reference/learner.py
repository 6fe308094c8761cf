"""What the trees share: counting, predicting, the splits of a node, and the children of one."""

import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from .blocks import Blocks
from .bounds import Attempt
from .criteria import impurity, reduction, value_range
from .node import MULTIWAY, NUMERIC, Node
from .observers import BinWindow, Values
from .options import NEVER, Options

MIN_GAIN = 1e-10  # a split must beat the null split by it, as in MOA
SAME = 1e-9  # gains closer than this are equal: only rounding tells them apart
MISSING = 255

# A split made; ``margin`` is the gain by which the closest of its decisions was taken.
Split = namedtuple("Split", "seen attribute kind threshold margin tie")

# An attempt's outcome: "keep", "split", "replace" or "prune", and the same margin.
Decision = namedtuple("Decision", "seen outcome margin")

# What is to be done with a node, decided when so many instances were learnt; ``between`` it and its alternate, or not.
Pending = namedtuple("Pending", "made node between change")


@dataclass(eq=False)
class Candidate:
    """An attribute's best split."""

    attribute: int
    kind: str
    threshold: float
    gain: float
    lead: float  # gain over the attribute's next best threshold that is not equal


@dataclass
class EventCounts:
    """What has happened to a tree so far."""

    instances: int = 0
    attempts: int = 0  # periods that were over
    splits: int = 0  # of leaves
    ties: int = 0  # splits and replacements that only the tie threshold allowed
    replaced: int = 0  # inner nodes split anew
    pruned: int = 0  # inner nodes that became leaves
    alternates: int = 0  # that began
    swapped: int = 0  # alternates that took over
    dropped: int = 0  # alternates that went


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
    bins : int
        Of a numeric attribute.
    options
        Of `Options`.

    Raises
    ------
    ValueError
        If an option is unknown, or options do not go together.

    Attributes
    ----------
    root : Node
    splits : list of Split
    decisions : list of Decision
        One per attempt of a node that had several classes.
    event_counts : EventCounts
    leaves : int
    gaps : float array
        Of the last ``learn``: by how much (log2) naive Bayes' best class led the second; inf where
        it was not asked.
    """

    whole_path = False  # count at every node of the path
    node_kind = Node

    def __init__(self, capacities, classes, *, bins=16, **options):
        self.options = Options(**options)
        self.options.check(capacities, classes)
        self.capacities, self.classes = tuple(capacities), classes
        self.bins = bins
        self.R = value_range(self.options.criterion, classes)
        self.bound = self.options.make_bound()
        self._multiple = NEVER  # inner nodes are due when the instances learnt are a multiple
        self.splits, self.decisions, self.event_counts = [], [], EventCounts()
        self.gaps = np.empty(0)
        self._pending = []
        self._ripe = False  # whether a node's period may be over
        self.root = self._leaf([self._observer(attribute) for attribute in range(len(capacities))])
        self._begin_block()

    def _observer(self, attribute):
        if capacity := self.capacities[attribute]:
            return Values(capacity, self.classes, self.options.nominal_split)
        return BinWindow(self.bins, self.classes)

    def _leaf(self, observers, **place):
        """A new leaf; its place as of `Node`."""
        leaf = self.node_kind(self.classes, observers, **place)
        leaf.period = self.options.grace
        return leaf

    @property
    def nodes(self):
        """Those of the tree, without alternates; parents first."""
        return [self.root, *self.root.below()]

    def live(self):
        """All nodes that learn: parents first, then an alternate, then what is below, left ones first."""
        found, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            found.append(node)
            waiting += reversed(node.children)
            if node.alternate is not None:
                waiting.append(node.alternate)
        return found

    @property
    def leaves(self):
        """How many predict."""
        return sum(not node.kind for node in self.nodes)

    # Learning

    def learn(self, X, labels):
        """Predict, then learn each instance in order.

        X has codes 0 to 254, 255 missing; nominal values by index. Returns the prediction for each instance by the tree
        that had learnt all before it, int64 array (n,). ValueError if the shapes do not fit or a label is not 0 to
        classes - 1.
        """
        X = np.asarray(X)
        labels = np.ascontiguousarray(labels, np.int64)
        if X.shape != (len(labels), len(self.capacities)):
            raise ValueError(f"X must be {(len(labels), len(self.capacities))}, not {X.shape}")
        if len(labels) and not 0 <= labels.min() <= labels.max() < self.classes:
            raise ValueError(f"labels must be 0 to {self.classes - 1}, not {labels.min()} to {labels.max()}")
        predictions, self.gaps = np.empty(len(X), np.int64), np.empty(len(X))
        for i, (x, label) in enumerate(zip(numbers(X), labels.tolist(), strict=True)):
            self.event_counts.instances += 1
            predictions[i], self.gaps[i] = self._learn(x.tolist(), label)
            if self.event_counts.instances >= self._ends:
                self._end_block()
        return predictions

    def _learn(self, x, label):
        """The prediction for an instance, which is then learnt, and naive Bayes' gap."""
        path = self.root.path(x)
        prediction, gap = self._visit(path, x, label)
        return prediction, gap

    def _visit(self, path, x, label):
        """Predict, then count an instance on a path."""
        known = [(attribute, value) for attribute, value in enumerate(x) if value == value]
        prediction, gap = self._predict(path[-1], known, label)
        all_due = self.event_counts.instances % self._multiple == 0
        for node in path if self.whole_path else path[-1:]:
            node.observed[label] += 1
            for attribute, value in known:
                node.observers[attribute].count(value, label)
            node.since = node.period if all_due and node.kind else node.since + 1
            self._ripe |= node.since >= node.period
        return prediction, gap

    def _predict(self, leaf, known, label):
        """The prediction, by what of both is right more often here (nba), and naive Bayes' gap."""
        majority = leaf.majority
        mode = self.options.leaf_prediction
        if mode == "mc":
            return majority, math.inf
        bayes, gap = _naive_bayes(leaf, known) if leaf.observed.any() else (majority, math.inf)
        asked = mode == "nb" or leaf.bayes_right >= leaf.majority_right
        leaf.bayes_right += bayes == label
        leaf.majority_right += majority == label
        return bayes if asked else majority, gap

    def _take_effect(self, made=NEVER):
        while ready := [entry for entry in self._pending if entry.made <= made]:
            order = {node: place for place, node in enumerate(self.live())}
            first = min(ready, key=lambda entry: (order[entry.node], not entry.between))
            self._pending.remove(first)
            first.change(first.node)

    def _due(self):
        ripe, self._ripe = self._ripe, False
        return [node for node in self.live() if node.observed is not None and node.since >= node.period] if ripe else []

    def _try(self, node):
        node.since, node.tried_at = 0, self.event_counts.instances
        self.event_counts.attempts += 1
        total = node.counts
        if self._may_split(node) and np.count_nonzero(total) > 1:
            change = self.attempt(node, total)
            if change is not None:
                self._pending.append(Pending(self.event_counts.instances, node, False, change))

    def _may_split(self, node):
        deepest = self.options.max_depth
        return bool(node.kind) or deepest is None or node.height < deepest

    def attempt(self, node, total):
        """Try a node; returns what is to be done with it when that takes effect, or None."""
        raise NotImplementedError

    def facts(self, node, total, seen=None):
        """What a bound may look at; ``seen`` are the instances learnt, if not those of now."""
        seen = self.event_counts.instances if seen is None else seen
        return Attempt(total.sum(), node.height, seen, len(self.capacities), self.classes)

    # Splits that a node could make

    def candidates(self, node):
        """Every attribute's best split, in order.

        Without those that have none, and those that a multiway split above has used.
        """
        found = []
        for attribute, observer in enumerate(node.observers):
            thresholds, sides = observer.splits()
            if attribute in node.used or not len(thresholds):
                continue
            gains = self._gains(node, sides)
            most = gains.max()
            best = int(np.argmax(gains >= most - SAME))
            lead = most - gains.max(where=gains < most - SAME, initial=-np.inf)
            found.append(Candidate(attribute, observer.kind, _plain(thresholds[best]), float(most), float(lead)))
        return found

    def _gains(self, node, sides):
        """G of splits: a share of the node's instances for those whose value is known."""
        criterion = self.options.criterion
        shift = impurity(criterion, node.counts) - impurity(criterion, node.observed)
        return reduction(criterion, sides) / node.observed.sum() + shift

    def gain_at(self, node, attribute, threshold):
        """The gain of one split, by the node's present statistics."""
        return float(self._gains(node, node.observers[attribute].sides(threshold)[None])[0])

    # Children

    def split(self, node, candidate, margin, tie, source=None):
        """Turn a leaf into a test with one fresh leaf per side, by what it, or another node, has counted."""
        source = source or node
        attribute, threshold = candidate.attribute, candidate.threshold
        sides = source.observers[attribute].sides(threshold).astype(float)
        default = int(np.argmax(sides.sum(axis=1)))
        # The instances whose value is missing go where later ones will go.
        sides[default] += np.maximum(source.observed - sides.sum(axis=0), 0)
        node.kind, node.attribute, node.threshold, node.default = candidate.kind, attribute, threshold, default
        used = node.used | ({attribute} if candidate.kind == MULTIWAY else set())
        for branch, side in enumerate(sides):
            observers = [observer.fresh() for observer in source.observers]
            if candidate.kind == NUMERIC:
                observers[attribute] = source.observers[attribute].side(
                    threshold, branch, self.options.bin_window == "seen"
                )
            place = {"parent": node, "branch": branch, "height": node.height + 1, "used": used}
            leaf = self._leaf(observers, fallback=int(side.argmax()) if side.any() else source.majority, **place)
            if self.options.child_counts == "inherit":
                leaf.inherited = side
            node.children.append(leaf)
        self.event_counts.ties += int(tie)
        self.splits.append(Split(self.event_counts.instances, attribute, candidate.kind, threshold, margin, bool(tie)))

    def decide(self, outcome, margin):
        """Note an attempt's outcome."""
        self.decisions.append(Decision(self.event_counts.instances, outcome, float(margin)))


def numbers(codes):
    """Codes as float64, NaN where they are missing."""
    return np.where(codes == MISSING, np.nan, codes.astype(float))


def _plain(threshold):
    return int(threshold) if float(threshold).is_integer() else float(threshold)


def _naive_bayes(leaf, known):
    """The lower class of equal best scores, and by how much it leads the next class.

    A score is log2 of a class's share, up to what all have in common; a class that the leaf has not seen has none.
    """
    seen = [(label, n) for label, n in enumerate(leaf.observed.tolist()) if n]
    scores = [math.log2(n) for _, n in seen]
    for attribute, value in known:
        shares = leaf.observers[attribute].log2_shares(value, seen)
        scores = [score + share for score, share in zip(scores, shares, strict=True)]
    most = max(scores)
    best = scores.index(most)
    second = max(scores[:best] + scores[best + 1 :], default=-math.inf)
    return seen[best][0] if most > -math.inf else 0, most - second if most > second else 0.0
