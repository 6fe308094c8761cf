"""River's calls: one instance at a time, as a dict of attribute values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..data.row import check_text, check_value, is_missing, named
from ..data.schema import Attribute
from ..words import listed, shown
from .inputs import class_name_beside, class_set, is_position, label_array, labels_of
from .shared import Shared
from .single import Single
from .structure import walk
from .training.steps import Steps
from .turns import changing, reading
from .weights import HEAVIEST

if TYPE_CHECKING:
    from typing import Self

    from ..hints import Label

__all__ = ["OneByOne", "times_of"]

# Always missing; of a tree whose instances have had no attributes so far. The first numeric one takes its place.
_NONE_YET = Attribute("none yet", "numeric")


class OneByOne(Shared):
    """Mixin of every tree; what is learnt is the same as with ``partial_fit``.

    For streams that come one by one; instances by the thousand are learnt faster in batches.
    """

    _single = None  # a `Single` while nothing but instances comes
    _grows = False  # whether a new label makes a new class

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if not (name.startswith("_") or name.endswith("_")):
            self._single = None  # a parameter may be another now

    @changing
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

    def _learn_one(self, x, y, w):
        times = times_of(w)
        if times is not None and times != 1:
            for _ in range(times):
                self.learn_one(x, y)
            return
        self._check_ready()
        values = {name: None if is_missing(value) else value for name, value in named(x).items()}
        first = "classes_" not in self.__dict__
        known = {} if first else self.schema_.by_name
        new = {name: _attribute(name, value) for name, value in _given(values).items() if name not in known}
        for name, value in values.items():
            if value is not None:
                check_value(known.get(name) or new[name], value)
        if first:
            self._learn_first(values, y, w)
            return
        if not (self._grows or known.keys() >= values.keys()):
            name = next(name for name in values if name not in known)
            raise ValueError(f"unknown attribute {name!r}; there are {listed(self.schema_.names)}")
        classes = self._new_class(y)
        if new:
            self._with_attributes(tuple(new.values()))
        if classes is not None:
            self._with_class(classes)
        once = times == 1 and self.class_weight is None
        if once and (new or classes is not None):
            self._alone()
            self.learn_one(x, y)
            return
        row = {name: values.get(name) for name in self.schema_.names}
        self.partial_fit(pd.DataFrame([row]), [y], sample_weight=None if times == 1 else [w])
        if once:
            self._alone()

    def _learn_first(self, values, y, w):
        """Learn the first instance: it says which attributes and which class there are so far."""
        self.check_parameters()
        if isinstance(y, str):
            check_text(y, "y")
        if not any(map(is_position, self.nominal)):  # else attributes are counted, those without a value, too
            values = _given(values) or values
        declared = [name for name in self.nominal if isinstance(name, str)]
        for name in declared:
            check_text(name, "nominal")
        row = {**values, **{name: None for name in declared if name not in values}} or {_NONE_YET.name: None}
        self._grows = True
        try:
            self.partial_fit(pd.DataFrame([row]), [y], classes=[y], sample_weight=[w])
        except BaseException:
            # If the link was cut, `resume` learns it.
            if self._unfinished is None and not ("_tally" in self.__dict__ and self._tally.instances):
                self.reset()
            raise

    @reading
    def predict_one(self, x: Mapping[Any, Any]) -> Label | None:
        """Class of one instance, None before any was learnt."""
        single = self._single or self._alone_if_begun()
        if single is None:
            return None
        found = single.predict(x)
        if found is None:
            return single.labels[self._label_of(single)]
        return single.labels[found[1]]

    @reading
    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Label, float]:
        """Class shares for one instance: dict of label to share; empty before any was learnt."""
        single = self._single or self._alone_if_begun()
        if single is None:
            return {}
        shares = single.shares(x)
        if shares is None:
            shares = self._shares_of(single).tolist()
        return dict(zip(single.labels, shares))  # noqa: B905  # `strict` takes as long as the rest of the line

    @reading
    def leaf_counts_one(self, x: Mapping[Any, Any]) -> dict[Label, int]:
        """How many instances of each class the leaf of one instance counts, see ``leaf_counts``; empty before any."""
        single = self._single or self._alone_if_begun()
        if single is None:
            return {}
        found = single.predict(x)
        leaf = walk.route(self._nodes.table, single.row.codes[np.newaxis])[0] if found is None else found[0]
        return dict(zip(single.labels, self._nodes.counts[leaf].tolist(), strict=False))

    def _alone_if_begun(self):
        """What looks at one instance at a time, None before any was learnt."""
        return self._alone() if "classes_" in self.__dict__ else None

    def _label_of(self, single):
        """Class index of the instance that has been encoded last, by whatever board there is."""
        return int(self._shares_of(single).argmax())

    def _shares_of(self, single):
        """The same: class shares."""
        codes = single.row.codes[np.newaxis]
        return self._shares(codes, walk.route(self._nodes.table, codes))[0]

    def _alone(self):
        """What learns and predicts one by one."""
        self._check_ready()
        if self._single is None:
            self._single = Single(
                self._quantiser, self._open_trainer(), self.classes_, self.class_weight is None, self._grows
            )
        return self._single

    def _new_class(self, y):
        """The classes with a label that is none of them yet; None: it is one of them."""
        known = self.classes_.tolist()
        if isinstance(y, str):
            check_text(y, "y")
        if {type(y)} == set(map(type, known)) and y in known:
            return None
        labels = labels_of([*known, y])
        if labels.tolist()[-1] in known:
            return None
        if not self._grows:
            raise ValueError(
                f"y is {shown(y)}, none of the classes {shown(known, 300)}, which were all that would ever come"
            )
        self._check_classes(len(known) + 1)
        return label_array(np.array([*known, *class_set(labels[-1:]).tolist()], object))

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

    def _make_classes(self, count):
        """Be ready to count so many classes; ValueError if the board cannot."""
        self._make_room(count)
        self._trainer.count_classes(count)

    def _with_attributes(self, more):
        """Have more attributes, the last ones."""
        known = self.schema_.attributes
        renamed = any(attribute.name == self.schema_.class_name for attribute in more)
        if known == (_NONE_YET,) and more[0].kind == "numeric":
            known, more = more[:1], more[1:]
            self._single = None
        class_name = self.schema_.class_name
        if renamed:
            class_name = class_name_beside([attribute.name for attribute in known + more])
        schema = replace(self.schema_, attributes=known + more, class_name=class_name)
        if more:
            self._make_attributes(schema)
        self._quantiser.schema = schema
        self.schema_, self.n_features_in_ = schema, len(schema.attributes)
        self.feature_names_in_ = np.array(schema.names, object)

    def _make_attributes(self, schema):
        """Be ready for a schema of more attributes; an error if the board has no room."""
        capacities = self._capacities(schema.attributes[len(self.schema_.attributes) :])
        quantiser = self._quantiser.extended(schema, [capacity or 1 for capacity in capacities])
        if any(capacities):
            self._policy().check(len(self.classes_), True, self.nominal_split)
        self._make_cells(quantiser)
        if self._single is not None:
            self._single.extend(quantiser)


def _attribute(name, value):
    """What attribute a first value makes."""
    if isinstance(value, bool | np.bool_):
        return Attribute(name, "nominal", (False, True))
    numeric = isinstance(value, Real | Decimal) and not isinstance(value, np.timedelta64)
    return Attribute(name, "numeric" if numeric else "nominal")


def _given(values):
    """The values that are not missing: what an attribute is, its first value says."""
    return {name: value for name, value in values.items() if value is not None}


def times_of(w):
    """How many times an instance of weight ``w`` is learnt, None if it is no whole number."""
    if not isinstance(w, Real | np.bool_) or isinstance(w, np.timedelta64) or not 0 <= w <= HEAVIEST:
        raise ValueError(f"w is {shown(w)}: an instance is learnt as often as it weighs, 0 to {HEAVIEST}")
    return int(w) if w == int(w) else None
