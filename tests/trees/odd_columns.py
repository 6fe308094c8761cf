"""Values, and columns of them, of every kind that people hand in, at random."""

import datetime
import decimal
import fractions

import numpy as np
import pandas as pd
import pyarrow as pa

__all__ = ["DTYPES", "column", "gauss", "made", "scalar", "typed"]

_SCALARS = [
    *(None, np.nan, pd.NA, pd.NaT, np.inf, -np.inf, -0.0, 5e-324, 1.7e308, -1.7e308, 0, 1, -1, 3, 255, 256, 2**53 + 1),
    *(2**63, 2**64, -(2**64), 10**400, True, False, "", "?", "a", "1", "1.0", "nan", "True", "x\ny", "\ud800"),
    *("z" * 3000, b"a", bytearray(b"a"), 0.5, 1e-300, np.float16(1.5), np.float32("inf"), np.float64(2)),
    *(np.longdouble(1.5), np.int8(-3), np.uint64(2**64 - 1), np.str_("a"), np.bytes_(b"a"), np.bool_(True)),
    *(np.datetime64("2020"), np.datetime64("NaT"), np.timedelta64(3, "s"), pd.Timestamp("2020"), pd.Timedelta(1)),
    *(pd.Period("2020"), pd.Interval(0, 1), datetime.date(2020, 1, 1), datetime.time(1), decimal.Decimal("1.5")),
    *(decimal.Decimal("NaN"), decimal.Decimal("sNaN"), decimal.Decimal("Infinity"), decimal.Decimal("1e999")),
    *(fractions.Fraction(1, 3), 1j, complex("nan"), [], [1, 2], (), (1, 2), {}, {"a": 1}, {1, 2}, frozenset("a")),
    *(object(), range(3), print, int, np.array(3), np.array([1, 2]), np.zeros((2, 0)), pd.Series([1.0])),
    *(pd.DataFrame(), slice(3), Ellipsis),
]


def scalar(rng):
    """Anything that may stand for one value."""
    return rng.choice(_SCALARS)


def gauss(rng, n):
    return np.array([rng.gauss(0, 1) for _ in range(n)])


def _words(rng, n):
    return [rng.choice(("u", "v", "w")) for _ in range(n)]


def _objects(rng, n):
    """Of mixed kinds."""
    some = [scalar(rng) for _ in range(rng.randrange(1, 4))]
    values = np.empty(n, object)
    values[:] = [0.5] * n
    for i in range(n):
        if rng.random() < 0.5:
            values[i] = rng.choice(some)
    return values


def _one(rng, n):
    """One value throughout."""
    values = np.empty(n, object)
    value = scalar(rng)
    for i in range(n):
        values[i] = value
    return values


def _extreme(rng, n):
    return np.array([rng.choice((0.0, -0.0, 5e-324, 1.7e308, -1.7e308, np.nan, 1.0, -2e-308)) for _ in range(n)])


def _sprinkled(rng, n):
    """Numbers with one that is none."""
    values = gauss(rng, n)
    if n:
        values[rng.randrange(n)] = rng.choice((np.inf, -np.inf, np.nan))
    return values


DTYPES = "f2 f4 f8 g >f8 i1 u1 i8 >i4 u8 ? c16 M8[s] M8[ns] m8[s] U3 S3 O T".split()


def typed(rng, n):
    dtype = rng.choice(DTYPES)
    if dtype == "T":
        return np.array(_words(rng, n), np.dtypes.StringDType())
    return np.array([rng.randrange(3) for _ in range(n)]).astype(dtype)


def _large(rng, n):
    return np.array([2**64 - 1 - rng.randrange(3) for _ in range(n)], np.uint64)


_NULLABLE = (
    "Int64 UInt8 Float32 Float64 boolean string category Sparse[float64] Sparse[int64] "
    "int64[pyarrow] bool[pyarrow] string[pyarrow] str"
).split()


def _extension(rng, n):
    values = pd.array([rng.randrange(2) for _ in range(n)], "int64")
    values = pd.Series(values).astype(rng.choice(_NULLABLE))
    if n and rng.random() < 0.3 and not isinstance(values.dtype, pd.SparseDtype):
        values.iloc[rng.randrange(n)] = None
    return values


def _arrow(rng, n):
    kind, value = rng.choice(
        [
            (pa.null(), None),
            (pa.float16(), np.float16(1)),
            (pa.decimal128(5, 2), decimal.Decimal("1.5")),
            (pa.binary(), b"a"),
            (pa.date32(), datetime.date(2020, 1, 1)),
            (pa.time64("us"), datetime.time(1)),
            (pa.duration("s"), datetime.timedelta(1)),
            (pa.list_(pa.int64()), [1]),
            (pa.struct([("a", pa.int64())]), {"a": 1}),
            (pa.timestamp("us", "UTC"), datetime.datetime(2020, 1, 1)),
            (pa.dictionary(pa.int8(), pa.string()), "a"),
            (pa.large_string(), "a"),
            (pa.uint64(), 2**64 - 1),
        ]
    )
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array([value] * n, kind)))


def _pandas(rng, n):
    values = rng.choice(
        [
            lambda: pd.cut(np.arange(n) % 3, [-1, 0, 1, 2]),
            lambda: pd.date_range("2020", periods=n),
            lambda: pd.date_range("2020", periods=n, tz="UTC"),
            lambda: pd.period_range("2020", periods=n, freq="D"),
            lambda: pd.to_timedelta(np.arange(n), unit="s"),
            lambda: pd.interval_range(0, periods=n),
            lambda: pd.Categorical(np.arange(n) % 2),
            lambda: pd.Categorical([None] * n),
            lambda: pd.Categorical(_words(rng, n), categories=["w", "v"]),
            lambda: pd.Categorical([True] * n),
            lambda: pd.Categorical(pd.date_range("2020", periods=n)),
            lambda: pd.Categorical(np.array([(1, 2)] * n + [None], object)[:n] if n else []),
            lambda: [None] * n,
            lambda: [pd.NA] * n,
            lambda: [np.nan] * n,
        ]
    )()
    return pd.Series(values)


def column(rng, n):
    """Anything that may stand for a column of ``n`` values."""
    return made(
        rng.choice(
            (
                *(gauss, gauss, _words, _objects, _one, _extreme, _sprinkled, typed, typed, _large, _extension, _arrow),
                *(_pandas,),
            )
        ),
        rng,
        n,
    )


def made(make, rng, n):
    """What ``make`` makes; numbers where numpy or pandas do not make such things."""
    try:
        return make(rng, n)
    except Exception:
        return gauss(rng, n)
