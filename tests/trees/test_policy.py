"""Decisions on made-up attempts: every rule at its edge, and all of them against the float64 reference."""

import math
import random

import pytest
from attempts import CLOSE, EPSILON, EVEN, TIED, UNIT, UNTIED, Attempt, Bench, Reference, inner, leaf
from bregalad.geometry import Geometry
from bregalad.policy.bounds import confidence_bound, practical_bound
from bregalad.policy.criteria import GINI
from bregalad.policy.decide import KEEP, SPLIT, TIE
from bregalad.policy.split_policy import VARIANTS, SplitPolicy
from bregalad.tree.cells import CellMap
from bregalad.tree.split import child_wait, style_of
from bregalad.tree.table import ONE_VS_REST
from bregalad_sim.reference import node as reference
from hypothesis import assume, given, seed, settings
from hypothesis import strategies as st


def test_gap_decides():
    assert leaf(EVEN, 0.3 - EPSILON - CLOSE, 0.3) == SPLIT
    assert leaf(EVEN, 0.3 - EPSILON + CLOSE, 0.3) == KEEP


def test_tie_threshold():
    assert leaf(UNTIED, 0.3, 0.3) == KEEP
    assert leaf(TIED, 0.3, 0.3) == TIE
    assert leaf(TIED, 0.3, 0.3, tau=0) == KEEP


def test_nothing_to_decider():
    assert leaf([0, 0], 0.0, 0.0, inherited=(5000, 5000)) == KEEP
    for decision in (leaf([5000, 5000], None), inner([5000, 5000], None), inner([5000, 5000], None, variant="moa")):
        assert decision == KEEP


def test_width_that_a_tie_takes():
    """Epsilon falls below tau before a counter of so many bits is full, and not one bit sooner."""
    policy = SplitPolicy()
    for classes, width in ((2, 12), (5, 15), (10, 16), (23, 17)):
        assert policy.width_for_ties(classes) == width
        needed = 16.118 * math.log2(classes) ** 2 / (2 * 0.05**2)  # ln 1e7
        assert 2 ** (width - 1) - 1 < needed < 2**width - 1
    assert SplitPolicy(tau=0).width_for_ties(2) is None
    assert SplitPolicy(tau=1e-9).width_for_ties(2) is None
    assert SplitPolicy(ties="htat").width_for_ties(2) is None
    assert SplitPolicy(bound="mcdiarmid").width_for_ties(2) is None
    assert SplitPolicy(anytime=True, variant="kdd2018").width_for_ties(2) is None


def test_null_split_is_a_candidate():
    assert leaf(EVEN, EPSILON + CLOSE) == SPLIT
    assert leaf(EVEN, EPSILON - CLOSE) == KEEP
    assert leaf(EVEN, 0.3, -5.0) == SPLIT
    assert leaf(EVEN, EPSILON + CLOSE, -5.0) == SPLIT
    assert leaf(EVEN, EPSILON - CLOSE, -5.0) == KEEP
    assert leaf(TIED, 0.0, 0.0) == KEEP
    assert leaf(TIED, 1 / UNIT / 3226, 0.0) == TIE
    assert leaf(TIED, -0.01, -0.02) == KEEP


def test_pure_node_is_left_alone_unless_its_inherited_counts_differ():
    assert leaf([5000, 0], 0.0, 0.0) == KEEP
    assert leaf([5000, 0], 0.0, 0.0, inherited=(1000, 0)) == KEEP
    assert leaf([5000, 0], 0.0, 0.0, inherited=(0, 1000)) == TIE
    assert leaf([5000, 0], 0.5, 0.0, anytime=True, variant="kdd2018") == KEEP
    assert inner([5000, 0], 0.0, 0.5) == KEEP
    assert inner([5000, 0], 0.0, 0.5, inherited=(0, 1)) == SPLIT


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize(
    "capacities, used, found",
    [
        ([3, 3, 0], [0], (TIE, 1)),
        ([3, 3, 0], [1], (TIE, 0)),
        ([3, 3, 0], [None, 0], (TIE, 1)),
        ([3, 0], [0], (SPLIT, 1)),
        ([3, 3], [0, 1], (KEEP, None)),
        ([3, 3, 3], [2, 1, 0], (KEEP, None)),
    ],
)
def test_a_nominal_attribute_is_used_once_on_a_path(capacities, used, found, every):
    """No own gain, as below its own split, but one by the counts that the leaf began with."""
    bench = Bench(SplitPolicy(), capacities=capacities, used=used, inherited=(0, 1000), every=every)
    assert bench.decide(Attempt.of([5000, 0], *[0.0] * len(capacities)))[:2] == found


