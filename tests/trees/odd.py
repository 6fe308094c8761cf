"""Tables, labels and weights of every kind that people hand in, at random."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse
from odd_columns import DTYPES, column, gauss, made, scalar, typed

__all__ = ["labels", "names", "spoilt", "table", "weights"]

_NAMES = [
    *("a", "b", "k", "x0", "x1", "class", "", " ", 0, 1, 1.5, None, np.nan, True, ("a", "b"), b"a", "a\nb", "\ud800"),
    *(pd.Timestamp("2020"), "?", "é" * 200, np.int64(0)),
]


def names(rng, width):
    """As many names of columns; mostly decent ones."""
    if rng.random() < 0.5:
        return list("abcdefgh"[:width])
    if rng.random() < 0.2 and width:
        return pd.MultiIndex.from_tuples([("a", i) for i in range(width)])
    return [rng.choice(_NAMES) for _ in range(width)]


def table(rng, n):
    """Anything that may stand for ``n`` instances."""
    return made(rng.choice((_frame, _frame, _frame, _array, _array, _lists, _foreign, _strange)), rng, n)


def _frame(rng, n, width=None):
    width = rng.choice((1, 2, 3, 3, 4)) if width is None else width
    frame = pd.DataFrame({i: pd.Series(column(rng, n)).reset_index(drop=True) for i in range(width)}, index=range(n))
    return frame.set_axis(names(rng, width), axis=1)


def _array(rng, n):
    array = (
        np.column_stack([np.asarray(typed(rng, n) if rng.random() < 0.3 else gauss(rng, n), object) for _ in range(3)])
        if rng.random() < 0.2
        else np.array([[rng.randrange(3) for _ in range(3)] for _ in range(n)])
        .reshape(n, 3)
        .astype(np.dtypes.StringDType() if (dtype := rng.choice(DTYPES)) == "T" else dtype)
    )
    what = rng.randrange(12)
    if what == 0 and array.size:
        array = np.ma.masked_array(array, rng.choice((True, [[rng.random() < 0.2] * 3 for _ in range(n)])))
    elif what == 1:
        array = np.full((n, 3), rng.choice((np.nan, np.inf, -0.0, 5e-324, 1.7e308, 10**400, None)))
    elif what == 2:
        array = array.reshape(rng.choice(((-1,), (1, n, 3), (3, n), (n * 3, 1))))
    elif what == 3:
        array = array[rng.choice((slice(0), slice(None)))][:, : rng.choice((0, 1, 2))]
    elif what == 4:
        array = np.asfortranarray(array)[::-1]
    elif what == 5:
        array = np.zeros(n, [("a", "f8"), ("b", "i8")])
    return array


def _lists(rng, n):
    rows = [[rng.gauss(0, 1), rng.randrange(3), rng.choice(("u", "v")) if rng.random() < 0.5 else 1] for _ in range(n)]
    if n and rng.random() < 0.5:
        rows[rng.randrange(n)][rng.randrange(3)] = scalar(rng)
    if n and rng.random() < 0.2:
        rows[rng.randrange(n)].append(1)
    return rng.choice((list, tuple))(rows)


def _foreign(rng, n):
    """Data frames of other libraries, as far as they take what there is."""
    frame = _frame(rng, n)
    try:
        # pyarrow 26.0.1 ends the process at NumPy's times and floats among the objects of one column.
        if any(isinstance(value, np.datetime64 | np.timedelta64) for value in frame.to_numpy(object).ravel()):
            return frame
        return rng.choice(
            (pl.from_pandas, pa.Table.from_pandas, lambda f: pl.from_pandas(f).lazy(), pa.RecordBatch.from_pandas)
        )(frame)
    except Exception:
        return frame


def _strange(rng, n):
    what = rng.choice(
        (
            scalar,
            lambda *_: scipy.sparse.csr_matrix(np.eye(n, 3)),
            lambda *_: pd.Series(gauss(rng, n)),
            lambda *_: {"a": gauss(rng, n), "b": gauss(rng, n)},
            lambda *_: "a,b\n1,2",
            lambda *_: [{"a": 1.0, "b": 2.0}] * n,
            lambda *_: np.float64(1),
            lambda *_: pd.DataFrame(index=range(n)),
            lambda *_: [None] * n,
            lambda *_: scipy.sparse.coo_array(np.eye(n, 3)),
            lambda *_: [pd.Series([1.0, 2, 3])] * n,
            lambda *_: iter([]),
            lambda *_: pd.Index(range(n)),
        )
    )
    return what(rng)


def labels(rng, n):
    """Anything that may stand for ``n`` labels."""
    return made(_labels, rng, n)


def _labels(rng, n):
    def few(values):
        return [rng.choice(values) for _ in range(n)]

    return rng.choice(
        (
            lambda: column(rng, n),
            lambda: column(rng, n),
            lambda: few([0, 1]),
            lambda: few(["p", "q"]),
            lambda: few([0.0, 1.0]),
            lambda: few([0.5, 1.0]),
            lambda: few([scalar(rng), scalar(rng)]),
            lambda: list(range(n)),
            lambda: [[0]] * n,
            lambda: [[0, 1]] * n,
            lambda: np.zeros((n, 2)),
            lambda: scalar(rng),
            lambda: np.eye(n, 2, dtype=int),
            lambda: pd.DataFrame({"y": few([0, 1])}),
            lambda: pl.Series(few(["p", "q"])),
            lambda: pa.array(few([0, None])),
            lambda: pa.chunked_array([few(["p", "q"])]),
            lambda: few([2**64, 1]),
            lambda: np.ma.masked_array(few([0, 1]), True),
            lambda: np.array(few([True, False])),
            lambda: pd.Categorical(few("pq")),
            lambda: scipy.sparse.csr_matrix(np.eye(n, 1)),
            lambda: set(few([0, 1])),
            lambda: iter(few([0, 1])),
            lambda: few([-1, 2**63]),
        )
    )()


def weights(rng, n):
    """Anything that may stand for ``n`` weights."""
    many = [column(rng, n), [scalar(rng)] * n, [1] * n, np.zeros(n), [0.5] * n, [-1] * n, [[1]] * n, [True] * n]
    return rng.choice([*many, np.full(n, 1e5), pl.Series([2.0] * n), None, scalar(rng), [1, 2], "balanced", {0: 2}])


def spoilt(rng, X, y):
    """Good instances with something else about them; as they are where pandas does not take that."""
    try:
        if not isinstance(X, pd.DataFrame) and rng.random() < 0.5:
            X = pd.DataFrame(X)
        return _spoilt_frame(rng, X.copy(), y) if isinstance(X, pd.DataFrame) else (_spoilt_array(rng, X), y)
    except Exception:
        return X, y


def _spoilt_array(rng, X):
    X, what = np.array(X, object if rng.random() < 0.5 else None), rng.randrange(5)
    if what == 0 and X.dtype == object and X.size:
        X[rng.randrange(len(X)), rng.randrange(X.shape[1])] = None if rng.random() < 0.3 else "a"
    elif what == 1:
        X = X[:, :-1]
    elif what == 2:
        X = X.astype(rng.choice(("O", "U9", "S9")))
    elif what == 3:
        X = X.tolist()
    return X


def _spoilt_frame(rng, X, y):
    n, width = len(y), X.shape[1]
    at = rng.randrange(width) if width else None
    what = rng.randrange(12) if width else 3
    if what == 0:
        X = X.iloc[:, rng.sample(range(width), width)]
    elif what == 1:
        X = X.drop(columns=X.columns[at])
    elif what == 2:
        X = X.set_axis([rng.choice(_NAMES) if i == at else name for i, name in enumerate(X)], axis=1)
    elif what == 3:
        X = pd.concat([X, X.iloc[:, :1]], axis=1) if rng.random() < 0.5 else X.assign(extra=1.0)
    elif what in (4, 5, 6):
        kept = list(X)
        X = pd.DataFrame(
            {i: pd.Series(column(rng, n)) if i == at else X.iloc[:, i].reset_index(drop=True) for i in range(width)},
            index=range(n),
        ).set_axis(kept, axis=1)
    elif what in (7, 8) and n:
        values = X.iloc[:, at].astype(object).to_numpy().copy()
        values[rng.randrange(n)] = scalar(rng)
        X = X.set_axis(range(width), axis=1).assign(**{"new": 0}).drop(columns="new")
        X[at] = pd.Series(values, dtype=object)
        X = X.set_axis(names(rng, width) if rng.random() < 0.1 else list(X), axis=1)
    elif what == 9:
        X = X.astype(rng.choice(("object", "string")))
    elif what == 10:
        y = y[:-1] if rng.random() < 0.5 else [*y, y[0] if n else 0]
    else:
        y = [*y]
        if n:
            y[rng.randrange(n)] = scalar(rng)
    return X, y
