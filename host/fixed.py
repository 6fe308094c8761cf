"""x log2 x in integers: the arithmetic that board, golden model and emulated board share.

log2 x is normalised (x = 2**e m, 1 <= m < 2), looked up in 64 segments of m and interpolated
linearly; f(x) = x log2 x is one product and keeps all ``GAIN_FRACTION`` fraction bits, so sums of
f are exact. |f~(x) - f(x)| <= 1.7e-4 x (tests/test_fixed.py walks every mantissa), hence a gain,
which is four sums of f over counts that add up to n, errs by less than 6.8e-4 bit.

Source: design, section 5.
"""

import math

import numpy as np

from .geometry import GAIN_FRACTION

__all__ = ["SEGMENT_BITS", "STEP_BITS", "LOG_BASE", "LOG_SLOPE", "log2_fixed", "xlog2x",
           "BAYES_BITS", "BAYES_FRACTION", "BAYES_TABLE", "BAYES_UNIT", "UNUSED_CLASS",
           "bayes_log2"]

SEGMENT_BITS = 6  # 64 segments of the mantissa
STEP_BITS = 11  # mantissa bits below the segment that are interpolated; lower ones are dropped

_SEGMENTS = 1 << SEGMENT_BITS
_KNOTS = [round(math.log2(1 + i / _SEGMENTS) * (1 << GAIN_FRACTION)) for i in range(_SEGMENTS + 1)]

LOG_BASE = np.array(_KNOTS[:-1], np.int64)  # log2 at a segment's start
LOG_SLOPE = np.diff(np.array(_KNOTS, np.int64))  # its rise over the segment


def log2_fixed(x):
    """log2 of an integer 1 <= x < 2**32, ``GAIN_FRACTION`` fraction bits."""
    exponent = x.bit_length() - 1
    mantissa = (x << 31 - exponent) & 0x7FFFFFFF  # without its leading one, 31 bits
    segment = mantissa >> 31 - SEGMENT_BITS
    step = (mantissa >> 31 - SEGMENT_BITS - STEP_BITS) & ((1 << STEP_BITS) - 1)
    rise = (int(LOG_SLOPE[segment]) * step + (1 << STEP_BITS - 1)) >> STEP_BITS
    return (exponent << GAIN_FRACTION) + int(LOG_BASE[segment]) + rise


def xlog2x(x):
    """f(x) = x log2 x of an integer 0 <= x < 2**32, ``GAIN_FRACTION`` fraction bits; f(0) = 0."""
    return x * log2_fixed(x) if x else 0


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
