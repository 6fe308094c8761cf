"""The bit-exact arithmetic against float64: every mantissa, then gains of every preset."""

import math

import numpy as np
import pytest
from bregalad.criteria import ALIGNED_FRACTION, CRITERIA, criterion_of
from bregalad.fixed import (
    CURVE_FRACTION,
    LOG_BASE,
    LOG_SLOPE,
    RECIPROCAL_BASE,
    RECIPROCAL_SLOPE,
    ROOT_BASE,
    ROOT_SLOPE,
    STEP_BITS,
    log2_fixed,
    reciprocal_fixed,
    root_fixed,
    xlog2x,
)
from bregalad.geometry import GAIN_FRACTION, PRESETS, Geometry
from bregalad.protocol.registers import CellKind
from bregalad_sim.golden import Cell, gain_of
from bregalad_sim.reference import criteria as reference
from hypothesis import given, settings
from hypothesis import strategies as st

LOG_ERROR = 1.6e-4  # bits: chord 0.44e-4, knots and interpolation rounded to 2**-13
RECIPROCAL_ERROR = 8.5e-5  # of the number: chord 6.1e-5, the rest as above
ROOT_ERROR = 1.6e-4  # of the number: chord 1.2e-4, the rest as above
GAIN_ERROR = 1e-3  # of n, the bar
UNIT = 2.0**-GAIN_FRACTION

gini, kearns_mansour, classification_error = (
    criterion_of(name).scaled for name in ("gini", "kearns_mansour", "classification_error")
)


def interpolate(base, slope, bits):
    """A table at every of ``bits``."""
    base, slope = np.array(base), np.array(slope)
    segment, step = bits >> STEP_BITS, bits & (1 << STEP_BITS) - 1
    return base[segment] + ((slope[segment] * step + (1 << STEP_BITS - 1)) >> STEP_BITS)


def test_log2_error_over_every_mantissa():
    """17 mantissa bits are used; lower ones move log2 by less than 2**-17 / ln 2."""
    x = np.arange(1 << 17, 1 << 18)
    fixed = (17 << GAIN_FRACTION) + interpolate(LOG_BASE, LOG_SLOPE, x - (1 << 17))
    sample = np.arange(0, len(x), 997)
    assert [log2_fixed(int(x[i])) for i in sample] == fixed[sample].tolist()
    error = np.abs(fixed / (1 << GAIN_FRACTION) - np.log2(x)).max()
    assert error <= LOG_ERROR
    # A gain is four sums of f over counts that add up to n; f errs by x times this.
    assert 4 * (error + 2**-17 / math.log(2)) <= GAIN_ERROR


def test_reciprocal_error_over_every_mantissa():
    """Of 17 mantissa bits; lower ones move a reciprocal by less than 2**-17 of it."""
    x = np.arange(1 << 17, 1 << 18)
    fixed = interpolate(RECIPROCAL_BASE, RECIPROCAL_SLOPE, x - (1 << 17))
    sample = np.arange(0, len(x), 997)
    assert [reciprocal_fixed(int(x[i])) for i in sample] == [(r, 17) for r in fixed[sample]]
    assert fixed.min() >= 1 << CURVE_FRACTION - 1 and fixed.max() == 1 << CURVE_FRACTION
    error = np.abs(fixed / (1 << CURVE_FRACTION) * x / (1 << 17) - 1).max() + 2**-17
    assert error <= RECIPROCAL_ERROR
    # Aligning loses bits of an n with more than ALIGNED_FRACTION bits after the leading one; the
    # result loses less than a unit, and of n = 1 there is nothing to lose.
    aligned = 2**-ALIGNED_FRACTION / 2 ** (ALIGNED_FRACTION + 1)
    impurity = error + max(UNIT / 2, aligned + UNIT / 2 ** (ALIGNED_FRACTION + 1))
    assert impurity <= 2.1e-4
    # A gain is the total's impurity less those of sides that add up to n.
    assert 2 * impurity <= GAIN_ERROR


def test_root_error_over_every_mantissa():
    """Of 17 mantissa bits, two of them whole; lower ones move a root by less than 2**-16 of it."""
    x = np.arange(1 << 15, 1 << 17)
    fixed = interpolate(ROOT_BASE, ROOT_SLOPE, x)
    sample = np.arange(0, len(x), 997)
    assert [root_fixed(int(x[i]) << 13) for i in sample] == [(r, 14) for r in fixed[sample]]
    error = np.abs(fixed / (1 << CURVE_FRACTION) / np.sqrt(x / (1 << 15)) - 1).max() + 2**-16
    assert error <= ROOT_ERROR
    # The product of two mantissas' roots loses less than a unit before it is shifted, and
    # sqrt(n_1 n_0) <= n / 2.
    impurity = (2 * error + error**2 + UNIT) / 2
    assert impurity <= 2.2e-4
    assert 2 * impurity <= GAIN_ERROR


