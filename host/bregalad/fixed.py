"""Impurities in integers: the arithmetic that board, golden model and emulated board share.

Logarithm, reciprocal and square root work alike: the number is normalised (x = 2**e m), m looked up
in a table of 64 segments and interpolated linearly. What follows is one product, and impurities
(times n, ``GAIN_FRACTION`` fraction bits) are added up exactly.

* x log2 x: |f~(x) - f(x)| <= 1.7e-4 x, hence a gain, which is four sums of f over counts that add
  up to n, errs by less than 6.8e-4 bit.
* Gini: of (n^2 - sum n_k^2) / n the bracket is exact and, aligned with n, keeps
  ``ALIGNED_FRACTION`` bits; the reciprocal's relative error is 8.5e-5. So an impurity errs by less
  than 2.1e-4 n, a gain by less than 4.2e-4 n; the impurity of pure counts is exactly 0.
* Kearns-Mansour: a root's relative error is 1.6e-4, that of sqrt(n_1 n_0) <= n / 2 twice as much
  and up to 2**-13 for what is cut off. So an impurity errs by less than 2.2e-4 n, a gain by less
  than 4.4e-4 n; the impurity of pure counts is exactly 0.

tests/test_fixed.py walks every mantissa and derives these bounds from what it finds.

Source: design, section 5.
"""

import math

import numpy as np

from .geometry import GAIN_FRACTION

__all__ = ["SEGMENT_BITS", "STEP_BITS", "LOG_BASE", "LOG_SLOPE", "log2_fixed", "xlog2x",
           "CURVE_FRACTION", "RECIPROCAL_BASE", "RECIPROCAL_SLOPE", "ROOT_BASE", "ROOT_SLOPE",
           "ALIGNED_FRACTION", "reciprocal_fixed", "root_fixed", "gini", "kearns_mansour",
           "classification_error", "BAYES_BITS", "BAYES_FRACTION", "BAYES_TABLE", "BAYES_UNIT",
           "UNUSED_CLASS", "bayes_log2"]

SEGMENT_BITS = 6  # 64 segments of the mantissa
STEP_BITS = 11  # mantissa bits below the segment that are interpolated; lower ones are dropped
CURVE_FRACTION = 15  # fraction bits of a mantissa's reciprocal and root
ALIGNED_FRACTION = 6  # fraction bits of (n^2 - sum n_k^2) / 2**e; no bit is lost up to n = 127

_SEGMENTS = 1 << SEGMENT_BITS


def _table(curve, fraction):
    """Values at the segments' starts, and their rises over the segments, of ``curve(0 to 1)``."""
    knots = np.array([round(curve(i / _SEGMENTS) * (1 << fraction)) for i in range(_SEGMENTS + 1)],
                     np.int64)
    return knots[:-1], np.diff(knots)


def _interpolate(base, slope, bits):
    """A table at the mantissa with ``SEGMENT_BITS + STEP_BITS`` bits."""
    segment, step = bits >> STEP_BITS, bits & (1 << STEP_BITS) - 1
    return int(base[segment]) + ((int(slope[segment]) * step + (1 << STEP_BITS - 1)) >> STEP_BITS)


