"""What users hand in: labels, and the attributes of data frames and arrays."""

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from os import PathLike

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, column_or_1d

from ..data.frames import as_pandas, as_series
from ..data.row import check_text, is_missing
from ..data.schema import Attribute, Schema
from ..geometry import MISSING
from ..warn import warn
from ..words import ignored, listed, one_line, shown

_LABELS = ("string", "boolean", "integer", "floating", "mixed-integer-float", "empty")
_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "empty")


def labels_of(y):
    """Labels as an array; of a list, an array, or a column of any library.

    ValueError if a label is missing, infinite or no whole number, or labels are of several kinds.
    """
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biu" and y.dtype.isnative:
        return y  # nothing of the following is for these
    y = as_series(y)
    if isinstance(y, list | tuple) and not isinstance(next(iter(y), None), list | tuple):
        # As it is: numpy would make strings of labels of several kinds.
        try:
            y = pd.Series(y, dtype=object).infer_objects()
        except UnicodeEncodeError as error:
            raise ValueError(f"y holds {shown(error.object)}, which is no Unicode text") from error
    if isinstance(y, pd.Series) and y.dtype != object and not y.hasnans:
        # Else scikit-learn makes floats of the nullable kinds, in which large integers are one.
        if pd.api.types.is_bool_dtype(y.dtype):
            y = y.to_numpy(bool)
        elif pd.api.types.is_integer_dtype(y.dtype):
            y = y.to_numpy(np.uint64 if pd.api.types.is_unsigned_integer_dtype(y.dtype) else np.int64)
    labels = converted(column_or_1d, y, "y", warn=True)
    labels = labels.astype(labels.dtype.newbyteorder("="), copy=False)  # pandas takes no other
    if not (labels.dtype == object and pd.api.types.infer_dtype(labels, skipna=False) == "string"):
        _check_labels(labels)  # of strings none is missing
    return labels


def _check_labels(labels):
    """ValueError if a label is missing, infinite or no whole number, or labels are of several kinds."""
    missing = np.array([*map(is_missing, labels)]) if labels.dtype == object else pd.isna(labels)
    if missing.any():
        raise ValueError(f"y[{int(missing.argmax())}] is missing (Input y contains NaN): every instance needs a label")
    kind = pd.api.types.infer_dtype(labels, skipna=False)
    if kind not in _LABELS and len(labels):
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise ValueError(
            f"Unknown label type: {kind}; a label is a string, an integer or a boolean, and labels must be all of one "
            f"kind, not {' and '.join(kinds)}"
        )
    if kind in ("floating", "mixed-integer-float"):
        numbers = np.array([label if isinstance(label, float | np.floating) else 0 for label in labels], np.float64)
        whole = np.isfinite(numbers) & (numbers == np.floor(numbers))
        if not whole.all():
            row = int((~whole).argmax())
            what = "infinity" if np.isinf(numbers[row]) else "continuous"
            raise ValueError(
                f"Unknown label type: {what}. y[{row}] is {labels[row]!r}; a label is a string, an integer or a boolean"
            )


def named_classes(classes):
    """The labels that ``classes`` names, as `class_set` gives them; it may be a set.

    TypeError if it is a string, or nothing to go through; ValueError as `labels_of`.
    """
    if isinstance(classes, str | bytes | Mapping) or not hasattr(classes, "__iter__"):
        raise TypeError(f"classes must be all class labels, as a list or a set, not {shown(classes)}")
    known = hasattr(classes, "dtype") or hasattr(classes, "type")  # arrays and columns
    return class_set(labels_of(classes if known else list(classes)))


def class_set(labels):
    """All labels, sorted, each once."""
    return np.sort(label_array(pd.unique(labels)))


def label_array(labels):
    """An array of labels as one of their type; objects stay only integers too large for any."""
    if pd.api.types.infer_dtype(labels, skipna=False) in ("string", "empty"):
        return labels.astype(str)
    return np.array(pd.Series(labels).infer_objects()) if labels.dtype == object else labels


