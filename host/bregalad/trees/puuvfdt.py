"""puuVFDT: a Hoeffding tree of positive and unlabelled instances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from ..boards import is_link
from ..boards.base import Board
from ..words import shown
from . import options
from .estimator import StreamTree
from .parameters import declared
from .policy.policy import SplitPolicy
from .policy.positive import PositivePolicy, shares
from .training.totals import Totals

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from ..geometry import Geometry
    from ..hints import Column, Frame, Label, Nominal

__all__ = ["LEVELS", "PositiveTree", "PuuVFDT"]

LEVELS = tuple(tenth / 10 for tenth in range(1, 10))


class PositiveTree(StreamTree):
    """The tree of one positive level.

    Parameters
    ----------
    level : float
    parameters : dict
        The others of ``PuuVFDT``, by name.
    """

    leaf_prediction = "mc"
    class_weight = None

    def __init__(self, level, parameters):
        vars(self).update(parameters, level=level)

    @classmethod
    def _get_param_names(cls):
        return PuuVFDT._get_param_names()

    def _policy(self):
        plain = super()._policy()
        given = {name: getattr(plain, name) for name in SplitPolicy.__dataclass_fields__}
        return PositivePolicy(**given, level=self.level, positive=self._place)

    @property
    def _place(self):
        """Which class the labelled instances have."""
        known = getattr(self, "classes_", None)
        return 1 if known is None else int(np.flatnonzero(known == self.positive)[0])

    def _prepare(self, X, classes):
        if len(classes) == 2 and self.positive not in classes.tolist():
            raise ValueError(
                f"none of the labels {shown(classes.tolist())} is the positive one: name it by positive, "
                f"which is {shown(self.positive)}"
            )
        return super()._prepare(X, classes)

    def _begin(self):
        super()._begin()
        self._totals = Totals(np.zeros(2, np.int64))

    def _trainer_on(self, board):
        trainer = super()._trainer_on(board)
        trainer.trials.totals = self._totals
        return trainer

    def chances(self, leaves):
        """The probability that an unlabelled instance is positive, of leaves; float array (n,)."""
        factor = self._policy().factor(self._seen)
        counts, place = self._nodes.counts[leaves], self._place
        empty = ~counts.any(axis=1)
        return np.where(empty, self.level, shares(counts[:, place], counts[:, 1 - place], factor))

    @property
    def _seen(self):
        return self._totals.at(self._tally.instances)

    def chances_of(self, X):
        """The same of instances."""
        return self.chances(self._routed(X)[1])

    @property
    def found(self):
        """The shares of labelled and of unlabelled instances that are at leaves which predict the positive label."""
        leaves = self._nodes.leaves()
        counts, positive = self._nodes.counts[leaves], self.chances(leaves) > 0.5
        both = counts[positive].sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
        return float(both[self._place]), float(both[1 - self._place])

    @property
    def merit(self):
        """What can be told without negatives of how good the tree is: it grows as F1 squared does.

        Source: Lee and Liu, Learning with positive and unlabeled examples using weighted logistic regression, ICML
        2003.
        """
        labelled, unlabelled = self.found
        return labelled**2 / unlabelled if unlabelled else 0.0


@declared
class PuuVFDT(ClassifierMixin, BaseEstimator):
    """Hoeffding tree of instances of which only some positive ones have a label.

    How many of the unlabelled instances are positive is mostly not known. So nine trees learn side by side, each on a
    board of its own, and the one whose estimated merit is the highest predicts.

    Attributes
    ----------
    classes_ : array
        Both labels, sorted. The one that marks what has no label is predicted for negative instances.
    trees_ : dict of PositiveTree
        By level.

    Source: Liang, Zhang, Shi and Hu, Learning very fast decision tree from uncertain data streams with positive and
    unlabeled samples, Information Sciences 2012; docs/learners.md.
    """

    def __init__(
        self,
        board: Board | str = "emulated",
        *,
        positive: Label = 1,
        level: float | None = None,
        geometry: Geometry | str | None = None,
        slots: int = 1024,
        delta: float = 1e-7,
        tau: float = 0.05,
        grace: int = 200,
        max_depth: int | None = None,
        delay: int = 0,
        child_counts: str = "inherit",
        zoom: str = "path",
        nominal: Nominal = (),
        nominal_split: str = "multiway",
        nominal_values: int = 64,
        feed: str = "stream",
        review_period: int = 20_000,
        threads: int = 1,
    ) -> None:
        given = locals()
        for name in self._get_param_names():
            setattr(self, name, given[name])

    def fit(self, X: Frame, y: Column) -> Self:
        """Learn from scratch; parameters as in ``partial_fit``."""
        trees = self._new_trees()
        for tree in trees.values():
            tree.fit(X, y)
        return self._keep(trees)

    def partial_fit(self, X: Frame, y: Column, classes: Column | None = None) -> Self:
        """Learn instances in order.

        Parameters
        ----------
        X : data frame of any library or array (n, attributes)
        y : sequence (n,)
            Two labels: ``positive``, and another one for all that may be positive or not.
        classes : collection
            Both labels; needed with the first call.

        Raises
        ------
        TypeError, ValueError
            If X, y or classes are not as learnt before, or wrong; nothing of X is learnt then.
        BoardError
            If a board fails.
        """
        trees = getattr(self, "trees_", None) or self._new_trees()
        for tree in trees.values():
            tree.partial_fit(X, y, classes)
        return self._keep(trees)

    def _new_trees(self):
        for name in self._get_param_names():
            options.check(name, getattr(self, name))
        if self.level is None and (isinstance(self.board, Board) or is_link(self.board)):
            raise ValueError(
                f"nine trees take a board each, and {shown(self.board)} is one: say which share of the unlabelled "
                "instances is positive by level, or choose board='emulated'"
            )
        given = {name: getattr(self, name) for name in self._get_param_names()}
        levels = LEVELS if self.level is None else (self.level,)
        return {level: PositiveTree(level, given) for level in levels}

    def _keep(self, trees):
        self.trees_ = trees
        first = next(iter(trees.values()))
        for name in ("classes_", "n_features_in_", "feature_names_in_", "schema_"):
            if hasattr(first, name):
                setattr(self, name, getattr(first, name))
        return self

    @property
    def level_(self) -> float:
        """The level of the tree whose estimated merit is the highest."""
        self._check_fitted()
        return max(self.trees_, key=lambda level: self.trees_[level].merit)

    @property
    def tree_(self) -> PositiveTree:
        """The tree that predicts."""
        return self.trees_[self.level_]

    def predict_proba(self, X: Frame) -> NDArray[np.float64]:
        """Probabilities of both labels, in the order of ``classes_``; float array (n, 2)."""
        self._check_fitted()
        chances = self.tree_.chances_of(X)
        positive = self.classes_ == self.positive
        return np.where(positive, chances[:, None], 1 - chances[:, None])

    def predict(self, X: Frame) -> np.ndarray:
        """The label of every instance: ``positive``, or the other one for what is negative; array (n,)."""
        positive = self.predict_proba(X)[:, self.classes_ == self.positive][:, 0] > 0.5
        return self.classes_[np.where(positive, *np.argsort(self.classes_ != self.positive))]

    def report(self) -> dict[str, Any]:
        """Sizes and counts of the tree that predicts, its ``level`` and its ``merit``."""
        level = self.level_
        return {**self.trees_[level].report(), "level": level, "merit": self.trees_[level].merit}

    def close(self) -> None:
        """Let go of the boards; what was learnt stays."""
        for tree in getattr(self, "trees_", {}).values():
            tree.close()

    def _check_fitted(self):
        if not hasattr(self, "trees_"):
            raise NotFittedError("this PuuVFDT has not learnt anything yet: call fit or partial_fit first")