LOG_BASE, LOG_SLOPE = _table(lambda part: math.log2(1 + part), GAIN_FRACTION)
RECIPROCAL_BASE, RECIPROCAL_SLOPE = _table(lambda part: 1 / (1 + part), CURVE_FRACTION)
# Of a mantissa from 1 to 4; below 1 there is but 0.
ROOT_BASE, ROOT_SLOPE = _table(lambda part: math.sqrt(4 * part), CURVE_FRACTION)
ROOT_BASE[:_SEGMENTS // 4] = ROOT_SLOPE[:_SEGMENTS // 4] = 0


def _normal(x):
    """``(bits, e)`` of an integer 1 <= x < 2**32: x = 2**e m, the bits those of m - 1 < 1."""
    exponent = x.bit_length() - 1
    mantissa = (x << 31 - exponent) & 0x7FFFFFFF  # without its leading one, 31 bits
    return mantissa >> 31 - SEGMENT_BITS - STEP_BITS, exponent


# Information gain


def log2_fixed(x):
    """log2 of an integer 1 <= x < 2**32, ``GAIN_FRACTION`` fraction bits."""
    bits, exponent = _normal(x)
    return (exponent << GAIN_FRACTION) + _interpolate(LOG_BASE, LOG_SLOPE, bits)


def xlog2x(x):
    """f(x) = x log2 x of an integer 0 <= x < 2**32, ``GAIN_FRACTION`` fraction bits; f(0) = 0."""
    return x * log2_fixed(x) if x else 0


# Gini


def reciprocal_fixed(x):
    """``(r, e)`` of an integer 1 <= x < 2**32: 1 / x = r 2**-e, ``CURVE_FRACTION`` fraction bits.

    2**e <= x < 2**(e + 1), so 1/2 < r <= 1.
    """
    bits, exponent = _normal(x)
    return _interpolate(RECIPROCAL_BASE, RECIPROCAL_SLOPE, bits), exponent


def gini(counts, width):
    """n - sum n_k^2 / n of counts that add up to n, ``GAIN_FRACTION`` fraction bits; 0 if n = 0.

    All sums wrap as on a board with counters of ``width`` bits; consistent counts never do.
    """
    n = sum(counts) & (1 << width) - 1
    if not n:
        return 0
    pairs = (n * n - sum(count * count for count in counts)) & (1 << 2 * width) - 1
    reciprocal, exponent = reciprocal_fixed(n)
    # pairs < n^2, so what is left is below 2 n.
    aligned = (pairs << ALIGNED_FRACTION >> exponent) & (1 << width + 1 + ALIGNED_FRACTION) - 1
    return aligned * reciprocal >> ALIGNED_FRACTION + CURVE_FRACTION - GAIN_FRACTION


# Kearns-Mansour


def root_fixed(x):
    """``(r, h)`` of an integer 0 <= x < 2**32: sqrt(x) = r 2**h, ``CURVE_FRACTION`` fraction bits.

    4**h <= x < 4**(h + 1), so 1 <= r <= 2; r = 0 for x = 0.
    """
    half = max(x.bit_length() - 1, 0) >> 1
    mantissa = x << 30 - 2 * half  # 32 bits
    return _interpolate(ROOT_BASE, ROOT_SLOPE, mantissa >> 32 - SEGMENT_BITS - STEP_BITS), half


def classification_error(counts, width):
    """n - max n_k of counts of ``width`` bits, ``GAIN_FRACTION`` fraction bits; exact.

    Counts whose sum wraps are no statistics; the result stays at 0 or above.
    """
    n = sum(counts) & (1 << width) - 1
    return max(0, n - max(counts)) << GAIN_FRACTION


def kearns_mansour(one, other):
    """sqrt(one * other) of integers from 0 to 2**32 - 1, ``GAIN_FRACTION`` fraction bits."""
    (a, i), (b, j) = root_fixed(one), root_fixed(other)
    return (a * b >> 2 * CURVE_FRACTION - GAIN_FRACTION) << i + j


# Naive Bayes: log2 without interpolation, so that every lane can have one per class.

BAYES_UNIT = 16  # a count of 1 in the smoothed shares (16 n_ijk + 1) / (16 (n_k + 1))
BAYES_BITS = 6  # mantissa bits that the logarithm is looked up with; lower ones are dropped
BAYES_FRACTION = 8
BAYES_TABLE = np.array([round(math.log2(1 + i / (1 << BAYES_BITS)) * (1 << BAYES_FRACTION))
                        for i in range(1 << BAYES_BITS)], np.int64)
UNUSED_CLASS = -(1 << 31)  # the score of a class that is not in use


def bayes_log2(x):
    """log2 of an integer 1 <= x < 2**40 with ``BAYES_FRACTION`` fraction bits."""
    exponent = x.bit_length() - 1
    mantissa = (x << BAYES_BITS >> exponent) - (1 << BAYES_BITS)
    return (exponent << BAYES_FRACTION) + int(BAYES_TABLE[mantissa])