@pytest.mark.parametrize("exponent", range(32))
def test_what_is_made_of_powers_of_two_is_exact(exponent):
    one, x = 1 << CURVE_FRACTION, 1 << exponent
    assert reciprocal_fixed(x) == (one, exponent)
    assert exponent % 2 or root_fixed(x) == (one, exponent // 2)
    assert xlog2x(x) == x * exponent << GAIN_FRACTION and xlog2x(0) == 0


COUNTS = st.lists(
    st.integers(0, 32).flatmap(lambda bits: st.integers(0, (1 << bits) - 1)), min_size=1, max_size=8
).filter(lambda counts: sum(counts) < 1 << 32)


@settings(max_examples=200)
@given(COUNTS)
def test_errors_up_to_32_bits(counts):
    """Pure counts have no impurity at all."""
    n, one, other = sum(counts), *[*counts, 0][:2]
    want = n - sum(count * count for count in counts) / max(1, n)
    assert abs(gini(counts, 32) * UNIT - want) <= 2.1e-4 * n
    assert abs(kearns_mansour([one, other], 32) * UNIT - math.sqrt(one * other)) <= 2.2e-4 * (one + other)
    assert abs(xlog2x(n) / (1 << GAIN_FRACTION) - n * math.log2(max(1, n))) <= (LOG_ERROR + 1.2e-5) * n
    assert gini([0, n, 0], 32) == kearns_mansour([n, 0], 32) == kearns_mansour([0, n], 32) == 0
    assert classification_error([0, n, 0], 32) == 0


def impurity(criterion, counts):
    """n times the reference's impurity, float64."""
    return counts.sum() * reference.impurity(criterion, counts)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("kind", [CellKind.NUMERIC, CellKind.MULTIWAY, CellKind.ONE_VS_REST])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_gain_error(name, kind, criterion, data):
    """|n G - float64| <= 1e-3 n for counts up to the geometry's largest n, sparse and skewed."""
    g = PRESETS[name].replace(slots=2, lanes=1, passes=1)
    g = g.replace(criterion=criterion, classes=2 if criterion == "kearns_mansour" else g.classes)
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    total = data.draw(st.integers(1, g.count_max))
    weights = rng.random((g.bins, g.classes)) ** data.draw(st.sampled_from([0.1, 1, 8, 40]))
    weights *= rng.random(weights.shape) < data.draw(st.sampled_from([0.05, 0.5, 1.0]))
    if not weights.any():
        weights[0, 0] = 1
    table = np.floor(weights / weights.sum() * total).astype(np.int64)
    got = gain_of(g, 0, Cell(kind), table.tolist(), g.classes)
    n, known = table.sum(), table.sum(axis=0)
    if kind == CellKind.MULTIWAY:
        gains = [impurity(criterion, known) - sum(impurity(criterion, part) for part in table)]
    else:
        left = np.cumsum(table, axis=0)[:-1] if kind == CellKind.NUMERIC else table
        gains = [
            impurity(criterion, known) - impurity(criterion, part) - impurity(criterion, known - part) for part in left
        ]
    scaled = got.gain * UNIT
    assert abs(scaled - gains[got.value]) <= GAIN_ERROR * n
    assert scaled >= max(gains) - GAIN_ERROR * n


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("classes", [2, 3, 5, 16, 17, 32])
@pytest.mark.parametrize("width", [12, 18, 32])
@pytest.mark.parametrize("kind", [CellKind.MULTIWAY, CellKind.ONE_VS_REST])
def test_largest_gain(width, classes, criterion, kind):
    """Classes of one size, each with a value of its own, and as much as a counter can hold."""
    if criterion == "kearns_mansour" and classes != 2:
        return
    g = Geometry(lanes=1, passes=1, bins=32, classes=classes, count_width=width, slots=2, criterion=criterion)
    table = np.zeros((g.bins, classes), np.int64)
    np.fill_diagonal(table, g.count_max // classes)
    table[0, 0] += g.count_max % classes
    got = gain_of(g, 0, Cell(kind), table.tolist(), classes)
    known = table.sum(axis=0)
    exact = impurity(criterion, known)
    if kind == CellKind.ONE_VS_REST:
        parts = [impurity(criterion, row) + impurity(criterion, known - row) for row in table]
        exact -= min(parts)
    assert abs(got.gain * UNIT - exact) <= GAIN_ERROR * g.count_max
