"""What comes into a tree: checked whole before anything is learnt of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..criteria import DECLARED
from ..data.quantiser import Quantiser
from ..geometry import MISSING
from ..warn import warn
from ..words import listed, shown
from .inputs import as_frame, class_indices, labels_of, named_classes, same_length, schema_of, too_many_values
from .policy.bounds import TWO_CLASSES
from .shared import Shared
from .turns import changing

if TYPE_CHECKING:
    from typing import Self

    from ..hints import Column, Frame

__all__ = ["Intake"]


class Intake(Shared):
    """Mixin of every tree: instances and labels, and what is set up for the first ones."""

    @changing
    def declare(self, X: Frame, classes: Column) -> Self:
        """Say which attributes and classes there are, and learn nothing yet.

        Parameters
        ----------
        X : data frame of any library or array (n, attributes)
            Instances as those that will come, one at least.
        classes : collection
            All labels that will ever come.

        Raises
        ------
        TypeError, ValueError
            As ``partial_fit``; or if the tree knows them already.
        """
        if hasattr(self, "classes_"):
            raise ValueError(
                f"this {type(self).__name__} knows its attributes and classes already: reset() forgets them"
            )
        X, classes = self._frame(X), named_classes(classes)
        if not len(X):
            raise ValueError("X must have 1 instance at least, to tell the kinds of its attributes")
        schema, quantiser = self._prepare(X, classes)
        self._start(schema, quantiser, classes, isinstance(X, pd.DataFrame))
        return self

    @changing
    def restart(self) -> Self:
        """Forget what was learnt, but not which attributes and classes there are."""
        self._fitted()
        schema, classes, named, grows = self.schema_, self.classes_, hasattr(self, "feature_names_in_"), self._grows
        columns = self._columns
        self.reset()
        self._start(schema, self._new_quantiser(schema), classes, named)
        self._grows, self._columns = grows, columns
        return self

    def _checked(self, X, y, classes, weigh):
        """(data frame, class indices, weights) after all checks of labels and columns."""
        labels = labels_of(y)
        X = self._frame(X)
        same_length(X, labels)
        first = not hasattr(self, "classes_")
        if first:
            if classes is None:
                raise ValueError("classes must name all class labels in the first call")
            known = named_classes(classes)
        else:
            known = self.classes_
            if not (classes is None or _same(classes, known)) and not np.array_equal(
                again := named_classes(classes), np.sort(known)
            ):
                raise ValueError(
                    f"classes are {shown(known.tolist(), 300)} since the first call, not {shown(again.tolist(), 300)}"
                )
        indices = class_indices(labels, known)
        weights = weigh(indices, known)
        if first and len(labels):
            self._start(*self._prepare(X, known), known, isinstance(X, pd.DataFrame))
        return X, indices, weights

    def _frame(self, X):
        """X as a data frame with names of strings, or as a 2-D array."""
        times = []
        X = as_frame(X, times)
        expected = getattr(self, "n_features_in_", None)
        if times and expected is None:
            warn(f"columns of dates and times are read as seconds, of dates since 1970 in UTC: {listed(times)}")
        if isinstance(X, pd.DataFrame) or expected is None:
            return X
        if X.shape[1] != expected:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {expected} features as input"
            )
        if hasattr(self, "feature_names_in_"):
            return pd.DataFrame(X, columns=self.feature_names_in_).infer_objects()
        return X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # missing values
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.classifier_tags.multi_class = not (
            getattr(self, "bound", None) in TWO_CLASSES
            or getattr(self, "criterion", None) in [known.name for known in DECLARED if known.classes == 2]
        )
        return tags

    def _prepare(self, X, classes):
        """Schema and quantiser for the first instances, after all checks; changes nothing."""
        self.check_parameters()
        schema = schema_of(X, classes, self.nominal)
        capacities = self._capacities(schema.attributes)
        self._policy().check(len(classes), any(capacities), self.nominal_split)
        self._check_size(capacities, len(classes))
        quantiser = self._new_quantiser(schema)
        quantiser.check(X)
        return schema, quantiser

    def _new_quantiser(self, schema):
        return Quantiser(schema, capacity=[capacity or 1 for capacity in self._capacities(schema.attributes)])

    def _capacities(self, attributes):
        """Per attribute 0 if it is numeric, else how many values it has room for."""
        capacities = [
            0 if attribute.kind == "numeric" else len(attribute.values) or int(self.nominal_values)
            for attribute in attributes
        ]
        if too_many := [a.name for a, capacity in zip(attributes, capacities, strict=True) if capacity > MISSING]:
            raise too_many_values(too_many)
        return capacities

    def _join(self, other, **policy):
        """Begin with what another learner knows of the stream, and share its code books.

        Parameters
        ----------
        other : Intake
        **policy
            Of ``SplitPolicy``, besides what the parameters say.
        """
        self._keep_fixed(**policy)
        self._start(other.schema_, other._quantiser, other.classes_, hasattr(other, "feature_names_in_"))
        self._grows = other._grows

    def _start(self, schema, quantiser, classes, named):
        """Set up for the first instances."""
        self.classes_ = classes
        self.schema_ = schema
        self.n_features_in_ = len(schema.attributes)
        if named:
            self.feature_names_in_ = np.array(schema.names, object)
        self._made_with = self._decisive()
        self._quantiser = quantiser
        self._begin()


def _same(classes, known):
    """Whether these are plainly the classes that are known, as mostly in calls after the first."""
    if type(classes) is np.ndarray:
        return classes.dtype == known.dtype and np.array_equal(classes, known)
    try:
        return type(classes) is list and classes == known.tolist()
    except TypeError:  # pandas' missing value is neither equal nor not
        return False
