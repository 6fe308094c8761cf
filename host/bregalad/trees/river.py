"""River's calls: one instance at a time, as a dict of attribute values."""

import numpy as np
import pandas as pd

from ..data.nominal import plain
from .inputs import class_set, labels_of
from .structure.walk import route
from .turns import changing, reading

__all__ = ["OneByOne"]


class OneByOne:
    """Mixin of ``StreamTree``; what is learnt is the same as with ``partial_fit``.

    For streams that come one by one; instances by the thousand are learnt faster in batches.
    """

    @changing
    def learn_one(self, x, y):
        """Learn one instance.

        Parameters
        ----------
        x : dict
            Attribute values by name. The names among the first ``head`` instances are the
            attributes; one that is absent later is missing.
        y : str, int or bool
            Class label; the classes are those given to ``partial_fit`` before, or those among
            the first ``head`` instances.

        Raises
        ------
        ValueError
            If an attribute or label is unknown; nothing is learnt then.
        """
        if self._naming():
            self._unnamed = held = getattr(self, "_unnamed", [])
            _check_one(x, y, held[0][1] if held else y)
            held.append((dict(x), y))
            if len(self._unnamed) >= self.head:
                self._name_classes()
        elif self._warming() or self.class_weight is not None:
            self.partial_fit(pd.DataFrame([self._full(x)]), [y])
        else:
            self._check_ready()  # before the quantiser takes in what is new
            label = np.flatnonzero(self.classes_ == y)
            if not len(label):
                raise ValueError(f"y is {y!r}, none of the classes {self.classes_.tolist()}")
            self.learn_codes(self._quantiser.encode(self._column_of(x)), label.astype(np.int32))
        return self

    @reading
    def predict_one(self, x):
        """Class of one instance, None before any was learnt."""
        shares = self.predict_proba_one(x)
        return max(shares, key=shares.get) if shares else None

    @reading
    def predict_proba_one(self, x):
        """Class shares for one instance: dict of label to share; empty before any was learnt."""
        if self._naming():
            labels = [label for _, label in getattr(self, "_unnamed", [])]
            values, counts = np.unique(labels, return_counts=True)
            return dict(zip(values.tolist(), (counts / max(1, len(labels))).tolist(), strict=True))
        if self._warming():
            shares = self._warm_up.shares()
        else:
            codes = self._quantiser.encode(self._column_of(x), read_only=True)
            shares = self._shares(codes, route(self._nodes.table, codes))[0]
        return dict(zip(self.classes_.tolist(), shares.tolist(), strict=False))

    def _naming(self):
        """Whether attributes and classes are still being collected."""
        return not hasattr(self, "classes_")

    def _name_classes(self, classes=None):
        """Learn what was collected; the classes are those given, or those met so far."""
        held, self._unnamed = self._unnamed, []
        labels = [label for _, label in held]
        try:
            self.partial_fit(pd.DataFrame([x for x, _ in held]), labels,
                             classes=class_set(labels_of(labels)) if classes is None else classes)
        except BaseException:
            if self._naming():
                self._unnamed = held
            raise

    def _full(self, x):
        """``x`` in the order of the schema, absent attributes missing."""
        names = self.schema_.names
        values = {str(name): value for name, value in x.items()}
        unknown = [name for name in values if name not in names]
        if unknown:
            raise ValueError(f"unknown attribute {unknown[0]!r}; there are {', '.join(names)}")
        return {name: values.get(name) for name in names}

    def _column_of(self, x):
        return {name: np.array([value], object if value is None or isinstance(value, str) else None)
                for name, value in self._full(x).items()}


def _check_one(x, y, first):
    """Refuse an instance of the head that `partial_fit` would refuse, before it is held."""
    for name, value in x.items():
        if pd.isna(value):
            continue
        try:
            number = plain(value)
        except TypeError as error:
            raise TypeError(f"attribute {name!r}: {error}") from error
        if isinstance(number, float) and np.isinf(number):
            raise ValueError(f"attribute {name!r}: {value} is infinite; a value is finite or "
                             "missing (None, NaN)")
    class_set(labels_of([first, y]))
