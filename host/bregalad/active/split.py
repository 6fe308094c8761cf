"""Strategies that label a share of the instances at random, and watch it for changes of the stream."""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from ..estimator.tree import StreamTree
from ..extras import needing
from ..hints import Column, Frame, Label, Self
from ..options.option import PROBABILITY, Option
from .rules import ConfTree, VarUn
from .strategy import Strategy

__all__ = ["Split", "SplitConfTree"]

_SHARE = Option("share", PROBABILITY)
_WARNED = 10_000  # instances since a warning that are kept, the last ones


class _Split(Strategy):
    """Rnd for a share of the instances, the rule of the next class for the others; see `Split`.

    Answers are to come in the order in which they were asked for, all of them.
    """

    def __init__(self, tree: StreamTree, budget: float, *, share: float = 0.2, seed: int | None = None) -> None:
        super().__init__(tree, budget, seed=seed)
        _SHARE.check(share)
        self.share = float(share)
        with needing(type(self).__name__):
            from river.drift.binary import DDM
        self.changes = 0
        self._detector = DDM()
        self._at_random = False  # whether the instance asked about last is of the share at random
        self._open: deque[bool] = deque()  # the same of each whose label is waited for
        self._kept: deque[tuple[Mapping[Any, Any], Label]] = deque(maxlen=_WARNED)

    def learn_one(self, x: Mapping[Any, Any], y: Label) -> Self:
        """Learn an instance whose label was asked for, the one asked for first among those without an answer."""
        self._check_open(1)
        wrong = self.tree.predict_one(x) != y
        super().learn_one(x, y)
        at_random = self._open.popleft()
        if at_random:
            self._detector.update(wrong)
        changed = at_random and self._detector.drift_detected  # which it says until its next update
        if changed or self._detector.warning_detected:
            self._kept.append((x, y))
        else:
            self._kept.clear()
        if changed:
            self._begin_anew()
        return self

    def partial_fit(self, X: Frame, y: Column, classes: Column | None = None) -> Self:
        """Learn the instances whose labels were asked for, in the order in which they were."""
        if not len(y):
            return super().partial_fit(X, y, classes)
        rows, labels = self._rows(X, y, classes)
        self._check_open(len(labels))
        for x, label in zip(rows, labels, strict=True):
            self.learn_one(x, label)
        return self

    def report(self) -> dict[str, Any]:
        """The tree's report, and: seen, labels, and changes, how often the tree began anew."""
        return super().report() | {"changes": self.changes}

    def _begin_anew(self):
        self.changes += 1
        self.tree.restart()
        for x, y in self._kept:
            self.tree.learn_one(x, y)
        self._kept.clear()

    def _check_open(self, labels):
        if labels > len(self._open):
            raise ValueError(
                f"{labels} labels for {len(self._open)} instances that were asked for: query says which; what has "
                "labels anyway goes to tree.partial_fit"
            )

    def _asks(self, answer):
        ask = super()._asks(answer)
        if ask:
            self._open.append(self._at_random)
        return ask

    def _wants(self, answer: Iterable[float]) -> bool:
        self._at_random = self._random.random() < self.share
        return self._random.random() < self.budget if self._at_random else super()._wants(answer)


class Split(_Split, VarUn):
    """`Rnd` for a share of the instances, with a change detector on it, `VarUn` for the others.

    The detector is DDM, of River. It sees whether the tree was right on what was labelled at random. From its warning
    on, labelled instances are kept (the last 10,000 at most); when it has found a change, the tree forgets all else.

    Parameters
    ----------
    tree, budget, seed
        As of `Strategy`.
    share : float
        Of the instances for `Rnd`, above 0 and below 1.

    Attributes
    ----------
    changes : int
        How often the tree has begun anew.

    Source: Zliobaite, Bifet, Pfahringer and Holmes, Active learning with drifting streaming data,
    TNNLS 2014; Gama, Medas, Castillo and Rodrigues, Learning with drift detection, SBIA 2004.
    """


class SplitConfTree(_Split, ConfTree):
    """`Split` with `ConfTree` in the place of `VarUn`; parameters and attributes are the same."""
