"""What users hand in: labels, and the attributes of data frames and arrays."""

import numpy as np
import pandas as pd
from sklearn.utils.validation import column_or_1d

from ..data.schema import Attribute, Schema

__all__ = ["labels_of", "schema_of"]


def labels_of(y):
    """Labels as an array.

    Raises
    ------
    ValueError
        If a label is missing, infinite or no whole number.
    """
    labels = column_or_1d(y, warn=True)
    if labels.dtype == object and all(isinstance(label, str) for label in labels):
        labels = labels.astype(str)
    missing = pd.isna(labels)
    if missing.any():
        raise ValueError(f"y[{int(missing.argmax())}] is missing (Input y contains NaN): every "
                         "instance needs a label")
    if labels.dtype.kind == "f":
        whole = labels == np.floor(labels)
        if not (whole & np.isfinite(labels)).all():
            row = int((~(whole & np.isfinite(labels))).argmax())
            what = "infinity" if np.isinf(labels[row]) else "continuous"
            raise ValueError(f"Unknown label type: {what}. y[{row}] is {labels[row]!r}; a label "
                             "is a string, an integer or a boolean")
    return labels


def schema_of(X, classes, nominal):
    """The schema of the first instances.

    Parameters
    ----------
    X : DataFrame or array (n, attributes)
    classes : array
        All labels.
    nominal : sequence or dict
        Nominal attributes by name or position, with their values if a dict.

    Raises
    ------
    ValueError
        If ``nominal`` names an attribute that is not there.
    """
    if isinstance(X, pd.DataFrame):
        names = list(X)
        numeric = {name: pd.api.types.is_numeric_dtype(X[name]) and X[name].dtype != bool
                   for name in names}
        found = {name: (False, True) if X[name].dtype == bool else ()
                 for name in names if not numeric[name]}
        found |= {name: tuple(X[name].cat.categories) for name in names
                  if isinstance(X[name].dtype, pd.CategoricalDtype)}
    else:
        names = [f"x{i}" for i in range(X.shape[1])]
        found = {}
    given = nominal if isinstance(nominal, dict) else dict.fromkeys(nominal, ())
    for key, values in given.items():
        name = key
        if isinstance(key, int | np.integer) and -len(names) <= key < len(names):
            name = names[key]
        if name not in names:
            raise ValueError(f"nominal names the attribute {key!r}; there are {names}")
        found[name] = tuple(values) or found.get(name, ())
    return Schema(
        tuple(Attribute(name, "nominal", found[name]) if name in found
              else Attribute(name, "numeric") for name in names),
        class_name="class" if "class" not in names else "the class",
        classes=tuple(classes.tolist()))