def test_where_the_two_best_are_used_a_candidate_names_none():
    attempt = Attempt.of([5000, 0], 0.0, 0.0, 0.0)
    for every, found in ((False, (KEEP, None)), (True, (SPLIT, 2))):
        bench = Bench(SplitPolicy(), capacities=[3, 3, 3], used=[0, 1], inherited=(0, 1000), every=every)
        assert bench.decide(attempt)[:2] == found


@pytest.mark.parametrize(
    "gains, candidate, found",
    [
        ((0.3, 0.2, 0.01), (TIE, 1), (SPLIT, 1)),  # what is after the second is not named
        ((0.19, 0.2, 0.01), (TIE, 1), (SPLIT, 1)),  # the used second is named in its place
        ((0.01, 0.2, 0.19), (TIE, 1), (TIE, 1)),
    ],
)
def test_values_unknown_to_its_split_give_a_used_attribute_a_gain(gains, candidate, found):
    attempt = Attempt.of(TIED, *gains)
    for every, decision in ((False, candidate), (True, found)):
        bench = Bench(SplitPolicy(), capacities=[3, 3, 3], used=[0], every=every)
        assert bench.decide(attempt)[:2] == decision


def test_one_value_against_the_rest_may_be_asked_again():
    bench = Bench(SplitPolicy(), capacities=[3, 3], nominal_split="one_vs_rest", inherited=(0, 1000), depth=1)
    bench.nodes.kind[0], bench.nodes.attribute[0] = ONE_VS_REST, 0
    assert bench.decide(Attempt.of([5000, 0], 0.0, 0.0))[:2] == (TIE, 0)


# Criteria and bounds


def test_edge_of_the_confidence_bounds_belongs_to_the_split():
    epsilon = confidence_bound(GINI, 1000, 0, 1000, 2)
    options = {"bound": "confidence", "criterion": "gini", "t": 1000}
    assert leaf(EVEN, 0.1, 0.1, tau=epsilon, **options) == TIE
    assert leaf(EVEN, 0.1, 0.1, tau=math.nextafter(epsilon, 0), **options) == KEEP
    # A power of two of instances, so that the gap itself is exact; the largest scale that it beats.
    options = {"bound": "confidence-practical", "criterion": "gini", "t": 1024}
    scale = 0.25 / practical_bound(1.0, 1024, 0, 1024, 2) * (1 - 1e-15)
    while practical_bound(math.nextafter(scale, 2), 1024, 0, 1024, 2) <= 0.25:
        scale = math.nextafter(scale, 2)
    assert practical_bound(scale, 1024, 0, 1024, 2) == 0.25
    assert leaf([512, 512], 0.5, 0.25, scale=scale, **options) == SPLIT
    assert leaf([512, 512], 0.5, 0.25, scale=math.nextafter(scale, 2), **options) == KEEP


# Ties


