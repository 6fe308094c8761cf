"""Logarithms and impurities: ``fixed.py`` and ``criteria.py`` on machine integers."""

import numpy as np

from ...criteria import ALIGNED_FRACTION
from ...fixed import BAYES_BITS, BAYES_FRACTION, BAYES_UNIT, CURVE_FRACTION, SEGMENT_BITS, STEP_BITS
from ...geometry import GAIN_FRACTION
from .state import inlined, inner

SHARE, WHOLE = range(2)  # rows of the logarithms of naive Bayes


@inner
def leading(x):
    """Where the leading one is; 0 for 0."""
    exponent = 0
    for step in (32, 16, 8, 4, 2, 1):
        if x >> exponent + step:
            exponent += step
    return exponent


@inner
def interpolate(base, slope, bits):
    segment, step = bits >> STEP_BITS, bits & ((1 << STEP_BITS) - 1)
    return base[segment] + ((slope[segment] * step + (1 << STEP_BITS - 1)) >> STEP_BITS)


@inner
def mantissa_bits(x, exponent):
    return ((x << 31 - exponent) & 0x7FFFFFFF) >> 31 - SEGMENT_BITS - STEP_BITS


@inner
def log2_fixed(x, log_base, log_slope):
    exponent = leading(x)
    bits = mantissa_bits(x, exponent)
    return (exponent << GAIN_FRACTION) + interpolate(log_base, log_slope, bits)


def fill_table(table, log_base, log_slope):
    """``table[x]`` = x log2 x; by NumPy, which compiles nothing."""
    x = np.arange(1, table.size)
    exponents = np.frexp(x)[1].astype(np.int64) - 1
    bits = mantissa_bits.py_func(x, exponents)
    table[0] = 0
    table[1:] = x * ((exponents << GAIN_FRACTION) + interpolate.py_func(log_base, log_slope, bits))


@inner
def xlog2x(x, entropy):
    table, log_base, log_slope = entropy
    return table[np.uint64(x)] if x < table.size else x * log2_fixed(x, log_base, log_slope)


@inner
def gini(n, squares, count_max, reciprocals):
    """n - squares / n, 0 if n = 0; ``squares`` may have wrapped at 64 bits."""
    if not n:
        return 0
    # Without a sign: at W = 32, all bits are needed.
    pairs = np.uint64(n * n - squares) & np.uint64(count_max) * np.uint64(count_max + 2)
    exponent = leading(n)
    if exponent >= ALIGNED_FRACTION:
        aligned = pairs >> np.uint64(exponent - ALIGNED_FRACTION)
    else:
        aligned = pairs << np.uint64(ALIGNED_FRACTION - exponent)
    aligned &= np.uint64((count_max + 1 << ALIGNED_FRACTION + 1) - 1)
    base, slope = reciprocals
    reciprocal = interpolate(base, slope, mantissa_bits(n, exponent))
    return np.int64(aligned) * reciprocal >> ALIGNED_FRACTION + CURVE_FRACTION - GAIN_FRACTION


@inner
def kearns_mansour(one, other, roots):
    base, slope = roots
    i, j = leading(one) >> 1, leading(other) >> 1
    low = 32 - SEGMENT_BITS - STEP_BITS
    a = interpolate(base, slope, (one << 30 - 2 * i) >> low)
    b = interpolate(base, slope, (other << 30 - 2 * j) >> low)
    return (a * b >> 2 * CURVE_FRACTION - GAIN_FRACTION) << i + j


@inner
def bayes_log2(x, bayes_table):
    return bayes_log2_of(x, leading(x), bayes_table)


@inner
def bayes_log2_of(x, exponent, bayes_table):
    mantissa = (x << BAYES_BITS >> exponent) - (1 << BAYES_BITS)
    return (exponent << BAYES_FRACTION) + bayes_table[mantissa]


def fill_logs(logs, bayes_table):
    """``logs[SHARE, n]``: log2 of a count's term, ``logs[WHOLE, n]``: of a class count, n > 0."""
    n = np.arange(1, logs.shape[1])
    logs[:, 0] = 0
    for row, x in ((SHARE, BAYES_UNIT * n + 1), (WHOLE, n)):
        exponents = np.frexp(x)[1].astype(np.int64) - 1
        logs[row, 1:] = bayes_log2_of.py_func(x, exponents, bayes_table)


@inlined
def share_log(n, logs, bayes_table):
    small = n < logs.shape[1]
    return np.int64(logs[SHARE, np.uint64(n)]) if small else bayes_log2(BAYES_UNIT * n + 1, bayes_table)


@inlined
def whole_log(n, logs, bayes_table):
    small = n < logs.shape[1]
    return np.int64(logs[WHOLE, np.uint64(n)]) if small else bayes_log2(n, bayes_table)


@inner
def wrap(gain, half):
    return ((gain + half) & (2 * half - 1)) - half