def class_indices(labels, known):
    """Index of every label among the sorted ``known`` ones: int32 array (n,); ValueError if one is none of them."""
    if len(labels) and all(np.can_cast(each.dtype, np.int64) for each in (labels, known)):
        low, high = int(known[0]), int(known[0]) + len(known) - 1
        if np.array_equal(known, np.arange(low, high + 1)) and low <= labels.min() and labels.max() <= high:
            return (labels.astype(np.int64, copy=False) - low).astype(np.int32)
    positions = {label: i for i, label in enumerate(known.tolist())}
    codes, values = pd.factorize(labels)
    indices = np.array([positions.get(value, -1) for value in values.tolist()], np.int32)[codes]
    if (indices < 0).any():
        row = int((indices < 0).argmax())
        raise ValueError(
            f"y[{row}] is {shown(labels.tolist()[row])}, none of the classes {shown(known.tolist(), 300)}: "
            "name all that will ever come in the first call's classes"
        )
    return indices


def same_length(X, labels):
    """Raise ValueError unless there is a label for each instance."""
    if len(X) != len(labels):
        raise ValueError(f"X has {len(X)} instances, y has {len(labels)} labels")


def as_frame(X, times=None):
    """X as a data frame with distinct names of strings, or as a 2-D array; TypeError or ValueError if it is neither.

    Data frames of other libraries become pandas', what is masked is missing, and of a list whose rows mix kinds every
    value stays what it is. Columns of dates and times become numbers; the list ``times`` takes their names.
    """
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "biuf" and X.shape[1]:
        return X  # nothing of the following is for these
    if isinstance(X, str | PathLike):
        raise TypeError(
            f"X is the text {shown(str(X))}; a file is read by pandas.read_csv, or chunk by chunk by "
            "bregalad.data.open_stream"
        )
    X = as_pandas(X, times)
    if isinstance(X, Mapping) and not issparse(X):  # of these one kind is a dict
        raise TypeError("X is a dict: give pandas.DataFrame(X), or one instance to learn_one and predict_one")
    if isinstance(X, pd.DataFrame):
        return _with_names(X)
    if isinstance(X, list | tuple):
        X = _rows(X)
    # NaN is a missing value; the quantiser names the place of an infinity.
    return converted(check_array, X, "X", dtype=None, ensure_all_finite=False, ensure_min_samples=0)


def _with_names(X):
    """A data frame with names of strings; ValueError if two are the same."""
    known = list(X)
    names = [str(name) for name in known]
    if len(set(names)) < len(names):
        name = Counter(names).most_common(1)[0][0]
        raise ValueError(f"X has two columns named {name!r}; names must be distinct")
    for text in names:
        check_text(text, "an attribute's name")
    return X if names == known else X.set_axis(names, axis=1)


def converted(check, values, what, **options):
    """What a check of scikit-learn's makes of values; its errors in one line."""
    if np.ma.is_masked(values):
        raise TypeError(f"{what} has masked values: {what}.astype(float).filled(numpy.nan) has missing ones")
    try:
        if not (hasattr(values, "dtype") and hasattr(values, "ndim")):
            values = np.asarray(values)
        # Neither pandas nor scikit-learn knows numpy's strings of any length.
        return check(values.astype(object) if getattr(values.dtype, "kind", None) == "T" else values, **options)
    except Exception as error:  # whatever another library's conversion raises
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{what} must be an array or a list, its rows all of one length: {one_line(error, 300)}") from error


def _rows(X):
    """A list of instances as an array."""
    if len(X) and isinstance(X[0], Mapping):
        raise TypeError("X is a list of dicts: give pandas.DataFrame(X), or one at a time to learn_one and predict_one")
    try:
        array = np.asarray(X)
    except ValueError:  # rows of several lengths
        return X
    # Of numbers and strings numpy makes strings.
    return np.array(X, object) if array.dtype.kind in "US" else array