def test_htdt_splits_genuine_ties_only():
    assert leaf(TIED, 0.3, 0.29, 0.24 - CLOSE, ties="htdt") == TIE
    assert leaf(TIED, 0.3, 0.29, 0.24 + CLOSE, ties="htdt") == KEEP
    assert leaf(TIED, 0.24 - CLOSE, 0.29, 0.3, ties="htdt") == TIE
    assert leaf(UNTIED, 0.3, 0.29, 0.0, ties="htdt") == KEEP
    assert leaf(TIED, 0.36, 0.3, 0.29, ties="htdt") == SPLIT
    # Without a third attribute none is genuine.
    assert leaf(TIED, 0.3, 0.3, ties="htdt") == KEEP
    assert leaf(TIED, 0.01, ties="htdt") == KEEP
    assert leaf(TIED, 0.01, None, ties="htdt") == KEEP
    # With the null split for the second or the worst this would not be, or be, genuine.
    assert leaf(TIED, 0.01, -0.01, -0.2, ties="htdt") == TIE
    assert leaf(TIED, 0.03, 0.02, 0.01, ties="htdt") == KEEP
    # Inherited counts change nothing.
    assert leaf(TIED, 0.3, 0.29, 0.24 - CLOSE, ties="htdt", inherited=(0, 3000)) == TIE
    assert leaf(TIED, 0.3, 0.29, 0.24 + CLOSE, ties="htdt", inherited=(0, 3000)) == KEEP


def test_htat_waits():
    assert leaf([1499, 1500], 0.3, 0.3, ties="htat") == KEEP
    assert leaf([1500, 1500], 0.3, 0.3, ties="htat") == TIE
    assert leaf([1749, 1750], 0.3, 0.3, ties="htat", wait=3500) == KEEP
    assert leaf([1750, 1750], 0.3, 0.3, ties="htat", wait=3500) == TIE
    assert leaf(EVEN, 0.3, 0.3, ties="htat", inherited=(5000, 5000)) == KEEP
    assert leaf(EVEN, 0.3, 0.1, ties="htat") == SPLIT


def wait(policy, above, tie):
    return child_wait(style_of(Geometry(), policy, CellMap.build([0], 16)), above, tie)


def test_waits_of_children():
    htat = SplitPolicy(ties="htat")
    assert htat.first_wait == 3000
    assert wait(htat, 3000, True) == 3500
    assert wait(htat, 3500, True) == 4000
    assert wait(htat, 4000, False) == 3000
    assert wait(SplitPolicy(ties="htat", tie_increment=100), 3000, True) == 3100
    for ties in ("ht", "htdt"):
        policy = SplitPolicy(ties=ties)
        assert policy.first_wait == wait(policy, 0, True) == wait(policy, 0, False) == 0


# VFDT-nmin


def test_adaptive_grace_has_limits():
    # A gap of 0.01 is waited for until the tie threshold: 16.1181 / (2 x 0.05**2) = 3223.6.
    bench = Bench(SplitPolicy(adaptive_grace=True))
    assert bench.period_after(Attempt(EVEN, [0, 10 * UNIT])) == 2224
    assert bench.period_after(Attempt(UNTIED, [0, 10 * UNIT])) == 200
    assert bench.period_after(Attempt([5000, 0], [0, 10 * UNIT])) == 200
    assert bench.period_after(Attempt(EVEN, [0, 10 * UNIT])) == 2224
    assert bench.period_after(Attempt([5000, 0], [0, 10 * UNIT])) == 200
    assert bench.period_after(Attempt(EVEN, [-UNIT, -UNIT])) == 2224
    bench = Bench(SplitPolicy(adaptive_grace=True, tau=1e-3))
    assert bench.period_after(Attempt(EVEN, [0, 0])) == 65535
    bench = Bench(SplitPolicy(adaptive_grace=True, tau=0))
    assert bench.period_after(Attempt(EVEN, [0, 0])) == 65535


# All of it


