"""Decisions of an anytime tree, EFDT, on made-up attempts: every rule at its edge."""

import pytest
from attempts import CLOSE, EPSILON, EVEN, TIED, UNIT, UNTIED, Attempt, Bench, inner, leaf
from bregalad.policy.decide import KEEP, PRUNE, RELOCATE, SPLIT, TIE
from bregalad.policy.split_policy import VARIANTS, SplitPolicy


def test_anytime_leaf_is_compared_with_no_split():
    for variant in ("paper", "moa"):
        options = {"anytime": True, "variant": variant}
        assert leaf(EVEN, EPSILON + CLOSE, EPSILON + CLOSE, **options) == SPLIT
        assert leaf(EVEN, EPSILON - CLOSE, 0.0, **options) == KEEP
        assert leaf(TIED, 0.01, 0.01, **options) == TIE
        assert leaf(UNTIED, 0.01, 0.01, **options) == KEEP
        assert leaf(TIED, 0.0, 0.0, **options) == KEEP


def test_kdd2018_leaf_splits_at_its_first_attempt():
    options = {"anytime": True, "variant": "kdd2018"}
    assert leaf([100, 100], 1 / UNIT / 200, 0.0, **options) == SPLIT
    assert leaf([100, 100], 0.0, 0.0, **options) == KEEP
    assert leaf(TIED, 0.01, 0.01, **options) == SPLIT


@pytest.mark.parametrize("variant", VARIANTS)
def test_inner_node_changes_by_the_gap_to_its_own_split(variant):
    assert inner(EVEN, 0.1, 0.1 + EPSILON + CLOSE, variant=variant) == SPLIT
    assert inner(EVEN, 0.1, 0.1 + EPSILON - CLOSE, variant=variant) == KEEP
    assert inner(EVEN, 0.1, 0.12, 0.1 + EPSILON + CLOSE, variant=variant) == SPLIT
    assert inner(EVEN, 0.1, 0.19, 0.1 + EPSILON + CLOSE, current=1, variant=variant) == KEEP


@pytest.mark.parametrize("variant", VARIANTS)
def test_inner_tie_asks_for_half_of_tau(variant):
    assert inner(TIED, 0.1, 0.125 + CLOSE, variant=variant) == (TIE if variant == "moa" else KEEP)
    assert inner(TIED, 0.1, 0.125 - CLOSE, variant=variant) == KEEP
    assert inner(UNTIED, 0.1, 0.125 + CLOSE, variant=variant) == KEEP


def test_null_split_prunes_inner_nodes():
    for variant in ("paper", "kdd2018"):
        assert inner(EVEN, -EPSILON - CLOSE, -0.01, variant=variant) == PRUNE
        assert inner(EVEN, -EPSILON + CLOSE, -0.01, variant=variant) == KEEP
        assert inner(TIED, -0.05 - CLOSE, -0.01, variant=variant) == PRUNE
        assert inner(TIED, -0.025 - CLOSE, -0.01, variant=variant) == KEEP
        assert inner(EVEN, -EPSILON - CLOSE, 1 / UNIT / 1000, variant=variant) == SPLIT
        assert inner(EVEN, -EPSILON - CLOSE, variant=variant) == PRUNE
    bench = Bench(SplitPolicy(anytime=True), inner=0)
    assert bench.decide(Attempt.of(EVEN, -0.5, -0.1)) == (PRUNE, None, 0)


def test_null_split_goes_before_the_same_attribute():
    assert inner(EVEN, -0.5, -0.6, same_attribute="replace") == PRUNE
    assert inner(EVEN, -0.01, -0.6, same_attribute="replace") == KEEP
    assert inner(EVEN, -0.01, -0.6, same_attribute="replace", variant="moa") == RELOCATE


def test_moved():
    policy = SplitPolicy(anytime=True, same_attribute="replace", variant="moa")
    assert policy.moved(EPSILON + 1e-9, 1000, 2) == SPLIT
    assert policy.moved(EPSILON - 1e-9, 1000, 2) == KEEP
    assert policy.moved(0.025 + 1e-9, 3226, 2) == TIE
    assert policy.moved(0.025 - 1e-9, 3226, 2) == KEEP
    assert policy.moved(2 * EPSILON, 1000, 8) == KEEP
    policy = SplitPolicy(anytime=True, bound="confidence", criterion="gini", tau=0)
    assert policy.moved(2 * 1.154374, 400, 2, depth=2, t=5000, attributes=10) == SPLIT
    assert policy.moved(2 * 1.154373, 400, 2, depth=2, t=5000, attributes=10) == KEEP


def test_averages():
    bench = Bench(SplitPolicy(anytime=True, gain_average=True), 3)
    row = bench.node
    assert bench.decide(Attempt.of(EVEN, 0.08, 0.02, None)) == (KEEP, None, 0)
    assert bench.nodes.tried[row] == 1
    # Means 0.04, 0.085, 0: the last attempt alone would split.
    assert bench.decide(Attempt.of(EVEN, 0.0, 0.15, 0.0)) == (KEEP, None, 0)
    # Means 0.08, 0.08: of equal ones the lower. Now 0.1267 and 0.0567.
    assert bench.decide(Attempt.of(EVEN, 0.3, 0.0, 0.0)) == (SPLIT, 0, 1)
    assert bench.nodes.tried[row] == 3
    assert bench.nodes.gains[row] == pytest.approx([0.38, 0.17, 0.0], abs=1e-6)
    # The sums go on counting at an inner node: means 0.095, 0.1675, then 0.116, 0.214.
    bench.test(0)
    assert bench.decide(Attempt.of(EVEN, 0.0, 0.5, 0.0)) == (KEEP, None, 0)
    assert bench.decide(Attempt.of(EVEN, 0.2, 0.4, 0.0)) == (SPLIT, 1, 2)


def test_averages_of_a_pure_node_do_not_start():
    bench = Bench(SplitPolicy(anytime=True, gain_average=True))
    assert bench.decision([1000, 0], 0.3, 0.0) == KEEP
    assert not bench.nodes.gains.any() and not bench.nodes.tried.any()
