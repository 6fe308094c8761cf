"""River's calls: one instance at a time, as a dict of attribute values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..data.row import check_text, named
from ..words import listed, shown
from .head import Head
from .inputs import class_set, label_array, labels_of
from .shared import Shared
from .single import Single
from .structure import walk
from .turns import changing, reading
from .weights import HEAVIEST

if TYPE_CHECKING:
    from typing import Self

    from ..hints import Label

__all__ = ["OneByOne"]


class OneByOne(Shared):
    """Mixin of ``StreamTree``; what is learnt is the same as with ``partial_fit``.

    For streams that come one by one; instances by the thousand are learnt faster in batches.
    """

    _single = None  # a `Single` while nothing but instances comes
    _grows = False  # whether a new label makes a new class

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if not name.startswith("_"):
            self._single = None  # a parameter may be another now

    @changing
    def learn_one(self, x: Mapping[Any, Any], y: Label, w: float = 1) -> Self:
        """Learn one instance.

        Parameters
        ----------
        x : dict
            Attribute values by name. The names among the first ``head`` instances are the
            attributes; one that is absent later is missing.
        y : str, int or bool
            Class label. Where ``partial_fit`` has been given the classes, one of these; else a
            new one makes a new class: the last of ``classes_``.
        w : float
            Weight, 0 or more: as ``sample_weight`` of ``partial_fit``, a whole one is how many
            times the instance is learnt in a row. Among the first ``head`` instances of a tree
            that has been given no classes it must be whole.

        Raises
        ------
        TypeError, ValueError
            If an attribute or label is unknown, a value is none of its attribute's, or there are
            more classes than the board counts; nothing is learnt then.
        """
        single = self._single
        if single is None or type(w) is not int or w != 1 or not single.learn(x, y):
            self._learn_one(x, y, w)
        return self

    def _learn_one(self, x, y, w):
        times = _times(w)
        if times is not None and times != 1:
            for _ in range(times):
                self.learn_one(x, y)
        elif self._naming():
            if times is None:
                raise ValueError(
                    f"w is {w!r}: as long as the first {self.head} instances are "
                    "collected, weights must be whole numbers"
                )
            self._hold(x, y)
        elif self._warming():
            self._learn_weighed(x, y, w)
        else:
            single = self._alone()
            if single.place_of(y) is None:
                single = self._with_class(y)
            if times is None or self.class_weight is not None:
                self._learn_weighed(x, y, w)
            elif not single.learn(x, y):
                single.row.encode(x)
                self.learn_codes(single.row.codes[np.newaxis], np.array([single.place_of(y)], np.int32))

    def _learn_weighed(self, x, y, w):
        self.partial_fit(pd.DataFrame([self._full(x)]), [y], sample_weight=[w])

    @reading
    def predict_one(self, x: Mapping[Any, Any]) -> Label | None:
        """Class of one instance, None before any was learnt."""
        single = self._single
        if single is None:
            if self._naming() or self._warming():
                shares = self.predict_proba_one(x)
                return max(shares, key=shares.__getitem__) if shares else None
            single = self._alone()
        found = single.predict(x)
        if found is None:
            shares = self._shares_of(single)
            return single.labels[int(shares.argmax())]
        return single.labels[found[1]]

    @reading
    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Label, float]:
        """Class shares for one instance: dict of label to share; empty before any was learnt."""
        single = self._single
        if single is None:
            if self._naming():
                return self._unnamed.shares() if getattr(self, "_unnamed", None) else {}
            if self._warm_up is not None:
                return dict(zip(self.classes_.tolist(), self._warm_up.shares().tolist(), strict=True))
            single = self._alone()
        found = single.predict(x)
        shares = self._shares_of(single) if found is None else single.shares(*found)
        return dict(zip(single.labels, shares.tolist(), strict=True))

    def _shares_of(self, single):
        """Class shares of the instance that has been encoded last, by whatever board there is."""
        codes = single.row.codes[np.newaxis]
        return self._shares(codes, walk.route(self._nodes.table, codes))[0]

    def _naming(self):
        """Whether attributes and classes are still being collected."""
        return "classes_" not in self.__dict__

    def _alone(self):
        """What learns and predicts one by one, once the warm-up is over."""
        self._check_ready()
        if self._single is None:
            self._single = Single(self._quantiser, self._open_trainer(), self.classes_, self.class_weight is None)
        return self._single

    def _hold(self, x, y):
        """Hold an instance of the head; learn all if it is full."""
        if not getattr(self, "_unnamed", None):
            self._unnamed = Head()
        head = self._unnamed
        head.hold(x, y, self._prepare)
        if len(head) < self.head:
            return
        try:
            self._name_classes()
        except BaseException:
            if self._naming():
                head.drop_last()  # the caller still has it
            raise

    def _name_classes(self, classes=None):
        """Learn what was collected; the classes are those given, or those met so far."""
        head, self._unnamed = self._unnamed, None
        self._grows = classes is None
        try:
            self.partial_fit(head.frame, head.labels, classes=head.classes if classes is None else classes)
        except BaseException:
            if not self._naming() and self._warm_up is not None and not self._warm_up.count:
                self.reset()  # names and classes are there, but nothing is held or learnt
            if self._naming():
                self._unnamed, self._grows = head, False
            raise

    def _with_class(self, y):
        """Make a label a class, the last one."""
        known = self.classes_.tolist()
        if not self._grows:
            raise ValueError(
                f"y is {shown(y)}, none of the classes {shown(known, 300)}, which were all that would ever come"
            )
        label = class_set(labels_of([*known, y])[-1:])
        if isinstance(y, str):
            check_text(y, "y")
        classes = label_array(np.array([*known, *label.tolist()], object))
        nominal = any(attribute.kind == "nominal" for attribute in self.schema_.attributes)
        self._policy().check(len(classes), nominal, self.nominal_split)
        self._make_room(len(classes))
        self._trainer.count_classes(len(classes))
        self.classes_ = classes
        self.schema_ = replace(self.schema_, classes=tuple(classes.tolist()))
        self._quantiser.schema = self.schema_
        return self._alone()

    def _full(self, x):
        """``x`` in the order of the schema, absent attributes missing."""
        names, values = self.schema_.names, named(x)
        unknown = [name for name in values if name not in names]
        if unknown:
            raise ValueError(f"unknown attribute {unknown[0]!r}; there are {listed(names)}")
        for name, value in values.items():
            if isinstance(value, str):
                check_text(value, f"attribute {name!r}")
        return {name: values.get(name) for name in names}


def _times(w):
    """How many times an instance of weight ``w`` is learnt, None if it is no whole number."""
    if not isinstance(w, Real | np.bool_) or isinstance(w, np.timedelta64) or not 0 <= w <= HEAVIEST:
        raise ValueError(f"w is {shown(w)}: an instance is learnt as often as it weighs, 0 to {HEAVIEST}")
    return int(w) if w == int(w) else None
