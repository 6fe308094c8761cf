"""puuVFDT of one level. Liang, Zhang, Shi and Hu, Information Sciences 2012, with the gain of POSC4.5."""

import math

import numpy as np

from .learner import MIN_GAIN, Learner, best_two


class ReferencePuuVFDT(Learner):
    """Hoeffding tree of positive (class 1) and unlabelled (class 0) instances.

    ``level`` is PosLevel, the share of positives among the unlabelled; others are as of ``Learner``.
    """

    def __init__(self, capacities, *, level, **options):
        self.level = level
        self._known = np.zeros(0, np.int64)
        super().__init__(capacities, 2, **options)

    def learn(self, X, labels):
        """As ``Learner.learn``; the predictions are of no use."""
        self._known = np.append(self._known, labels)
        return super().learn(X, labels)

    def attempt(self, node, total):
        """All is decided when it takes effect."""
        return self._decide

    def _decide(self, node):
        candidates = self.candidates(node)
        if not candidates:
            return
        Xa, *others = best_two(candidates)
        gap = Xa.gain - max(others[0].gain if others else -math.inf, 0.0)
        attempt = self.facts(node, node.counts)
        sure = self.bound.sure(gap, attempt)
        if Xa.gain < MIN_GAIN or not (sure or self.bound.tied(attempt)):
            self.decide("keep", abs(self.bound.excess(gap, attempt)))
            return
        self.decide("split", abs(self.bound.excess(gap, attempt)))
        self.event_counts.splits += 1
        self.split(node, Xa, 0.0, not sure)
        node.forget()

    @property
    def factor(self):
        """PosLevel |UNL| / |POS| of the stream so far."""
        UNL, POS = np.bincount(self._known[: self.event_counts.instances], minlength=2)
        return self.level * UNL / max(1, POS)

    def _gains(self, node, sides):
        return gains_of(sides, self.factor, node.observed[0])


def gains_of(sides, factor, unlabelled):
    """Gains of splits, of sides (splits, sides, 2), at a node with so many unlabelled instances."""
    whole = sides.sum(axis=-2)
    after = (sides[..., 0] * entropy(share(sides, factor))).sum(axis=-1)
    return (whole[..., 0] * entropy(share(whole, factor)) - after) / max(unlabelled, 1)


def share(counts, factor):
    """P(1 | node) of (unlabelled, labelled) along the last axis; 0 where nothing is labelled."""
    unlabelled, labelled = counts[..., 0], counts[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = factor * labelled / unlabelled
    return np.where(labelled > 0, np.minimum(1, estimate), 0)


def entropy(p):
    """Of a class with this probability and the other one, in bits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = -p * np.log2(p) - (1 - p) * np.log2(1 - p)
    return np.where((p > 0) & (p < 1), bits, 0)
