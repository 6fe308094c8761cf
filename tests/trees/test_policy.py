"""Decisions on made-up attempts: those of the float64 reference, also at the edges of its rules."""

import math
import random

import numpy as np
import pytest
from attempts import UNIT, Attempt, Bench, Reference
from bregalad.geometry import Geometry
from bregalad.policy.bounds import confidence_bound, practical_bound
from bregalad.policy.criteria import GINI
from bregalad.policy.decide import KEEP, SPLIT, TIE
from bregalad.policy.split_policy import VARIANTS, SplitPolicy
from bregalad.policy.subset import leave_out
from bregalad.tree.cells import CellMap
from bregalad.tree.nodes import Nodes
from bregalad.tree.split import child_wait, style_of
from bregalad_sim.reference import node as reference
from hypothesis import assume, given, seed, settings
from hypothesis import strategies as st


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
    attempt = Attempt.of([1613, 1613], *gains)  # epsilon is just below tau
    for every, decision in ((False, candidate), (True, found)):
        bench = Bench(SplitPolicy(), capacities=[3, 3, 3], used=[0], every=every)
        assert bench.decide(attempt)[:2] == decision


def test_edge_of_the_confidence_bounds_belongs_to_the_split():
    def decision(counts, *gains, **options):
        return Bench(SplitPolicy(criterion="gini", **options)).decision(counts, *gains, t=sum(counts))

    epsilon = confidence_bound(GINI, 1000, 0, 1000, 2)
    assert decision([500, 500], 0.1, 0.1, bound="confidence", tau=epsilon) == TIE
    assert decision([500, 500], 0.1, 0.1, bound="confidence", tau=math.nextafter(epsilon, 0)) == KEEP
    # A power of two of instances, so that the gap itself is exact; the largest scale that it beats.
    scale = 0.25 / practical_bound(1.0, 1024, 0, 1024, 2) * (1 - 1e-15)
    while practical_bound(math.nextafter(scale, 2), 1024, 0, 1024, 2) <= 0.25:
        scale = math.nextafter(scale, 2)
    assert practical_bound(scale, 1024, 0, 1024, 2) == 0.25
    for least, found in ((scale, SPLIT), (math.nextafter(scale, 2), KEEP)):
        assert decision([512, 512], 0.5, 0.25, bound="confidence-practical", scale=least) == found


def test_pure_nodes_start_no_averages():
    bench = Bench(SplitPolicy(anytime=True, gain_average=True))
    assert bench.decision([1000, 0], 0.3, 0.0) == KEEP
    assert not bench.nodes.gains.any() and not bench.nodes.tried.any()


def test_inner_nodes_are_revised_at_any_depth():
    bench = Bench(SplitPolicy(anytime=True, max_depth=1), depth=3, inner=0)
    assert bench.decision([500, 500], 0.1, 0.9) == SPLIT


def test_every_few_attributes_are_drawn_as_often():
    print("seed 27")
    nodes = Nodes(2)
    drawn = np.zeros(5, int)
    for number in range(5000):
        out = np.array([False, False, True, False, False])
        leave_out(nodes.table, 0, 2, number, out)
        assert (~out).sum() == 2
        drawn += ~out
    assert drawn[2] == 0 and abs(drawn[[0, 1, 3, 4]] - 2500).max() < 4 * np.sqrt(1250)


def test_waits_of_children():
    def wait(policy, above, tie):
        return child_wait(style_of(Geometry(), policy, CellMap.build([0], 16)), above, tie)

    htat = SplitPolicy(ties="htat")
    assert htat.first_wait == 3000
    assert wait(htat, 3000, True) == 3500
    assert wait(htat, 3500, True) == 4000
    assert wait(htat, 4000, False) == 3000
    assert wait(SplitPolicy(ties="htat", tie_increment=100), 3000, True) == 3100
    for ties in ("ht", "htdt"):
        policy = SplitPolicy(ties=ties)
        assert policy.first_wait == wait(policy, 0, True) == wait(policy, 0, False) == 0


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


def at_an_edge(rng, gains, edges):
    """Gains per instance of which two, or one and none at all, are about as far from each other as a rule asks for."""
    gains = list(gains)
    named = [attribute for attribute, gain in enumerate(gains) if gain is not None]
    if named and edges:
        below = rng.choice([None, *named])
        gap = round(rng.choice(edges) * UNIT) + rng.choice([-2, 2])
        gains[rng.choice(named)] = gap if below is None else gains[below] + gap
        if below is not None and rng.random() < 0.5:
            gains = [gain if gain is None else gain - 4 * UNIT for gain in gains]  # worse than none
    return gains


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
    depth = rng.randint(len(used), 3 + len(used))
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
    expected = Reference(policy, classes, kinds, inherited, current, used, depth)
    for _ in range(3):
        counts = random_counts(0.15)
        gains = [random_gain(rng, scale) for _ in capacities]
        t = rng.randint(max(1, sum(counts)), rng.choice([20_000, 10**6]))
        if rng.random() < 0.5:
            gains = at_an_edge(rng, gains, expected.edges(counts, t))
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
        wait = rng.choice([100, 3000, sum(counts), sum(counts) + 1])
        decision, attribute, period = expected.decide(attempt, t, wait)
        for bench in benches:
            bench.nodes.wait[bench.node] = wait
            before = int(bench.nodes.period[bench.node])
            found = bench.decide(attempt, t)
            assert found[:2] == (decision, attribute)
            assert found[2] == (0 if attribute is None else attempt.value(attribute))
            if decision == KEEP and policy.adaptive_grace:
                assert bench.nodes.period[bench.node] == period
            else:
                assert bench.nodes.period[bench.node] == before
