"""What scikit-learn's trees offer besides learning and predicting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

from .inputs import labels_of, same_length
from .policy.criteria import remainder
from .shared import Shared
from .turns import reading
from .weights import weights_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..hints import Column, Frame

__all__ = ["Conventions", "Scoring", "importances"]


class Scoring(Shared):
    """Mixin of every tree: depth, leaves and accuracy, by scikit-learn's names."""

    def get_depth(self) -> int:
        """Splits from the root to the deepest leaf."""
        return self.report()["depth"]

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        return self.report()["leaves"]

    def score(self, X: Frame, y: Column, sample_weight: Column | None = None) -> float:
        """Accuracy of ``predict(X)``: the share, by weight, of the labels ``y`` that it meets."""
        labels = labels_of(y)
        predicted = self.predict(X)
        same_length(predicted, labels)
        if not len(labels):
            raise ValueError("there must be at least 1 instance, found array with 0 sample(s)")
        weights = None if sample_weight is None else weights_of(sample_weight, len(labels))
        if weights is not None and not weights.any():
            raise ValueError("all weights are zero: there is nothing to score")
        return float(np.average(_met(labels, predicted), weights=weights))

    def predict_log_proba(self, X: Frame) -> NDArray[np.float64]:
        """Logarithms of ``predict_proba``; minus infinity for a class that cannot be."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class Conventions(Scoring):
    """Mixin of ``StreamTree``: importances and paths, too."""

    @property
    @reading
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each attribute's splits lessen the impurity; float array (attributes,), sum 1.

        The impurity is that of the criterion, of the classes that the leaves count for their
        predictions, an inner node having the sum of its leaves'. All 0 if nothing has been split.
        """
        self._fitted()
        nodes = self._nodes
        if nodes is None:
            return np.zeros(self.n_features_in_)
        criterion, order = self._policy().options.criterion, nodes.predicting()[::-1].tolist()
        return importances(nodes, order, nodes.counts.copy(), criterion, self.n_features_in_)

    @reading
    def decision_path(self, X: Frame) -> csr_matrix:
        """The nodes that instances pass.

        Returns
        -------
        csr_matrix of int (n, nodes)
            1 where an instance (row) passes a node (column); node 0 is the root, and ``apply``
            says which one is the leaf. Numbers of nodes that are gone are columns of zeros.
        """
        at = self.apply(X)
        nodes = self._nodes
        count, rows, passed = len(at), [], []
        row = np.arange(count)
        while len(row):
            rows.append(row)
            passed.append(at)
            at = nodes.parent[at]
            row, at = row[at >= 0], at[at >= 0]
        row, column = (np.concatenate([np.zeros(0, np.int64), *part]) for part in (rows, passed))
        return csr_matrix((np.ones(len(row), np.int64), (row, column)), (count, nodes.rows))


def importances(nodes, order, counts, criterion, attributes):
    """How much each attribute's splits lessen the impurity; float array (attributes,), sum 1, or all 0.

    Parameters
    ----------
    nodes : Nodes or View
    order : list of int
        Nodes, children before parents.
    counts : int array (nodes, classes)
        Of the leaves; those of inner nodes are written.
    criterion : int
        Its number.
    attributes : int
    """
    found = np.zeros(attributes)
    for node in order:
        children = [nodes.standing(child) for child in nodes.children(node)]
        if children:
            sides = counts[children]
            counts[node] = sides.sum(axis=0)
            lessened = remainder(criterion, counts[node : node + 1]) - remainder(criterion, sides)
            found[nodes.attribute[node]] += max(lessened, 0.0)
    total = found.sum()
    return found / total if total else found


def _met(labels, predicted):
    """Which labels are as predicted; those of another kind are none of them."""
    return np.array([one == other for one, other in zip(labels.tolist(), predicted.tolist(), strict=True)], bool)
