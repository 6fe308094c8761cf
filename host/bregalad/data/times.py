"""Dates and times as numbers: seconds, of dates those since 1970 began in UTC."""

import datetime
import re

import numpy as np
import pandas as pd
import pyarrow as pa

TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64, pd.Period)
_MISSING = (type(None), type(pd.NA), type(pd.NaT), float, np.float64)
_KINDS = ("date", "datetime", "datetime64", "period", "time", "timedelta", "timedelta64")
_PARTS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_CLOCK = r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?"
_WORDS = (
    re.compile(rf"\d{{4}}-\d\d-\d\d([T ]{_CLOCK}(Z|[+-]\d\d(:?\d\d)?)?)?", re.ASCII),
    re.compile(_CLOCK, re.ASCII),
)


def is_times(column):
    """Whether a pandas column holds dates, times or spans of time."""
    kind = column.dtype
    if column.dtype == object:
        first = next((value for value in column.array if type(value) not in _MISSING), None)
        return isinstance(first, TIMES) and pd.api.types.infer_dtype(column, skipna=True) in _KINDS
    if isinstance(kind, pd.ArrowDtype):
        return pa.types.is_temporal(kind.pyarrow_dtype)
    return kind.kind in "mM" or isinstance(kind, pd.PeriodDtype)


def seconds(column):
    """What `is_times` as seconds, float64 array, NaN where missing; without a time zone they are in UTC.

    ValueError if one is out of the range of pandas.
    """
    if column.dtype == object:
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if kind == "period":
            column = column.map(lambda period: period.start_time, na_action="ignore")
        if kind.startswith("time"):
            column = pd.to_timedelta(column.map(str, na_action="ignore") if kind == "time" else column)
        else:
            column = pd.to_datetime(column, utc=True)
    elif isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.start_time
    values = column.to_numpy(f"M8[{column.dt.unit}]") if column.dtype.kind == "M" else column.to_numpy()
    parts = _PARTS[np.datetime_data(values.dtype)[0]]
    whole, rest = np.divmod(values.view(np.int64), parts)  # the same whatever counts a moment
    numbers = whole + rest / parts
    numbers[np.isnat(values)] = np.nan
    return numbers


def are_times(words):
    """Whether all words are dates as ISO 8601 has them, with or without a time, or all are times of day."""
    return any(all(map(kind.fullmatch, words)) for kind in _WORDS)


def seconds_of_words(words):
    """Dates or times of day as seconds, NaN for any other word: float64 array."""
    dates = [bool(_WORDS[0].fullmatch(word)) for word in words]
    # A day's first second is 0.
    full = [word if date else f"1970-01-01T{word:0>5}" for word, date in zip(words, dates, strict=True)]
    fit = [date or bool(_WORDS[1].fullmatch(word)) for word, date in zip(words, dates, strict=True)]
    moments = pd.to_datetime(pd.Series(full, dtype=object).where(fit), format="ISO8601", utc=True, errors="coerce")
    return seconds(moments)
