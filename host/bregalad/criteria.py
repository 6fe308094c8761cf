"""Split criteria, each declared once; who carries them out has a table of all, or refuses to be imported.

A criterion is an impurity I of class counts. Trees take it per instance, in floating point; boards take n I in
integers of ``GAIN_FRACTION`` fraction bits, where impurities are added up exactly. How far the integers may be off:

* Information gain: a gain is four sums of x log2 x over counts that add up to n, so it errs by less than 6.8e-4 bit.
* Gini: of (n^2 - sum n_k^2) / n the bracket is exact and, aligned with n, keeps ``ALIGNED_FRACTION`` bits. So an
  impurity errs by less than 2.1e-4 n, a gain by less than 4.2e-4 n; the impurity of pure counts is exactly 0.
* Kearns-Mansour: the error of sqrt(n_1 n_0) <= n / 2 is twice a root's, and up to 2**-13 for what is cut off. So an
  impurity errs by less than 2.2e-4 n, a gain by less than 4.4e-4 n; the impurity of pure counts is exactly 0.
* Classification error: exact.

tests/test_fixed.py derives these bounds. How to add a criterion: CONTRIBUTING.md.

Source: design, section 5.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from .fixed import (
    CURVE_FRACTION,
    GAIN_FRACTION,
    LOG_BASE,
    LOG_SLOPE,
    RECIPROCAL_BASE,
    RECIPROCAL_SLOPE,
    ROOT_BASE,
    ROOT_SLOPE,
    reciprocal_fixed,
    root_fixed,
    xlog2x,
)

ALIGNED_FRACTION = 6  # fraction bits of (n^2 - sum n_k^2) / 2**e; no bit is lost up to n = 127


@dataclass(frozen=True)
class Criterion:
    """What a criterion is, for trees, boards and their registers.

    ``impurity`` is per instance, of an int array (classes,) and its sum as a float, above 0; ``span`` is R, its range
    for so many classes. Numba compiles both. ``scaled`` is the impurity times n in units of a gain, of a list of int;
    its sums wrap as on a board with counters of ``width`` bits, which consistent counts never do.
    """

    name: str
    number: int  # in the registers, 0 to 15; once released it stays
    impurity: Callable  # of (counts, total)
    span: Callable  # of (classes)
    scaled: Callable  # of (counts, width)
    gain_unit: str  # ``module:class`` of the arithmetic in hardware, a ``Terms``
    curve: tuple | None = None  # (base, slope) of the table that this arithmetic interpolates, by ``fixed.py``
    classes: int | None = None  # how many it takes; None: any number
    bounds: tuple = ()  # of trees that know it; Hoeffding's takes all


# Per instance.


def _entropy(counts, total):
    bits = 0.0
    for count in counts:
        if count > 0:
            bits -= count / total * math.log2(count / total)
    return bits


def _gini(counts, total):
    squares = 0.0
    for count in counts:
        squares += (count / total) ** 2
    return 1 - squares


def _classification_error(counts, total):
    most = 0
    for count in counts:
        most = max(most, count)
    return 1 - most / total


# Times n, in integers.


def _scaled_entropy(counts, width):
    n = sum(counts) & (1 << width) - 1
    return xlog2x(n) - sum(map(xlog2x, counts))


def _scaled_gini(counts, width):
    """n - sum n_k^2 / n; 0 if n = 0."""
    n = sum(counts) & (1 << width) - 1
    if not n:
        return 0
    pairs = (n * n - sum(count * count for count in counts)) & (1 << 2 * width) - 1
    reciprocal, exponent = reciprocal_fixed(n)
    # pairs < n^2, so what is left is below 2 n.
    aligned = (pairs << ALIGNED_FRACTION >> exponent) & (1 << width + 1 + ALIGNED_FRACTION) - 1
    return aligned * reciprocal >> ALIGNED_FRACTION + CURVE_FRACTION - GAIN_FRACTION


def _scaled_kearns_mansour(counts, width):
    """sqrt(n_1 n_0); 0 of one class alone."""
    if len(counts) != 2:
        return 0
    (a, i), (b, j) = map(root_fixed, counts)
    return (a * b >> 2 * CURVE_FRACTION - GAIN_FRACTION) << i + j


def _scaled_classification_error(counts, width):
    """n - max n_k. Counts whose sum wraps are no statistics; the result stays at 0 or above."""
    n = sum(counts) & (1 << width) - 1
    return max(0, n - max(counts)) << GAIN_FRACTION


DECLARED = (
    Criterion(
        "information_gain",
        0,
        _entropy,
        lambda classes: math.log2(max(2, classes)),
        _scaled_entropy,
        "bregalad_hw.gain.xlog2x:XLog2X",
        (LOG_BASE, LOG_SLOPE),
        bounds=("mcdiarmid", "confidence", "confidence-practical"),
    ),
    Criterion(
        "gini",
        1,
        _gini,
        lambda classes: 1.0,
        _scaled_gini,
        "bregalad_hw.gain.gini:Gini",
        (RECIPROCAL_BASE, RECIPROCAL_SLOPE),
        bounds=("mcdiarmid", "confidence", "confidence-practical"),
    ),
    Criterion(
        "kearns_mansour",
        2,
        lambda counts, total: math.sqrt(counts[0] / total * (counts[1] / total)),
        lambda classes: 0.5,
        _scaled_kearns_mansour,
        "bregalad_hw.gain.kearns_mansour:KearnsMansour",
        (ROOT_BASE, ROOT_SLOPE),
        classes=2,
        bounds=("confidence", "confidence-practical"),
    ),
    Criterion(
        "classification_error",
        3,
        _classification_error,
        lambda classes: 1.0,
        _scaled_classification_error,
        "bregalad_hw.gain.classification_error:ClassificationError",
    ),
)

CRITERIA = tuple(criterion.name for criterion in DECLARED)


def criterion_of(name):
    """The criterion of a name; ValueError if there is none."""
    for criterion in DECLARED:
        if criterion.name == name:
            return criterion
    raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}, not {name!r}")


def numbered(number):
    """The criterion that has a number in the registers; ValueError if there is none."""
    for criterion in DECLARED:
        if criterion.number == number:
            return criterion
    raise ValueError(
        f"no criterion has the number {number}; there are "
        f"{', '.join(f'{known.number} ({known.name})' for known in DECLARED)}"
    )


def covered(bound):
    """Names of the criteria that a bound knows."""
    return tuple(criterion.name for criterion in DECLARED if bound in ("hoeffding", *criterion.bounds))
