"""Data frames of other libraries as pandas', by the Arrow interface that they share."""

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import types

from .times import is_times, seconds


def as_pandas(X, times=None):
    """Data frames, Arrow tables and record batches as a `pandas.DataFrame`; all else as it is.

    Nothing is rounded: integers of which some are missing stay integers. Dates and times become seconds; the list
    ``times`` takes their columns' names. TypeError if it is a frame whose values are still to be computed, or cannot be
    had by name; ValueError if a date is out of the range of pandas.
    """
    if isinstance(X, pd.DataFrame):
        return _plain_columns(X, times)
    if isinstance(X, np.ndarray | pd.Series | list | tuple | dict):
        return X
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        try:
            table = pa.table(X)
        except pa.ArrowInvalid as error:
            if not hasattr(X, "columns"):  # a column
                return X
            raise TypeError(f"X has columns of a type that Arrow does not know ({error}): cast them") from error
    elif hasattr(X, "collect") or hasattr(X, "columns"):
        how = "X.collect()" if hasattr(X, "collect") else "a pandas or polars frame of it"
        raise TypeError(f"X is a {type(X).__name__}, whose values cannot be had by name: give {how}")
    else:
        return X
    # Arrow's names need not be distinct. A copy puts columns of one type side by side, else each
    # step would do so again.
    frame = pd.DataFrame(dict(enumerate(map(_column, table.columns))), index=range(table.num_rows), copy=True)
    return _plain_columns(frame.set_axis(table.column_names, axis=1), times)


def as_series(y):
    """A column of another library, Arrow's arrays included, as a `pandas.Series`; all else as it is."""
    if isinstance(y, np.ndarray | pd.Series | pd.DataFrame | list | tuple | range):
        return y
    if hasattr(y, "__arrow_c_stream__") or hasattr(y, "__arrow_c_array__"):
        if hasattr(y, "columns"):
            return as_pandas(y)
        try:
            array = pa.chunked_array(y if hasattr(y, "__arrow_c_stream__") else [pa.array(y)])
        except pa.ArrowInvalid as error:
            raise TypeError(f"a column is of a type that Arrow does not know ({error}): cast it") from error
        return pd.Series(_column(array), copy=False)
    return y


def _column(values):
    """An Arrow column as what pandas keeps it in."""
    kind = values.type
    if types.is_null(kind):
        return np.full(len(values), np.nan)
    if types.is_floating(kind) or (types.is_integer(kind) or types.is_boolean(kind)) and not values.null_count:
        return values.to_numpy()
    if types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return pd.arrays.ArrowExtensionArray(values)
    if _is_text(kind):
        return pd.arrays.ArrowExtensionArray(values.cast(pa.large_string()))
    if types.is_dictionary(kind) and types.is_nested(kind.value_type):  # its values are no keys: refused by name
        return np.array([*values.to_pylist(), None], object)[:-1]
    try:
        column = values.to_pandas().array  # categories, and what is refused by name
    except (TypeError, pa.ArrowNotImplementedError):  # a dictionary of lists or of intervals
        return np.array([*values.to_pylist(), None], object)[:-1]
    if types.is_dictionary(kind) and not kind.ordered and _is_text(kind.value_type):
        # A dictionary has the values that happen to be there; ordered ones are declared (polars' Enum).
        return column.astype(object)
    return column


def _is_text(kind):
    return types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view"


def _plain_columns(X, times=None):
    """The same with categories as pandas keeps them, intervals as their text, numbers in this machine's byte order."""
    kinds = X.dtypes.array
    if not any(_is_strange(kind) or kind.kind in "mMO" for kind in set(kinds)):
        return X
    columns, strange = {}, False
    for place, kind in enumerate(kinds):
        columns[place] = column = X.iloc[:, place]
        timed = kind.kind in "mMO" and is_times(column)
        if timed and times is not None:
            times.append(str(X.columns[place]))
        if timed or _is_strange(kind):
            columns[place], strange = _plain(column), True
    return pd.DataFrame(columns, index=X.index, copy=False).set_axis(X.columns, axis=1) if strange else X


def _is_strange(kind):
    values = kind.categories.dtype if isinstance(kind, pd.CategoricalDtype) and kind.categories is not None else kind
    return (
        isinstance(values, pd.IntervalDtype)
        or isinstance(kind, pd.ArrowDtype)
        and types.is_dictionary(kind.pyarrow_dtype)
        or isinstance(kind, np.dtype)
        and not kind.isnative
    )


def _plain(column):
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:  # pandas takes no rows of it
        return column.astype(column.dtype.newbyteorder("="))
    if isinstance(column.dtype, pd.ArrowDtype):
        column = pd.Series(_column(pa.chunked_array(column)), index=column.index)
        return _plain(column) if is_times(column) else column
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.rename_categories(str)
    if is_times(column):
        return pd.Series(seconds(column), index=column.index)
    return column.astype(object).map(str, na_action="ignore")
