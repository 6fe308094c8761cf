"""The calls that learn from many instances, in scikit-learn's way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import NotFittedError

from ..warn import warn
from ..words import shown
from .inputs import as_frame, class_indices, class_set, labels_of, same_length
from .shared import Shared
from .turns import Turns, changing

if TYPE_CHECKING:
    from typing import Self

    from ..hints import Column, Frame

__all__ = ["Learning"]


class Learning(Shared):
    """Mixin of every tree: ``fit``, ``partial_fit``, ``test_then_train``.

    Any number of threads may call a tree's methods at the same time: they take turns, see `Turns`.
    """

    def __new__(cls, *_, **__):
        tree = super().__new__(cls)
        tree._turns = Turns()  # here: copies and unpickled trees, which skip __init__, have one
        return tree

    @changing
    def fit(self, X: Frame, y: Column, sample_weight: Column | None = None) -> Self:
        """Learn from scratch.

        Parameters as in ``partial_fit``; but weights that are all below 1 are scaled to a mean of 1. Of one class only,
        a warning says so.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        labels = labels_of(y)
        if not len(labels):
            raise ValueError("there must be at least 1 instance, found array with 0 sample(s)")
        frame = as_frame(X)
        same_length(frame, labels)
        classes = class_set(labels)
        self._prepare(frame, classes)  # refuses bad input while the old tree is still there
        weights = self._weights(class_indices(labels, classes), classes, sample_weight, whole=True)
        if weights is not None and not weights.any():
            raise ValueError("all weights are zero: there is nothing to learn")
        if len(classes) == 1:
            warn(
                f"y has one class only, {shown(classes.tolist()[0])}: this is all that will ever be predicted; where "
                "others are to come, partial_fit is told all of them by classes"
            )
        self.reset()
        self._learn(frame, labels, classes, lambda *_: weights)
        return self

    @changing
    def partial_fit(
        self, X: Frame, y: Column, classes: Column | None = None, sample_weight: Column | None = None
    ) -> Self:
        """Learn instances in order.

        Parameters
        ----------
        X : data frame of any library or array (n, attributes)
        y : sequence (n,)
        classes : collection
            All labels that will ever come; needed with the first call.
        sample_weight : sequence (n,) or number
            How often each instance is learnt, 0 to 10,000. Fractions are saved up per class, and
            where those of a class come to 1 its instance is learnt once more.

        Raises
        ------
        TypeError, ValueError
            If X, y, classes or weights are not as learnt before, or wrong; nothing of X is learnt
            then.
        BoardError
            If the board fails; if its link was cut, `resume` finishes the call.
        """
        self._learn(X, y, classes, lambda labels, known: self._weights(labels, known, sample_weight))
        return self

    @changing
    def test_then_train(self, X: Frame, y: Column, classes: Column | None = None) -> np.ndarray:
        """Prequential step: predict each instance, then learn it.

        Returns
        -------
        array (n,)
            Each instance's prediction by the tree that had learnt all before it.

        Raises
        ------
        TypeError, ValueError, BoardError
            As ``partial_fit``; and if ``class_weight`` is below 1, for what is not learnt is not
            predicted either.
        """

        def weigh(labels, classes):
            weights = self._weights(labels, classes, None)
            if weights is not None and len(weights) and weights.min() < 1:
                raise ValueError(
                    "test_then_train predicts instances as they are learnt, so each "
                    "must be: class_weight must be 1 or more; partial_fit takes less"
                )
            return weights

        return self._test_then_learn(X, y, classes, weigh)

    def _test_then_learn(self, X, y, classes, weigh):
        """`_learn` that returns predictions; mostly it does anyway."""
        return self._learn(X, y, classes, weigh)

    def _fitted(self):
        if not hasattr(self, "classes_"):
            raise NotFittedError(
                f"this {type(self).__name__} has not learnt anything yet: call fit or partial_fit first"
            )