def schema_of(X, classes, nominal):
    """The schema of the first instances, a data frame or an array (n, attributes), and of all labels.

    ``nominal`` has nominal attributes by name or position, with their values if a dict. TypeError or ValueError if it
    names an attribute that is not there, or values that none can have.
    """
    if isinstance(X, pd.DataFrame):
        names = list(X)
        found = {
            name: (False, True) if pd.api.types.is_bool_dtype(X[name].dtype) else ()
            for name in names
            if not _is_numeric(X[name])
        }
        found |= {
            name: tuple(value for value in X[name].cat.categories if not isinstance(value, str) or value != "?")
            for name in names
            if isinstance(X[name].dtype, pd.CategoricalDtype)
        }
    else:
        names = [f"x{i}" for i in range(X.shape[1])]
        found = {}
    words = {name for name, values in found.items() if values == ()}
    declared = nominal if isinstance(nominal, dict) else dict.fromkeys(nominal, ())
    for key, values in declared.items():
        name = str(key)  # a frame's columns may be named by numbers
        if name not in names and is_position(key) and -len(names) <= key < len(names):
            name = names[key]
        if name not in names:
            raise ValueError(f"nominal names the attribute {shown(key)}; there are {listed(names)}")
        found[name] = tuple(values) or found.get(name, ())
        words.discard(name)
    for name in sorted(words, key=names.index):
        _warn_of_numbers(name, X[name])
    return Schema(
        tuple(
            Attribute(name, "nominal", found[name]) if name in found else Attribute(name, "numeric") for name in names
        ),
        class_name=class_name_beside(names),
        classes=tuple(classes.tolist()),
    )


def _warn_of_numbers(name, column):
    """Warn of a column that few of its words make nominal, the others being numbers."""
    there = column[column.notna()]
    words = pd.Series([*map(str, there)], there.index, object)  # pandas' own strings refuse lone surrogates
    wrong = words[pd.to_numeric(words, errors="coerce").isna()]
    if 0 < len(wrong) <= max(len(words) > 20, len(words) // 100):  # as in files
        warn(
            f"attribute {name!r} is nominal, for {len(wrong)} of {len(words)} values are no numbers, as "
            f"{wrong.iloc[0]!r} of row {wrong.index[0]}: if it is numeric, take pd.to_numeric(X[{name!r}], "
            f"errors='coerce'); if not, nominal=[{name!r}]"
        )


def too_many_values(names):
    """The error of nominal attributes with more values than there are codes."""
    return ValueError(
        f"nominal attributes have more than {MISSING} values, which codes cannot tell apart: "
        f"{listed(map(repr, names))}; leave them out ({ignored(names)}), group the values, or declare numeric what "
        "holds numbers (what is none is named then)"
    )


def class_name_beside(names):
    """A name for the class that no attribute has."""
    return next(
        name for name in ("class", "the class", *(f"class {i}" for i in range(len(names) + 1))) if name not in names
    )


def is_position(key):
    """Whether a key can count attributes; NumPy's time spans are integers to Python."""
    return isinstance(key, int | np.integer) and not isinstance(key, np.timedelta64)


def _is_numeric(column):
    if pd.api.types.is_bool_dtype(column.dtype) or isinstance(column.dtype, pd.CategoricalDtype):
        return False
    if column.dtype == object:
        kind = pd.api.types.infer_dtype(column, skipna=True)
        try:
            return (
                kind in _NUMBERS
                or kind.startswith("mixed")
                and all(
                    isinstance(value, Real | Decimal) and not isinstance(value, bool)
                    for value in column[column.notna()]
                )
            )
        except ArithmeticError:  # a decimal's signalling NaN
            return True
    return pd.api.types.is_numeric_dtype(column.dtype)


def checked_codes(codes, labels, attributes, classes):
    """Codes, uint8 array (n, attributes), and labels, int32 array (n,), after all checks; errors as ``learn_codes``."""
    codes, labels = converted(np.asarray, codes, "codes"), converted(np.asarray, labels, "labels")
    if codes.dtype != np.uint8 or labels.dtype.kind not in "iu":
        raise TypeError(f"codes must be uint8 and labels integers, not {codes.dtype} and {labels.dtype}")
    if labels.ndim != 1 or codes.shape != (len(labels), attributes):
        raise ValueError(
            f"codes must have the shape (n, {attributes}) and labels (n,), not {codes.shape} and {labels.shape}"
        )
    if len(labels) and not 0 <= labels.min() <= labels.max() < classes:
        raise ValueError(f"labels must be 0 to {classes - 1}")
    return codes, labels.astype(np.int32)
