"""Strategies with a rule for all instances: at random, by the tree's uncertainty, by its leaf's confidence."""

import math
from collections.abc import Iterable

from ..estimator.tree import StreamTree
from .strategy import Strategy

__all__ = ["ConfTree", "Rnd", "RndVar", "SelSamp", "VarUn"]

_STEP = 0.01  # by which the threshold of uncertainty changes with every instance


class Rnd(Strategy):
    """Ask at random, with the probability of the budget."""

    def _wants(self, answer: Iterable[float]) -> bool:
        return self._random.random() < self.budget


class VarUn(Strategy):
    """Ask where the tree is uncertain: its best class's share is below a threshold.

    The threshold falls by 1 % with each label that is asked for, and rises by 1 % else.

    Source: Zliobaite, Bifet, Pfahringer and Holmes, Active learning with drifting streaming data,
    TNNLS 2014.
    """

    def __init__(self, tree: StreamTree, budget: float, *, seed: int | None = None) -> None:
        super().__init__(tree, budget, seed=seed)
        self._threshold = 1.0

    def _wants(self, answer: Iterable[float]) -> bool:
        ask = max(answer, default=0) < self._scaled()
        self._threshold *= 1 - _STEP if ask else 1 + _STEP
        return ask

    def _scaled(self):
        """The threshold for this instance."""
        return self._threshold


class RndVar(VarUn):
    """`VarUn` with the threshold times a normal variable of mean and deviation 1, another for each instance."""

    def _scaled(self):
        return self._threshold * self._random.normal(1, 1)


class SelSamp(Strategy):
    """Ask with probability budget / (budget + margin), the margin of the tree's class shares (`margin_of`).

    Source: Cesa-Bianchi, Gentile and Zaniboni, Worst-case analysis of selective sampling for
    linear classification, JMLR 2006.
    """

    def _wants(self, answer: Iterable[float]) -> bool:
        return self._random.random() * (self.budget + margin_of(answer)) < self.budget


class ConfTree(Strategy):
    """Ask where the instance's leaf is not consistent yet, and else the less, the clearer it is.

    With m instances in the leaf, t seen so far, and the leaf's margin (`margin_of`), the leaf is
    consistent if margin > e = sqrt(ln(2 t^2) / (2 m)); then the probability is
    (budget + e) / (budget + e + margin).
    """

    _looks_at = "leaf_counts"

    def _wants(self, answer: Iterable[float]) -> bool:
        size = sum(answer)
        if not size:
            return True
        radius = math.sqrt(math.log(2 * self.seen**2) / (2 * size))
        margin = margin_of(count / size for count in answer)
        if margin <= radius:
            return True
        ask = self.budget + radius
        return self._random.random() * (ask + margin) < ask


def margin_of(shares: Iterable[float]) -> float:
    """Half of what the best class's share is ahead of the second's; with two classes |share - 1/2|."""
    second, first = sorted((0, 0, *shares))[-2:]
    return (first - second) / 2
