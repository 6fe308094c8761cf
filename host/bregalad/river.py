"""The trees as River's classifiers, for its pipelines, ensembles and evaluation.

Examples
--------
>>> from bregalad.river import VFDT
>>> from river import datasets, evaluate, metrics, preprocessing
>>> model = preprocessing.StandardScaler() | VFDT()
>>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy()).get() > 0.8
True
"""

import copy
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

try:
    from river import base
except ImportError as error:
    raise ImportError("bregalad.river is for River: pip install 'bregalad[river]'") from error

from .estimator.inputs import as_frame, labels_of, same_length
from .hints import Self
from .learners.catalogue import TREES


class _Classifier(base.MiniBatchClassifier):
    """What River asks for besides ``learn_one`` and the others."""

    @classmethod
    def _unit_test_params(cls):
        yield {}

    def _get_params(self):
        params = super()._get_params()
        # River takes a tuple for a class and its parameters, and looks at the first of its items.
        return {**params, "nominal": params["nominal"] or []}

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """One with the same parameters that has learnt nothing, unless ``include_attributes``."""
        if include_attributes:
            tree: Any = copy.deepcopy(self)
            return tree.set_params(**new_params or {})
        tree = super().clone(new_params)
        return tree.set_params(nominal=tree.nominal or ())

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> Self:  # type: ignore[override]
        """Learn a data frame's instances in order, as `learn_one` would, and as fast as ``partial_fit`` can."""
        X, labels = _frame(X), labels_of(y)
        same_length(X, labels)
        tree: Any = self
        known = hasattr(tree, "classes_") and set(X) <= set(tree.schema_.names)
        if known and set(labels.tolist()) <= set(tree.classes_.tolist()):
            return tree.partial_fit(X.reindex(columns=tree.schema_.names), labels)
        for x, label in zip(X.to_dict("records"), labels.tolist(), strict=True):
            tree.learn_one(x, label)
        return self

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """What `predict_one` says of each instance."""
        X, tree = _frame(X), cast(Any, self)
        known = hasattr(tree, "classes_")
        return pd.Series(tree.predict(self._known(X)) if known else None, index=X.index)

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """What `predict_proba_one` says of each instance, a column per class; none before any was learnt."""
        X, tree = _frame(X), cast(Any, self)
        if not hasattr(tree, "classes_"):
            return pd.DataFrame(index=X.index)
        return pd.DataFrame(tree.predict_proba(self._known(X)), index=X.index, columns=tree.classes_)

    def _known(self, X):
        """The attributes that there are; unknown ones say nothing where new ones may come."""
        return X.reindex(columns=self.schema_.names) if self._grows else X


def _frame(X):
    X = as_frame(X)
    if not isinstance(X, pd.DataFrame):
        raise TypeError(f"X must be a data frame, with attributes' names, not {type(X).__name__}")
    return X


def _as_rivers(kind):
    """River's class of a tree; calls that learn return the tree, where River's return None."""
    several = kind().__sklearn_tags__().classifier_tags.multi_class
    own = {"__doc__": kind.__doc__, "__module__": __name__, "_multiclass": several}
    return type(kind.__name__, (kind, _Classifier), own)


__all__ = [kind.__name__ for kind in TREES.values()]
globals().update({kind.__name__: _as_rivers(kind) for kind in TREES.values()})
if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
