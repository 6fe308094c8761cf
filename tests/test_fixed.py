"""The bit-exact arithmetic against float64: every mantissa, then gains of every preset."""

import math

import numpy as np
import pytest
from bregalad.fixed import LOG_BASE, LOG_SLOPE, STEP_BITS, log2_fixed, xlog2x
from bregalad.geometry import GAIN_FRACTION, PRESETS
from bregalad.protocol.registers import CellKind
from bregalad.sim.golden import Cell, Golden
from hypothesis import given, settings
from hypothesis import strategies as st

LOG_ERROR = 1.6e-4  # bits: chord 0.44e-4, knots and interpolation rounded to 2**-13
GAIN_ERROR = 1e-3  # bits, the bar


def test_log2_error_over_every_mantissa():
    """17 mantissa bits are used; lower ones move log2 by less than 2**-17 / ln 2."""
    x = np.arange(1 << 17, 1 << 18)
    segment, step = (x >> STEP_BITS) & 63, x & (1 << STEP_BITS) - 1
    fixed = (17 << GAIN_FRACTION) + LOG_BASE[segment] + (
        (LOG_SLOPE[segment] * step + (1 << STEP_BITS - 1)) >> STEP_BITS)
    sample = np.arange(0, len(x), 997)
    assert [log2_fixed(int(x[i])) for i in sample] == fixed[sample].tolist()
    error = np.abs(fixed / (1 << GAIN_FRACTION) - np.log2(x)).max()
    assert error <= LOG_ERROR
    # A gain is four sums of f over counts that add up to n; f errs by x times this.
    assert 4 * (error + 2 ** -17 / math.log(2)) <= GAIN_ERROR


@given(st.integers(1, (1 << 32) - 1))
def test_xlog2x_error_up_to_32_bits(x):
    assert abs(xlog2x(x) / (1 << GAIN_FRACTION) - x * math.log2(x)) <= (LOG_ERROR + 1.2e-5) * x


@pytest.mark.parametrize("x, f", [(0, 0), (1, 0), (2, 2), (4, 8), (1 << 31, 31 << 31)])
def test_xlog2x_of_powers_of_two_is_exact(x, f):
    assert xlog2x(x) == f << GAIN_FRACTION


def entropy_sum(counts):
    """n times the entropy, float64."""
    n = counts.sum()
    counts = counts[counts > 0]
    return float((counts * np.log2(n / counts)).sum()) if n else 0.0


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("kind", [CellKind.NUMERIC, CellKind.MULTIWAY, CellKind.ONE_VS_REST])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_gain_error(name, kind, data):
    """|n G - float64| <= 1e-3 n for counts up to the geometry's largest n, sparse and skewed."""
    g = PRESETS[name].replace(slots=2, lanes=1, passes=1)
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    total = data.draw(st.integers(1, g.count_max))
    weights = rng.random((g.bins, g.classes)) ** data.draw(st.sampled_from([0.1, 1, 8, 40]))
    weights *= rng.random(weights.shape) < data.draw(st.sampled_from([0.05, 0.5, 1.0]))
    if not weights.any():
        weights[0, 0] = 1
    table = np.floor(weights / weights.sum() * total).astype(np.int64)
    model = Golden(g)
    model.write_register("classes", g.classes)
    model.cells[0] = Cell(kind)
    model.counts[0][0] = table.tolist()
    got = model._gain(0, 0)
    n, known = table.sum(), table.sum(axis=0)
    if kind == CellKind.MULTIWAY:
        gains = [entropy_sum(known) - sum(map(entropy_sum, table))]
    else:
        left = np.cumsum(table, axis=0)[:-1] if kind == CellKind.NUMERIC else table
        gains = [entropy_sum(known) - entropy_sum(part) - entropy_sum(known - part)
                 for part in left]
    scaled = got.gain / (1 << GAIN_FRACTION)
    assert abs(scaled - gains[got.value]) <= GAIN_ERROR * n
    assert scaled >= max(gains) - GAIN_ERROR * n
