"""The split decision on made-up suggestions."""

import math

import numpy as np
import pytest
from bregalad.geometry import GAIN_FRACTION, NONE, Geometry
from bregalad.protocol.reports import Kind, suggestion_layout
from bregalad.trees.policy import (
    KEEP,
    SPLIT,
    TIE,
    HoeffdingPolicy,
    hoeffding_bound,
    judge,
    suggestion_words,
)

GEOMETRY = Geometry()
UNIT = 1 << GAIN_FRACTION


def verdict(counts, best, second=None, base=(0, 0), delta=1e-7, tau=0.05):
    """Verdict on a suggestion; gains in bits per instance, None: no such attribute."""
    n = sum(counts)
    values = {"kind": Kind.SUGGESTION, "slot": 3, "n": n, "class_counts": counts,
              "best_cell": NONE, "second_cell": NONE}
    for name, gain in (("best", best), ("second", second)):
        if gain is not None:
            values |= {f"{name}_cell": 0, f"{name}_valid": 1,
                       f"{name}_gain": round(gain * n * UNIT)}
    words = np.frombuffer(suggestion_layout(GEOMETRY).pack(**values), np.uint32)[None]
    node = np.full(GEOMETRY.slots, -1)
    node[3] = 1
    inherited = np.array([[0, 0], base])
    return judge(words, suggestion_words(GEOMETRY), inherited, node, 2, delta, tau)[0]


def test_bound():
    assert hoeffding_bound(3224, 2, 1e-7) == pytest.approx(0.05, abs=1e-5)
    assert hoeffding_bound(200, 8, 1e-7) == pytest.approx(
        3 * math.sqrt(math.log(1e7) / 400))


def test_gap_decides():
    epsilon = hoeffding_bound(1000, 2, 1e-7)
    assert verdict([500, 500], 0.3, 0.3 - 1.01 * epsilon) == SPLIT
    assert verdict([500, 500], 0.3, 0.3 - 0.99 * epsilon) == KEEP


def test_tie_threshold():
    assert verdict([1611, 1611], 0.3, 0.3) == KEEP
    assert verdict([1613, 1613], 0.3, 0.3) == TIE


def test_null_split_is_a_candidate():
    epsilon = hoeffding_bound(1000, 2, 1e-7)
    assert verdict([500, 500], 1.01 * epsilon) == SPLIT
    assert verdict([500, 500], 0.99 * epsilon) == KEEP
    assert verdict([500, 500], 0.3, -5.0) == SPLIT
    assert verdict([5000, 5000], 0.0, 0.0) == KEEP
    assert verdict([5000, 5000], -0.01, -0.02) == KEEP


def test_pure_leaf_is_kept_unless_its_inherited_counts_differ():
    assert verdict([5000, 0], 0.0, 0.0) == KEEP
    assert verdict([5000, 0], 0.0, 0.0, base=(0, 1000)) == TIE


def test_inherited_counts_shrink_the_bound():
    assert verdict([500, 500], 0.2, 0.17) == KEEP
    assert verdict([500, 500], 0.2, 0.17, base=(2000, 2000)) == TIE


def test_no_attribute():
    assert verdict([5000, 5000], None) == KEEP


@pytest.mark.parametrize("options, message", [
    ({"delta": 0}, "delta must lie between 0 and 1, not 0"),
    ({"delta": 1.0}, "delta must lie"),
    ({"delta": float("nan")}, "delta must lie"),
    ({"tau": -0.1}, "tau must be 0 or more"),
    ({"tau": float("nan")}, "tau must be"),
    ({"grace": 0}, "grace must be 1 to 16777215 instances, not 0"),
    ({"child_counts": "none"}, "child_counts must be 'inherit' or 'zero'"),
])
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        HoeffdingPolicy(**options)


def test_grace_must_be_an_integer():
    with pytest.raises(TypeError, match="grace must be an integer, not 2.5"):
        HoeffdingPolicy(grace=2.5)
