"""EFDT. Manapragada, Webb and Salehi, Extremely fast decision tree, KDD 2018, algorithm 2."""

import math
from dataclasses import dataclass

import numpy as np

from .learner import MIN_GAIN, NEVER, SAME, Learner, best_two
from .node import MULTIWAY


@dataclass(frozen=True)
class Variant:
    """Where programs differ from the paper, whose is the default of each."""

    first_attempt_splits: bool = False  # an impure leaf splits when it is tried, whatever the bound
    tree_wide_period: bool = False  # inner nodes: the tree's instances count, not the node's
    null_competes: bool = True  # the null split at inner nodes
    inner_ties: bool = False  # eps < tau is enough at an inner node if the gap is above tau / 2


VARIANTS = {
    "paper": Variant(),
    "moa": Variant(tree_wide_period=True, null_competes=False, inner_ties=True),  # release 24.07
    "kdd2018": Variant(first_attempt_splits=True),  # the authors' program for the paper
}


class ReferenceEFDT(Learner):
    """Hoeffding anytime tree.

    Parameters
    ----------
    capacities, classes, ...
        As ``Learner``.
    variant : "paper", "moa" or "kdd2018"
    inner_grace : int
    gain_average : bool
        Decide on the means of the gains of all the node's attempts, not on the last.
    same_attribute : "keep" or "replace"
    """

    whole_path = True

    def __init__(
        self,
        capacities,
        classes,
        *,
        variant="paper",
        inner_grace=2000,
        gain_average=False,
        same_attribute="keep",
        **options,
    ):
        if variant not in VARIANTS:
            raise ValueError(f"variant must be one of {', '.join(VARIANTS)}, not {variant!r}")
        if same_attribute not in ("keep", "replace"):
            raise ValueError(f"same_attribute must be 'keep' or 'replace', not {same_attribute!r}")
        if options.get("adaptive_grace"):
            raise ValueError("adaptive_grace is VFDT's")
        self.variant = VARIANTS[variant]
        self.inner_grace = inner_grace
        self.gain_average = gain_average
        self.same_attribute = same_attribute
        self._sums = {}  # node -> sums of the attributes' gains, attempts
        super().__init__(capacities, classes, **options)
        if self.variant.tree_wide_period:
            self._multiple = inner_grace

    def attempt(self, node, total):
        """Algorithms 2 and 3: AttemptToSplit and ReevaluateBestSplit."""
        latest = self.candidates(node)
        gains = self._gains_at(node, latest)
        for candidate in latest:
            candidate.gain = gains[candidate.attribute]
        ranked = best_two(latest)
        if not ranked:
            return None
        attempt = self.facts(node, total)
        if node.kind:
            return self._reevaluate(node, ranked, gains, attempt)
        return self._attempt_split(node, ranked, attempt)

    def _gains_at(self, node, latest):
        """Every attribute's gain, 0 where it has no candidate."""
        gains = np.zeros(len(self.capacities))
        for candidate in latest:
            gains[candidate.attribute] = candidate.gain
        if not self.gain_average:
            return gains
        sums, attempts = self._sums.get(node, (0.0, 0))
        self._sums[node] = sums, attempts = sums + gains, attempts + 1
        return sums / attempts

    def _attempt_split(self, node, ranked, attempt):
        """Split a leaf if Xa is better than not splitting."""
        Xa = ranked[0]
        gap = Xa.gain
        first = self.variant.first_attempt_splits
        sure = first or self.bound.sure(gap, attempt)
        tie = not sure and self.bound.tied(attempt)
        excess = math.inf if first else abs(self.bound.excess(gap, attempt))
        if Xa.gain >= MIN_GAIN and (sure or tie):
            margin = min(Xa.gain, excess, self._lead(ranked))
            self.decide("split", margin)
            return lambda node: self._split_leaf(node, Xa, margin, tie)
        self.decide("keep", MIN_GAIN - Xa.gain if sure or tie else excess)
        return None

    def _reevaluate(self, node, ranked, gains, attempt):
        """Replace a split, or take it back, if another is better; the subtree is killed."""
        Xa = ranked[0]
        current = node.attribute
        if self.variant.null_competes and Xa.gain < MIN_GAIN:
            gap = 0.0 - gains[current]
            change, _ = self._beats(gap, attempt)
            margin = min(self._distance(gap, attempt), abs(MIN_GAIN - Xa.gain))
            self.decide("prune" if change else "keep", margin)
            return self._prune if change else None
        if Xa.attribute == current:
            if self._moved(node, Xa):
                return lambda node: self._move(node, ranked)
            # Another attribute would have to win, and by the rule.
            rival = ranked[1].gain if len(ranked) > 1 else -math.inf
            self.decide("keep", self._distance(rival - Xa.gain, attempt))
            return None
        gap = Xa.gain - gains[current]
        change, tie = self._beats(gap, attempt)
        margin = self._distance(gap, attempt)
        if not change:
            self.decide("keep", margin)
            return None
        margin = min(margin, self._lead(ranked))
        self.decide("replace", margin)
        return lambda node: self._replace(node, Xa, margin, tie)

    def _move(self, node, ranked):
        """Split a node anew at another threshold if, by now, it is enough better than the one there is."""
        Xa = ranked[0]
        attempt = self.facts(node, node.counts, node.tried_at)
        gap = self.gain_at(node, Xa.attribute, Xa.threshold) - self._current_gain(node)
        change, tie = self._beats(gap, attempt)
        margin = self._distance(gap, attempt)
        if not change:
            self.decide("keep", margin)
            return
        margin = min(margin, self._lead(ranked))
        self.decide("replace", margin)
        self._replace(node, Xa, margin, tie)

    # The rule at inner nodes

    def _beats(self, gap, attempt):
        """Whether a gap is enough to change an inner node, and whether as a tie only."""
        sure = self.bound.sure(gap, attempt)
        tie = not sure and self._may_tie(attempt) and gap > self.bound.half_tau()
        return sure or tie, tie

    def _distance(self, gap, attempt):
        """How far a gap is from another decision."""
        distance = abs(self.bound.excess(gap, attempt))
        if self._may_tie(attempt):
            distance = min(distance, abs(gap - self.bound.half_tau()))
        return distance

    def _may_tie(self, attempt):
        return self.variant.inner_ties and self.bound.tied(attempt)

    @staticmethod
    def _lead(ranked):
        """Gain by which the split chosen won over the next that is not equal."""
        lead = ranked[0].gain - ranked[1].gain if len(ranked) > 1 else math.inf
        return min(ranked[0].lead, lead if lead > SAME else math.inf)

    def _moved(self, node, candidate):
        return self.same_attribute == "replace" and candidate.kind != MULTIWAY and candidate.threshold != node.threshold

    def _current_gain(self, node):
        """The gain of a node's own split, threshold and all, from its present statistics."""
        return self.gain_at(node, node.attribute, node.threshold)

    # Changes

    def _split_leaf(self, node, candidate, margin, tie):
        self.event_counts.splits += 1
        self._split(node, candidate, margin, tie)

    def _replace(self, node, candidate, margin, tie):
        self.event_counts.replaced += 1
        self._kill(node)
        self._split(node, candidate, margin, tie)

    def _split(self, node, candidate, margin, tie):
        self.split(node, candidate, margin, tie)
        node.since, node.period = 0, NEVER if self.variant.tree_wide_period else self.inner_grace

    def _prune(self, node):
        """Make an inner node a leaf again, with all its statistics."""
        self._kill(node)
        node.kind = ""
        node.since, node.period = 0, self.options.grace
        node.bayes_right = node.majority_right = 0
        self.event_counts.pruned += 1

    def _kill(self, node):
        """Take the subtree below a node away."""
        gone = node.below()
        self._pending = [entry for entry in self._pending if entry.node not in gone]
        node.children = []
