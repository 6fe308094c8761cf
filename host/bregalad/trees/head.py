"""The first instances that come one by one: their names and labels are to be learnt from them."""

import numpy as np
import pandas as pd

from ..data.row import check_finite, check_text, named
from .inputs import class_set, labels_of

__all__ = ["Head"]

_FLOAT_BITS = 1023  # of an integer that any float can hold


class Head:
    """Hold instances until there are enough of them; what would be refused then, is so at once.

    Attributes
    ----------
    labels : list
    """

    def __init__(self):
        self.labels = []
        self._rows = []
        self._counts = {}  # by label
        self._examples = {}  # by what there is in an instance that may be refused: one of its kind

    def __len__(self):
        return len(self._rows)

    @property
    def frame(self):
        """The instances' values: a data frame."""
        return pd.DataFrame(self._rows)

    @property
    def classes(self):
        """The labels so far, as `class_set` gives them."""
        return class_set(labels_of(list(self._counts)))

    def hold(self, x, y, check):
        """Hold an instance.

        Parameters
        ----------
        x : dict
        y : label
        check : callable
            Takes a data frame and labels as `classes`, and raises what learning them would.

        Raises
        ------
        TypeError, ValueError
            If it could not be learnt with the others; it is not held then.
        """
        row = named(x)
        kind = (
            type(y),
            y if not isinstance(y, float) else None,
            frozenset((name, _kind(name, value)) for name, value in row.items()),
        )
        if not _is_hashable(y) or kind not in self._examples:
            labels = labels_of([*self._counts, y])
            if isinstance(y, str):
                check_text(y, "y")
            check(pd.DataFrame([*self._examples.values(), row]), class_set(labels))
            self._examples[kind] = row
        self._rows.append(row)
        self.labels.append(y)
        self._counts[y] = self._counts.get(y, 0) + 1

    def drop_last(self):
        """Forget the instance that was held last."""
        self._rows.pop()
        label = self.labels.pop()
        self._counts[label] -= 1
        if not self._counts[label]:
            del self._counts[label]

    def shares(self):
        """Share of every label: a dict, the labels sorted."""
        counts = {
            label.item() if isinstance(label, np.generic) else label: count for label, count in self._counts.items()
        }
        return {label: counts[label] / len(self._rows) for label in sorted(counts)}


def _is_hashable(y):
    try:
        hash(y)
    except TypeError:
        return False
    return True


def _kind(name, value):
    """What else than its being there may make a value of an attribute be refused."""
    if isinstance(value, str):
        check_text(value, f"attribute {name!r}")
    elif isinstance(value, int) and value.bit_length() > _FLOAT_BITS:
        return "large"
    elif isinstance(value, float | np.floating):
        check_finite(name, value)
        return "missing" if value != value else "number"
    return type(value)
