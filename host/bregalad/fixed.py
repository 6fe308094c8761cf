"""Functions in integers: the arithmetic that board, golden model and emulated board share.

Logarithm, reciprocal and square root work alike: the number is normalised (x = 2**e m), m looked up
in a table of 64 segments and interpolated linearly. What follows is one product.

* x log2 x: |f~(x) - f(x)| <= 1.7e-4 x.
* A reciprocal's relative error is 8.5e-5, a root's 1.6e-4.

What this means for impurities and gains is said in ``criteria.py``. tests/test_fixed.py traverses every
mantissa and derives these bounds from what it finds.

Source: design, section 5.
"""

import math

GAIN_FRACTION = 13  # fraction bits of a gain: the unit is 2**-13 bit times instance
SEGMENT_BITS = 6  # 64 segments of the mantissa
STEP_BITS = 11  # mantissa bits below the segment that are interpolated; lower ones are dropped
CURVE_FRACTION = 15  # fraction bits of a mantissa's reciprocal and root

_SEGMENTS = 1 << SEGMENT_BITS


def _table(curve, fraction):
    """Values at the segments' starts, and their rises over the segments, of ``curve(0 to 1)``."""
    knots = [round(curve(i / _SEGMENTS) * (1 << fraction)) for i in range(_SEGMENTS + 1)]
    return tuple(knots[:-1]), tuple(end - begin for begin, end in zip(knots, knots[1:], strict=False))


def _interpolate(base, slope, bits):
    """A table at the mantissa with ``SEGMENT_BITS + STEP_BITS`` bits."""
    segment, step = bits >> STEP_BITS, bits & (1 << STEP_BITS) - 1
    return base[segment] + ((slope[segment] * step + (1 << STEP_BITS - 1)) >> STEP_BITS)


LOG_BASE, LOG_SLOPE = _table(lambda part: math.log2(1 + part), GAIN_FRACTION)
RECIPROCAL_BASE, RECIPROCAL_SLOPE = _table(lambda part: 1 / (1 + part), CURVE_FRACTION)
# Of a mantissa from 1 to 4; below 1 there is but 0.
ROOT_BASE, ROOT_SLOPE = (
    (0,) * (_SEGMENTS // 4) + values[_SEGMENTS // 4 :]
    for values in _table(lambda part: math.sqrt(4 * part), CURVE_FRACTION)
)


def _normal(x):
    """``(bits, e)`` of an integer 1 <= x < 2**32: x = 2**e m, the bits those of m - 1 < 1."""
    exponent = x.bit_length() - 1
    mantissa = (x << 31 - exponent) & 0x7FFFFFFF  # without its leading one, 31 bits
    return mantissa >> 31 - SEGMENT_BITS - STEP_BITS, exponent


def log2_fixed(x):
    """log2 of an integer 1 <= x < 2**32, ``GAIN_FRACTION`` fraction bits."""
    bits, exponent = _normal(x)
    return (exponent << GAIN_FRACTION) + _interpolate(LOG_BASE, LOG_SLOPE, bits)


def xlog2x(x):
    """f(x) = x log2 x of an integer 0 <= x < 2**32, ``GAIN_FRACTION`` fraction bits; f(0) = 0."""
    return x * log2_fixed(x) if x else 0


def reciprocal_fixed(x):
    """``(r, e)`` of an integer 1 <= x < 2**32: 1 / x = r 2**-e, ``CURVE_FRACTION`` fraction bits.

    2**e <= x < 2**(e + 1), so 1/2 < r <= 1.
    """
    bits, exponent = _normal(x)
    return _interpolate(RECIPROCAL_BASE, RECIPROCAL_SLOPE, bits), exponent


def root_fixed(x):
    """``(r, h)`` of an integer 0 <= x < 2**32: sqrt(x) = r 2**h, ``CURVE_FRACTION`` fraction bits.

    4**h <= x < 4**(h + 1), so 1 <= r <= 2; r = 0 for x = 0.
    """
    half = max(x.bit_length() - 1, 0) >> 1
    mantissa = x << 30 - 2 * half  # 32 bits
    return _interpolate(ROOT_BASE, ROOT_SLOPE, mantissa >> 32 - SEGMENT_BITS - STEP_BITS), half


# Naive Bayes: log2 without interpolation, so that every lane can have one per class.

BAYES_UNIT = 16  # a count of 1 in the smoothed shares (16 n_ijk + 1) / (16 (n_k + 1))
BAYES_BITS = 6  # mantissa bits that the logarithm is looked up with; lower ones are dropped
BAYES_FRACTION = 8
BAYES_TABLE = tuple(round(math.log2(1 + i / (1 << BAYES_BITS)) * (1 << BAYES_FRACTION)) for i in range(1 << BAYES_BITS))
BAYES_BINS = 3  # a value's logarithm is the mean of its bin's and of those beside it, without the division
BAYES_FALL = 1 << BAYES_FRACTION  # a bin beside is taken to hold at least half as much
UNUSED_CLASS = -(1 << 31)  # the score of a class that is not in use


def bayes_log2(x):
    """log2 of an integer 1 <= x < 2**40 with ``BAYES_FRACTION`` fraction bits."""
    exponent = x.bit_length() - 1
    mantissa = (x << BAYES_BITS >> exponent) - (1 << BAYES_BITS)
    return (exponent << BAYES_FRACTION) + BAYES_TABLE[mantissa]


def neighbour_log(own, beside):
    """What the bin beside a value's own adds, both as `bayes_log2` of their shares."""
    return max(beside, own - BAYES_FALL)
