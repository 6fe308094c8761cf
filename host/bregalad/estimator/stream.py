"""What every learner of instances as they come offers: attributes and classes declared, one instance at a time."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..boards.base import BoardError
from ..criteria import DECLARED
from ..data.quantiser import Quantiser
from ..driver.requirements import warn_of_lost
from ..driver.steps import Steps
from ..geometry import MISSING
from ..hints import Column, Frame, Label, Self
from ..options import table as options
from ..policy.bounds import TWO_CLASSES
from ..warn import warn
from ..words import listed, shown
from . import inputs, weights
from . import one_by_one as river
from .learner import Learner
from .parameters import check_nominal, same
from .turns import at_any_time


class StreamLearner(Learner):
    """Base of trees and ensembles that also learn one instance at a time: the same as with ``partial_fit``.

    Instances by the thousand are learnt faster in batches. A subclass has, besides those of `Learner`:

    * ``_policy()``: the split policy that the parameters describe; refuses wrong ones.
    * ``_check_size(capacities, classes)``: refuses a stream that the board, or any board, is too small for.
    * ``_begin()``: sets up what is to learn.
    * ``_testing_then_training(X, labels)``, ``_changing_books(due)``, of these columns: generators for `Steps`.
    * ``_alone()``: what learns and predicts one by one, a `OneByOne`; ``_label_of`` and ``_shares_of`` are told it, and
      tell class index or class shares, float array (classes,), of the instance that it has encoded last.
    * ``_make_classes(count)``, ``_make_attributes(schema)``: what is to be done for more of them; errors if the board
      has no room.

    Attributes
    ----------
    classes_ : array
        Class labels, sorted; after them those that ``learn_one`` has met later, as they came.
    n_features_in_ : int
    schema_ : Schema
    """

    _board_in_use = None  # the one that it learns on, or will, if that is open

    _single = None  # a `Single` while nothing but instances comes
    _grows = False  # whether a new label makes a new class
    _fractions = None  # of weights, what has been saved up of each class; None: nothing
    _unfinished = None  # steps that a cut link, or Ctrl-C while it was, has interrupted

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if not (name.startswith("_") or name.endswith("_")):
            self._single = None  # a parameter may be another now

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

    def check_parameters(self) -> None:
        for name, value in self._chosen().items():
            options.check(name, value)
        weights.check_class_weight(self.class_weight)
        check_nominal(self.nominal)

    # Attributes and classes

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
        X, classes = self._frame(X), inputs.named_classes(classes)
        if not len(X):
            raise ValueError("X must have 1 instance at least, to tell the kinds of its attributes")
        schema, quantiser = self._prepare(X, classes)
        self._start(schema, quantiser, classes, isinstance(X, pd.DataFrame))
        return self

    def restart(self) -> Self:
        """Forget what was learnt, but not which attributes and classes there are."""
        self._fitted()
        schema, classes, named, grows = self.schema_, self.classes_, hasattr(self, "feature_names_in_"), self._grows
        columns = self._columns
        self.reset()
        self._start(schema, self._new_quantiser(schema), classes, named)
        self._grows, self._columns = grows, columns
        return self

    def quantiser_summary(self) -> dict[str, Any]:
        """Codes used and values lost per attribute; see ``Quantiser.summary``."""
        self._fitted()
        return self._quantiser.summary()

    def _checked(self, X, y, classes, weigh):
        """(data frame, class indices, weights) after all checks of labels and columns."""
        labels = inputs.labels_of(y)
        X = self._frame(X)
        inputs.same_length(X, labels)
        first = not hasattr(self, "classes_")
        if first:
            if classes is None:
                raise ValueError("classes must name all class labels in the first call")
            known = inputs.named_classes(classes)
        else:
            known = self.classes_
            received = classes.tolist() if isinstance(classes, np.ndarray) else classes
            plain = received is None or (type(received) is list and same(received, known.tolist()))  # as mostly
            if not plain and not np.array_equal(again := inputs.named_classes(classes), np.sort(known)):
                raise ValueError(
                    f"classes are {shown(known.tolist(), 300)} since the first call, not {shown(again.tolist(), 300)}"
                )
        indices = inputs.class_indices(labels, known)
        weights = weigh(indices, known)
        if first and len(labels):
            self._start(*self._prepare(X, known), known, isinstance(X, pd.DataFrame))
        return X, indices, weights

    def _frame(self, X):
        """X as a data frame with names of strings, or as a 2-D array."""
        times = []
        X = inputs.as_frame(X, times)
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

    def _prepare(self, X, classes):
        self.check_parameters()
        schema = inputs.schema_of(X, classes, self.nominal)
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
            raise inputs.too_many_values(too_many)
        return capacities

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

    # Learning

    _weights = weights.instance_weights

    def _learn(self, X, y, classes, weigh):
        self._check_ready()
        X, labels, times = self._checked(X, y, classes, weigh)
        if not len(labels):
            return (inputs.named_classes(classes) if classes is not None else self.classes_)[:0]
        once = times is None
        steps = self._testing_then_training(X, labels) if once else weights.repeating(self, X, labels, times)
        found = self._finish(Steps(steps))
        warn_of_lost(self._quantiser)
        return found

    def resume(self) -> np.ndarray | float | None:
        """Go on after the link to the board was cut: connect again, finish what was interrupted.

        Nothing is lost and nothing is counted twice: what is learnt comes out as if there had been no
        cut.

        Returns
        -------
        array, float or None
            What the interrupted call (``unfinished``) would have returned, predictions for
            ``partial_fit``, too. None: it had not begun to learn, or learns nothing; repeat it.

        Raises
        ------
        BoardError
            If the board is still out of reach (`resume` may be called again), or has lost what it
            had counted: then load what was saved last, and go on with the instance that
            ``report()["instances"]`` tells.
        """
        board = self._board_in_use
        if board is None:
            self._fitted()
        else:
            board.resume()
        return None if self._unfinished is None else self._finish(self._unfinished)

    @property
    @at_any_time
    def unfinished(self) -> bool:
        """Whether there is a call that `resume` would finish."""
        return self._unfinished is not None

    def _finish(self, steps):
        """Run steps; they are kept if the link is cut."""
        try:
            return steps.run(lambda wait: self._board_in_use.receive(wait))
        finally:
            self._unfinished = steps if steps.unfinished else None

    def _check_ready(self):
        """Refuse to go on with a cut link or with other parameters than it was begun with."""
        if self._unfinished is not None:
            raise BoardError(
                "the link to the board was cut, or interrupted, while this was learning: resume() finishes that"
            )
        self._check_unchanged()

    # One by one

    def learn_one(self, x: Mapping[Any, Any], y: Label, w: float = 1) -> Self:
        """Learn one instance.

        Parameters
        ----------
        x : dict
            Attribute values by name; one that is absent is missing. Where ``partial_fit`` has said
            which attributes there are, one of these; else a new one is learnt from its first value
            on, as a nominal one if that is a string or a truth value.
        y : str, int or bool
            Class label. Where ``partial_fit`` has been given the classes, one of these; else a
            new one makes a new class: the last of ``classes_``.
        w : float
            Weight, 0 or more: as ``sample_weight`` of ``partial_fit``, a whole one is how many
            times the instance is learnt in a row.

        Raises
        ------
        TypeError, ValueError
            If an attribute or label is unknown, a value is none of its attribute's, or the board
            has no room for an attribute or class that is new; nothing is learnt then.
        """
        single = self._single
        if single is None or type(w) is not int or w != 1 or not single.learn(x, y):
            self._learn_one(x, y, w)
        elif single.look:
            self._finish(Steps(self._changing_books(self._quantiser.due())))
        return self

    _learn_one = river.learn

    def predict_one(self, x: Mapping[Any, Any]) -> Label | None:
        """Class of one instance, None before any was learnt."""
        single = self._single or self._alone_if_begun()
        if single is None:
            return None
        found = single.predict(x)
        return single.labels[self._label_of(single) if found is None else found[1]]

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Label, float]:
        """Class shares for one instance: dict of label to share; empty before any was learnt."""
        single = self._single or self._alone_if_begun()
        if single is None:
            return {}
        shares = single.shares(x)
        if shares is None:
            shares = self._shares_of(single).tolist()
        return dict(zip(single.labels, shares))  # noqa: B905  # `strict` takes as long as the rest of the line

    def _alone_if_begun(self):
        """What looks at one instance at a time, None before any was learnt."""
        return self._alone() if "classes_" in self.__dict__ else None

    def _label_of(self, single):
        return int(self._shares_of(single).argmax())

    def _check_classes(self, count):
        """Refuse so many classes with a ValueError if the parameters do not allow them."""
        nominal = any(attribute.kind == "nominal" for attribute in self.schema_.attributes)
        self._policy().check(count, nominal, self.nominal_split)

    def _with_class(self, classes):
        """Make a label a class, the last one of ``classes``."""
        self._make_classes(len(classes))
        self.classes_ = classes
        self.schema_ = replace(self.schema_, classes=tuple(classes.tolist()))
        self._quantiser.schema = self.schema_
        self._single = None

    def _with_attributes(self, more):
        """Have more attributes, the last ones."""
        known = self.schema_.attributes
        renamed = any(attribute.name == self.schema_.class_name for attribute in more)
        if known == (river.NONE_YET,) and more[0].kind == "numeric":
            known, more = more[:1], more[1:]
            self._single = None
        class_name = self.schema_.class_name
        if renamed:
            class_name = inputs.class_name_beside([attribute.name for attribute in known + more])
        schema = replace(self.schema_, attributes=known + more, class_name=class_name)
        if more:
            self._make_attributes(schema)
        self._quantiser.schema = schema
        self.schema_, self.n_features_in_ = schema, len(schema.attributes)
        self.feature_names_in_ = np.array(schema.names, object)
