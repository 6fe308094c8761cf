"""What learners of positive and unlabelled instances offer their users: scikit-learn's calls, save and load."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...boards import is_link
from ...boards.base import Board
from ...data.parts import rows_of
from ...estimator.inputs import as_frame, labels_of, named_classes
from ...estimator.learner import Learner
from ...estimator.looking.draw import Drawn
from ...estimator.looking.explanation import Explanation
from ...estimator.looking.history import History
from ...estimator.parameters import BoardParameters
from ...estimator.turns import at_any_time
from ...hints import Frame, Label
from ...interrupt import unbroken
from ...options import table as options
from ...words import shown
from . import storage
from .tree import PositiveTree

LEVELS = tuple(tenth / 10 for tenth in range(1, 10))
_PART = 20_000  # instances that one tree learns before the next one does; nothing depends on it


class PositiveLearner(Learner, Drawn, BoardParameters):
    """Base of the learners: a tree for each level side by side, of which one predicts.

    A subclass says by ``_kind`` which trees these are.

    Attributes
    ----------
    classes_ : array
        Both labels, sorted. The one that marks what has no label is predicted for negative instances.
    n_features_in_ : int
    schema_ : Schema
    trees_ : dict of PositiveTree
        By level.
    """

    _storage = storage
    _kind = PositiveTree
    positive: Label
    level: float | None
    trees_: dict[float, PositiveTree]

    # Parameters, which are those of the trees

    def check_parameters(self) -> None:
        options.check("level", self.level)
        if self.level is None and (isinstance(self.board, Board) or is_link(self.board)):
            raise ValueError(
                f"nine trees take a board each, and {shown(self.board)} is one: say which share of the unlabelled "
                "instances is positive by level, or choose board='emulated'"
            )
        if not isinstance(self.positive, str | bool | int | float | np.generic):
            raise TypeError(f"positive must be a label, a string or a number, not {shown(self.positive)}")
        next(iter(self._planted().values())).check_parameters()

    def _decisive(self):
        return super()._decisive() | {"level": self.level, "positive": self.positive}

    @property
    def _levels(self):
        return LEVELS if self.level is None else (self.level,)

    def _planted(self):
        """New trees by level."""
        return {level: self._kind(**self._chosen() | {"level": level}) for level in self._levels}

    def _trees(self):
        """The trees that there are, or else new ones, with the parameters as they are now."""
        trees = self.__dict__.get("trees_")
        if trees is None:
            return self._planted()
        self._check_unchanged()
        for level, tree in trees.items():
            tree.set_params(**self._chosen() | {"level": level})
        return trees

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = self._planted()[self._levels[0]].__sklearn_tags__().input_tags
        tags.classifier_tags.multi_class = False
        return tags

    # Learning

    def _prepare(self, X, classes):
        self.check_parameters()
        return next(iter(self._planted().values()))._prepare(X, classes)

    def _weights(self, labels, classes, sample_weight, whole=False):
        if sample_weight is not None:
            raise ValueError(f"{type(self).__name__} learns each instance once: leave out sample_weight")

    def _learn(self, X, y, classes, weigh):
        weigh(y, classes)
        if "trees_" not in self.__dict__:
            self.check_parameters()
        trees = self._trees()
        X, y = as_frame(X), labels_of(y)
        if len(trees) == 1:
            for tree in trees.values():
                tree.partial_fit(X, y, classes)
        else:
            self._learn_abreast(trees.values(), X, y, classes)
        self._keep(trees)

    def _learn_abreast(self, trees, X, y, classes):
        """Several trees learn the same instances: all of X, or parts of it, or nothing."""
        for tree in trees:
            frame, *_ = tree._checked(X, y, classes, lambda *_: None)
        if len(y):
            tree._quantiser.check(frame)
        for at in range(0, len(y), _PART):
            part = slice(at, at + _PART)
            with unbroken():
                for tree in trees:
                    tree.partial_fit(rows_of(X, part), y[part])

    def _test_then_learn(self, X, y, classes, weigh):
        """Predict all instances by what has been learnt before, then learn them."""
        X = as_frame(X)
        before = self.predict(X) if hasattr(self, "classes_") else None
        self._learn(X, y, classes, weigh)
        if before is not None:
            return before
        if not len(X):
            return named_classes(classes)[:0]
        return self._labels(np.full(len(X), self._levels[0]))  # as a leaf that has counted nothing

    def _keep(self, trees):
        self.trees_, self._made_with = trees, self._decisive()
        first = next(iter(trees.values()))
        for name in ("classes_", "n_features_in_", "feature_names_in_", "schema_"):
            if hasattr(first, name):
                setattr(self, name, getattr(first, name))

    @property
    @at_any_time
    def unfinished(self) -> bool:
        """Whether there is a call that `resume` would finish."""
        return any(tree.unfinished for tree in self.__dict__.get("trees_", {}).values())

    def resume(self) -> None:
        """Go on after the link to the board was cut; see ``StreamTree.resume``."""
        self._fitted()
        for tree in self.trees_.values():
            tree.resume()

    # Predicting

    @property
    def level_(self) -> float:
        """The level of the tree whose estimated merit is the highest."""
        self._fitted()
        return max(self.trees_, key=lambda level: self.trees_[level].merit)

    @property
    def tree_(self) -> PositiveTree:
        """The tree that predicts."""
        return self.trees_[self.level_]

    def predict_proba(self, X: Frame) -> NDArray[np.float64]:
        """Probabilities of both labels, in the order of ``classes_``; float array (n, 2)."""
        self._fitted()
        chances = self.tree_.chances_of(X)
        positive = self.classes_ == self.positive
        return np.where(positive, chances[:, None], 1 - chances[:, None])

    def predict(self, X: Frame) -> np.ndarray:
        """The label of every instance: ``positive``, or the other one for what is negative; array (n,)."""
        self._fitted()
        return self._labels(self.tree_.chances_of(X))

    def _labels(self, chances):
        positive = self.classes_ == self.positive
        return np.where(chances > 0.5, self.classes_[positive], self.classes_[~positive])

    # Looking

    def report(self) -> dict[str, Any]:
        """Sizes and counts of the tree that predicts, its ``level`` and its ``merit``."""
        level = self.level_
        return self.trees_[level].report() | {"level": level, "merit": self.trees_[level].merit}

    def quantiser_summary(self) -> dict[str, Any]:
        """Codes used and values lost per attribute, of the tree that predicts; see ``Quantiser.summary``."""
        return self.tree_.quantiser_summary()

    def explain_one(self, x: Mapping[Any, Any]) -> Explanation:
        """As ``StreamTree.explain_one``, of the tree that predicts."""
        return self.tree_.explain_one(x)

    @property
    def history(self) -> History:
        """As ``StreamTree.history``, of the tree that predicts."""
        return self.tree_.history

    def _shown(self):
        return self.tree_._shown()

    @property
    def _quantiser(self):
        return self.tree_._quantiser

    def _exported(self):
        return self.tree_._exported()

    # Keeping

    def reset(self) -> None:
        """Forget everything learnt and let go of the boards."""
        for tree in self.__dict__.get("trees_", {}).values():
            tree.reset()
        self._forget()

    def close(self) -> None:
        """Let go of the boards; what was learnt stays."""
        for tree in self.__dict__.get("trees_", {}).values():
            tree.close()
