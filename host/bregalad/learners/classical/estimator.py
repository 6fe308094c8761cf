"""What the classical trees offer their users: scikit-learn's and River's calls, on instances that are kept."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.quantiser import Quantiser
from ...estimator.inputs import schema_of, too_many_values
from ...estimator.looking.draw import Drawn
from ...estimator.looking.inspection import importances
from ...estimator.one_by_one import OneByOne, times_of
from ...estimator.stream import StreamLearner
from ...estimator.weights import often
from ...geometry import MISSING
from ...hints import Frame, Label
from ...options import table as options
from ...policy.criteria import INFORMATION_GAIN
from . import storage
from .kernel import Data
from .tree import Tree, majority
from .view import View


class ClassicalTree(StreamLearner, Drawn):
    """Base of the trees that keep every instance, on the host: what they are asked for, and what they refuse."""

    _storage = storage
    _multiway = True  # whether nominal attributes have a branch per value
    _tree: Tree

    # Learning

    def _prepare(self, X, classes):
        self.check_parameters()
        schema = schema_of(X, classes, self.nominal)
        self._check_attributes(schema)
        self._check_classes(len(classes))
        quantiser = self._new_quantiser(schema)
        self._values(quantiser, X)
        return schema, quantiser

    def _new_quantiser(self, schema):
        return Quantiser(schema)

    def _check_attributes(self, schema):
        """Refuse attributes of a kind that is not taken with a ValueError."""

    def _check_classes(self, count):
        """Refuse more classes than are taken with a ValueError."""

    def _begin(self):
        self._tree = Tree(_numeric(self.schema_), self._multiway)

    def _values(self, quantiser, X, read_only=False):
        """Numbers and codes of instances; ValueError if there is no code left for a value."""
        lost = _lost(quantiser)
        numbers, codes = quantiser.values(X, read_only=read_only)
        if _lost(quantiser) > lost:
            raise _too_many_values(quantiser)
        return np.ascontiguousarray(numbers.T), np.ascontiguousarray(codes)

    def _weights(self, labels, classes, sample_weight, whole=False):
        weights = super()._weights(labels, classes, sample_weight, whole)
        more = len(labels) if weights is None else int(np.ceil(weights.sum()))
        self._check_room(more, 0 if whole or "_tree" not in self.__dict__ else self._tree.instances.count)
        return weights

    def _check_room(self, more, kept):
        """Refuse more instances than there is room for with a ValueError."""
        if kept + more > self.max_instances:
            raise ValueError(
                f"{type(self).__name__} keeps every instance: it has {kept}, and {more} more would be above "
                f"max_instances={self.max_instances}, so none of these is learnt. Give a greater max_instances "
                f"(set_params, up to {options.MOST_KEPT}) if there is memory for it, or choose a tree that keeps "
                "none (VFDT, EFDT)"
            )

    def _learn(self, X, y, classes, weigh):
        data = self._taken(X, y, classes, weigh)
        if len(data.labels):
            self._take(data)

    def _test_then_learn(self, X, y, classes, weigh):
        data = self._taken(X, y, classes, weigh)
        predicted = np.zeros(len(data.labels), np.int64)
        for i in range(len(data.labels)):
            one = Data(data.numbers[:, i : i + 1].copy(), data.codes[i : i + 1], data.labels[i : i + 1])
            predicted[i] = majority(self._counts(one)[0], self.classes_)
            self._take(one)
        return self.classes_[predicted]

    def _taken(self, X, y, classes, weigh):
        """Instances after all checks, as often as they are to be learnt: `Data`."""
        self._check_ready()
        X, labels, weights = self._checked(X, y, classes, weigh)
        if not len(labels):
            return Data(np.empty((0, 0)), np.empty((0, 0), np.uint8), labels)
        numbers, codes = self._values(self._quantiser, X)
        self._check_codes(codes)
        if weights is None:
            return Data(numbers, codes, labels)
        times, self._fractions = often(self, labels, weights)
        rows = np.repeat(np.arange(len(labels)), times)
        return Data(numbers[:, rows], codes[rows], labels[rows])

    def _check_codes(self, codes):
        """Refuse missing values with a ValueError, where they are not taken."""

    def _take(self, data, lost=False):
        """Learn instances."""
        if lost:
            raise _too_many_values(self._quantiser)
        self._check_codes(data.codes)
        self._check_room(len(data.labels), self._tree.instances.count)
        values = [book.values for book in _books(self._quantiser)]
        self._tree.learn(data, values, len(self.classes_))

    def reset(self) -> None:
        self._single = None
        self._forget()

    # One by one

    def _learn_one(self, x, y, w):
        if "_tree" in self.__dict__:
            self._check_room(times_of(w) or 0, self._tree.instances.count)  # before any repetition is learnt
        super()._learn_one(x, y, w)

    def _alone(self):
        self._check_ready()
        if self._single is None:
            once = self.class_weight is None
            self._single = OneByOne(self._quantiser, self.classes_, once, self._grows, self._take_one)
        return self._single

    def _take_one(self, single, place):
        self._take(self._encoded(single, place), single.row.lost)

    def _encoded(self, single, place):
        """The instance that was encoded last, of a class index: `Data`."""
        codes = np.delete(single.codes, self._quantiser.numeric, axis=1)
        return Data(np.ascontiguousarray(single.row.numbers.T), codes, np.array([place], np.int32))

    def _label_of(self, single):
        return int(majority(self._counts_of(single), self.classes_))

    def _shares_of(self, single):
        counts = self._counts_of(single)
        return counts / counts.sum()

    def _counts_of(self, single):
        return self._counts(self._encoded(single, 0))[0]

    def _make_classes(self, count):
        """Any number of classes is counted."""

    def _make_attributes(self, schema):
        self._check_attributes(schema)
        more = len(schema.attributes) - len(self._quantiser.books)
        quantiser = self._quantiser.extended(schema, [MISSING] * more)
        self._tree.widen(_numeric(schema))
        self._quantiser, self._single = quantiser, None

    # Predicting

    def predict(self, X: Frame) -> np.ndarray:
        """Class of every instance: the one that most instances are of where it comes to; array (n,)."""
        counts = self.leaf_counts(X)
        return self.classes_[majority(counts, self.classes_)]

    def predict_proba(self, X: Frame) -> NDArray[np.float64]:
        """Class shares of the instances where every instance comes to; float array (n, classes)."""
        counts = self.leaf_counts(X)
        totals = counts.sum(axis=1, keepdims=True)
        return np.where(totals, counts / np.maximum(totals, 1), 1 / counts.shape[1])

    def leaf_counts(self, X: Frame) -> NDArray[np.int64]:
        """How many instances of each class there are where every instance comes to; int array (n, classes)."""
        self._fitted()
        numbers, codes = self._values(self._quantiser, self._frame(X), read_only=True)
        return self._counts(Data(numbers, codes, np.zeros(len(codes), np.int32)))

    def leaf_counts_one(self, x: Mapping[Any, Any]) -> dict[Label, int]:
        """The same for one instance, by label; empty before any was learnt."""
        single = self._alone_if_begun()
        if single is None:
            return {}
        single.predict(x)
        return dict(zip(single.labels, self._counts_of(single).tolist(), strict=True))

    def _counts(self, data):
        """The classes of the instances where instances come to: int64 array (n, classes)."""
        counts = np.zeros((len(data.labels), len(self.classes_)), np.int64)
        for node, rows in self._tree.reached(data, len(counts)):
            counts[rows] = self._tree.counts(node, counts.shape[1])
        return counts

    # Looking

    def report(self) -> dict[str, Any]:
        """Sizes and counts as a dict: instances kept, nodes, leaves, depth, attempts, splits, replaced, pruned.

        An attempt looks for a node's best test; a node is replaced, with all below it, where another test is better.
        """
        self._fitted()
        depths = [(depth, node.test is None) for node, depth in self._tree.root.nodes()]
        return self._tree.event_counts | {
            "instances": self._tree.instances.count,
            "nodes": len(depths),
            "leaves": sum(leaf for _, leaf in depths),
            "depth": max(depth for depth, _ in depths),
        }

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each attribute's tests lessen the entropy; float array (attributes,), sum 1, or all 0."""
        view = self._shown()
        return importances(view, range(len(view.kind))[::-1], INFORMATION_GAIN, self.n_features_in_)

    def quantiser_summary(self) -> dict[str, Any]:
        """Kinds of ``attributes`` by name, and how many values nominal ones have."""
        self._fitted()
        return {
            "attributes": {
                attribute.name: {"kind": attribute.kind}
                | ({"values": len(book.values)} if attribute.kind == "nominal" else {})
                for attribute, book in zip(self.schema_.attributes, self._quantiser.books, strict=True)
            }
        }

    def _shown(self):
        self._fitted()
        return View(self._tree, self._quantiser, self.schema_, self.classes_)


def _numeric(schema):
    return [attribute.kind == "numeric" for attribute in schema.attributes]


def _books(quantiser):
    """The books of nominal attributes."""
    return [book for book in quantiser.books if hasattr(book, "values")]


def _lost(quantiser):
    """How many nominal values had no code."""
    return sum(book.overflowed for book in _books(quantiser))


def _too_many_values(quantiser):
    names = [name for name, book in zip(quantiser.schema.nominal, _books(quantiser), strict=True) if book.overflowed]
    return too_many_values(names)