@st.composite
def policies(draw):
    anytime = draw(st.booleans())
    options = {
        "anytime": anytime,
        "bound": draw(st.sampled_from(["hoeffding"] * 3 + ["mcdiarmid", "confidence", "confidence-practical"])),
        "criterion": draw(st.sampled_from(["information_gain", "gini", "kearns_mansour", "classification_error"])),
        "tau": draw(st.sampled_from([0.0, 0.05, 0.2, 1.0, 3.0])),
        "scale": draw(st.sampled_from([5e-3, 0.5])),
        "grace": draw(st.sampled_from([50, 200])),
        "delta": draw(st.sampled_from([1e-7, 0.1])),
    }
    if anytime:
        options |= {
            "variant": draw(st.sampled_from(sorted(VARIANTS))),
            "gain_average": draw(st.booleans()),
            "same_attribute": draw(st.sampled_from(["keep", "replace"])),
        }
    else:
        options |= {"ties": draw(st.sampled_from(["ht", "htdt", "htat"])), "adaptive_grace": draw(st.booleans())}
    try:
        return SplitPolicy(**options)
    except ValueError:
        assume(False)


def random_gain(rng, scale):
    """Units per instance, or None; of a coarse grid now and then, so that gains coincide."""
    if rng.random() < 0.1:
        return None
    gain = round(rng.uniform(-scale / 3, scale) * UNIT)
    return gain if rng.random() < 0.5 else gain // 64 * 64


@seed(20)
@settings(max_examples=800, deadline=None)
@given(policy=policies(), start=st.integers(0, 1 << 32))
def test_equals_reference_in_both_forms(policy, start):
    rng = random.Random(start)
    two = policy.criterion == "kearns_mansour" or policy.bound.startswith("confidence")
    classes = 2 if two else rng.randint(2, 4)
    capacities = rng.choices([0, 0, 5, 40], k=rng.randint(1, 5))
    nominal_split = rng.choice(["multiway", "one_vs_rest"])
    current = rng.choice([None, *range(len(capacities))]) if policy.anytime else None
    nominal = getattr(reference, nominal_split.upper())
    kinds = [nominal if values else reference.NUMERIC for values in capacities]
    used = [
        a
        for a, values in enumerate(capacities)
        if values and nominal_split == "multiway" and a != current and rng.random() < 0.3
    ]
    depth, wait = rng.randint(len(used), 3 + len(used)), rng.choice([100, 3000])
    scale = rng.choice([0.03, 0.1, 0.5, 3])

    def random_counts(empty):
        most = rng.choice([100, 1000, 3000])
        return [0 if rng.random() < empty else rng.randint(0, most) for _ in range(classes)]

    inherited = random_counts(0.1) if rng.random() < 0.5 else [0] * classes
    benches = [
        Bench(
            policy,
            classes=classes,
            inherited=inherited,
            depth=depth,
            inner=current,
            capacities=capacities,
            nominal_split=nominal_split,
            every=every,
            used=used,
        )
        for every in {True, policy.reports_all}
    ]
    expected = Reference(policy, classes, kinds, inherited, current, used, depth, wait)
    for bench in benches:
        bench.nodes.wait[bench.node] = wait
    for _ in range(3):
        counts = random_counts(0.15)
        gains = [random_gain(rng, scale) for _ in capacities]
        if current is not None and all(gain is None for a, gain in enumerate(gains) if a not in used):
            gains[current] = 0  # its own split is a candidate
        if used:  # they have no gain, and are not both named of two; all are candidates
            least = len(used) > 1
            gains = [0 if a in used else max(gain or 0, least) for a, gain in enumerate(gains)]
        attempt = Attempt(
            counts,
            [gain if gain is None else gain * sum(counts) for gain in gains],
            [rng.randint(0, 4) for _ in capacities],
        )
        t = rng.randint(max(1, sum(counts)), rng.choice([20_000, 10**6]))
        decision, attribute, period = expected.decide(attempt, t)
        for bench in benches:
            before = int(bench.nodes.period[bench.node])
            found = bench.decide(attempt, t)
            assert found[:2] == (decision, attribute)
            assert found[2] == (0 if attribute is None else attempt.value(attribute))
            if decision == KEEP and policy.adaptive_grace:
                assert bench.nodes.period[bench.node] == period
            else:
                assert bench.nodes.period[bench.node] == before
