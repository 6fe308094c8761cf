"""Rows of tables: some of them, or all in parts, one for each thread."""

from concurrent.futures import ThreadPoolExecutor

import pandas as pd

_LEAST = 4096  # rows that a thread is worth


def rows_of(X, part):
    """The rows of a slice, or of some numbers, of a data frame or an array, by position.

    Before pandas 3 a frame's own slices are by label if its labels are floats.
    """
    return X.iloc[part] if isinstance(X, pd.DataFrame) else X[part]


def in_parts(work, rows, threads):
    """``work(part)`` for slices that make up ``rows``, each in a thread of its own: list of what it returned, in order.

    It is compiled code that holds no lock for most of its time. So many threads at most; fewer if parts were small.
    """
    count = max(1, min(threads, rows // _LEAST))
    if count == 1:
        return [work(slice(0, rows))]
    ends = [rows * i // count for i in range(count + 1)]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, map(slice, ends, ends[1:])))
