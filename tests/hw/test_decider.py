"""The decider: the golden model's rule against the host's."""

import numpy as np
import pytest
from bregalad.compiled import njit
from bregalad.driver.devices.filter import all_up_to, rule_of
from bregalad.geometry import GAIN_FRACTION, Geometry
from bregalad.policy.bounds import hoeffding_bound
from bregalad.policy.decide import KEEP, NO_CELL, decide_row, form_of
from bregalad.policy.split_policy import SplitPolicy
from bregalad.protocol.decider import DECIDER
from bregalad.tree.cells import CellMap
from bregalad.tree.nodes import Nodes
from bregalad.tree.table import LEAF, MULTIWAY, NUMERIC
from bregalad_sim.golden import Candidate
from bregalad_sim.golden.decider import Attempt, is_candidate

ATTRIBUTES = 5
NODES = 2000
MOST = (1 << 32) - 1  # instances of a slot
ROWS = 8_000  # attempts of each policy
POLICIES = {
    "vfdt": (2, {}),
    "vfdt zero": (2, {"child_counts": "zero"}),
    "vfdt, 10 classes": (10, {"delta": 0.01}),
    "vfdt, no ties": (3, {"tau": 0, "delta": 1e-300}),
    "vfdt, gini": (4, {"criterion": "gini"}),
    "vfdt, kearns-mansour": (2, {"criterion": "kearns_mansour", "delta": 0.9}),
    "vfdt, classification error": (32, {"criterion": "classification_error"}),
    "vfdt, max depth": (2, {"max_depth": 3}),
    **{
        f"efdt {variant}{name}": (classes, {"anytime": True, "variant": variant, "delta": 0.05, **options})
        for variant in ("paper", "moa", "kdd2018")
        for name, classes, options in (
            ("", 2, {}),
            (" zero", 5, {"child_counts": "zero"}),
            (" replace", 2, {"same_attribute": "replace"}),
            (" gini", 2, {"criterion": "gini", "tau": 0.2}),
        )
    },
}


def decided(policy, words, form, nodes, tried, due, classes):
    """What a policy decides of attempts on ``tried`` nodes, int64 (attempts, form.size), due at ``due``: int8 array."""
    arrays = nodes.table, nodes.inherited, nodes.gains, nodes.evidence
    return _decided(words, form, policy.options, *arrays, tried, due, classes)


@njit(cached=False)
def _decided(words, form, options, table, inherited, gains, evidence, nodes, due, classes):
    found = np.zeros(len(words), np.int8)
    for i in range(len(words)):
        row, node = words[i], nodes[i]
        if table[node]["due_at"] == due[i]:
            found[i] = decide_row(
                row, form, options, table, inherited, gains, evidence, node, classes, due[i], options.anytime
            )[0]
    return found


class Attempts:
    """Split attempts at nodes of all kinds, most of them at the bound, with three candidates.

    Below a multiway split of attribute 0 are a third of the nodes, below such of all attributes but one some.
    """

    def __init__(self, policy, classes, rng):
        self.policy, self.classes, self.rng = policy, classes, rng
        self.geometry = Geometry(classes=classes, lanes=16, count_width=32)
        self.cells = CellMap.build([4] * ATTRIBUTES, self.geometry.bins, "multiway")
        self.form = form_of(classes, self.cells)
        self.nodes = nodes = Nodes(classes)
        first, self.left = nodes.add(ATTRIBUTES), np.full(NODES, ATTRIBUTES)
        for attribute in range(ATTRIBUTES - 1):  # a chain of multiway splits
            above = first + attribute
            nodes.kind[above], nodes.attribute[above] = MULTIWAY, attribute
            nodes.parent[above] = above - 1 if attribute else -1
        self.first = nodes.add(NODES)
        self.at = at = np.arange(self.first, self.first + NODES)
        below = rng.integers(0, 3 * ATTRIBUTES, NODES)
        below[below >= ATTRIBUTES] = rng.integers(0, 2, (below >= ATTRIBUTES).sum())
        nodes.parent[at] = np.where(below, first + below - 1, -1)
        self.left -= below
        inner = (rng.random(NODES) < 0.5) & policy.anytime & (self.left > 0)
        nodes.attribute[at] = np.where(inner, rng.integers(below.clip(max=ATTRIBUTES - 1), ATTRIBUTES), -1)
        nodes.kind[at] = np.where(inner, rng.choice([NUMERIC, MULTIWAY], NODES), LEAF)
        nodes.period[at] = policy.grace
        if policy.child_counts == "inherit":
            nodes.inherited[at] = self.counts(NODES) * (rng.random((NODES, 1)) < 0.8)
        self.ask = np.array(
            [
                all_up_to(policy.options, classes, nodes.inherited[node], nodes.kind[node] != LEAF, left, MOST)
                for node, left in zip(at, self.left, strict=True)
            ]
        )

    def counts(self, rows):
        """Of any size and purity."""
        rng = self.rng
        total = 2 ** (rng.random(rows) * 20) * rng.choice([1, 1, 1, 15], rows)
        shares = rng.gamma(rng.choice([0.05, 0.3, 1, 10], (rows, 1)), 1, (rows, self.classes))
        shares[:, 0] += 1e-6
        return (shares / shares.sum(axis=1, keepdims=True) * total[:, None]).astype(np.int64)

    def words(self, rows):
        """``(words, node, observed counts)``."""
        rng, nodes, policy = self.rng, self.nodes, self.policy
        node = rng.choice(self.at, rows)
        inherited = nodes.inherited[node]
        observed = self.counts(rows)
        like = rng.random(rows) < 0.3  # as the inherited ones
        observed[like] = (inherited[like] * (2 ** rng.uniform(-3, 3, (rows, 1)))[like]).astype(np.int64)
        n = observed.sum(axis=1)
        total = n + inherited.sum(axis=1)
        options = policy.options
        bound = np.array(
            [hoeffding_bound(options.criterion, max(1, b), self.classes, options.certainty) for b in total]
        )
        half = (rng.random(rows) < 0.2) & (policy.variant == "moa")
        bound[half] = policy.tau / 2
        scale = n * float(1 << GAIN_FRACTION)
        # Distances from the bound of all sizes, those below a unit too.
        near = 1 + rng.choice([-1, 1], rows) * 10 ** rng.uniform(-14, 0.3, rows) * (rng.random(rows) < 0.9)
        gap = np.rint(bound * near * scale).astype(np.int64) + rng.integers(-1, 2, rows)
        gap *= rng.random(rows) < 0.95
        moved = np.where(rng.random(rows) < 0.5, 0, rng.integers(-3, 4, rows))
        second = np.where(rng.random(rows) < 0.5, moved, (rng.random(rows) * 0.5 * scale).astype(np.int64))
        # The attributes in an order of their own: the best, the second, and then any lower ones.
        order = rng.permuted(np.tile(np.arange(ATTRIBUTES), (rows, 1)), axis=1)
        gains = np.empty((rows, ATTRIBUTES), np.int64)
        gains[:, 0], gains[:, 1] = second + abs(gap), second
        for place in range(2, ATTRIBUTES):
            gains[:, place] = np.where(
                rng.random(rows) < 0.3, gains[:, place - 1], gains[:, 0] - np.maximum(abs(gap), gains[:, 0] - second)
            ) - rng.integers(0, 3, rows)
        words = np.zeros((rows, self.form.size), np.int64)
        words[:, : self.classes] = observed
        place = np.argmax(order == nodes.attribute[node][:, None], axis=1)
        there = nodes.attribute[node] >= 0
        for at, which, valid in (
            (self.form.best, 0, rng.random(rows) < 0.99),
            (self.form.second, 1, True),
            (self.form.current, place, there),
        ):
            attribute = order[np.arange(rows), which]
            gain = gains[np.arange(rows), which] * (n > 0)
            words[:, at] = np.where(valid, self.cells.first_cell[attribute], NO_CELL)
            words[:, at + 2] = np.where(valid, gain, 0)
        lost = words[:, self.form.best] == NO_CELL  # then there is none at all
        for at in (self.form.second, self.form.current):
            words[lost, at], words[lost, at + 2] = NO_CELL, 0
        return words, node, observed


def candidates(attempts, words, node, observed):
    """Which of some attempts the golden model's decider proposes; which it would, whatever their gains."""
    nodes, form = attempts.nodes, attempts.form
    rule = rule_of(attempts.policy, attempts.classes)
    ask = attempts.ask[node - attempts.first]
    inherited, inner = nodes.inherited[node], nodes.kind[node] != LEAF
    found = []
    for row, counts, before, up_to, is_inner in zip(words.tolist(), observed, inherited, ask, inner, strict=True):
        best, second, current = (
            Candidate(*row[at : at + 3]) if row[at] != NO_CELL else Candidate()
            for at in (form.best, form.second, form.current)
        )
        mixed = int((counts + before > 0).sum()) > 1
        known = int(counts.sum()), int(before.sum()), int(up_to), mixed, bool(is_inner)
        found.append(is_candidate(rule, Attempt(*known, best, second, current)))
    return np.array(found), observed.sum(axis=1) <= ask


@pytest.mark.parametrize("name", POLICIES)
def test_what_stays_the_host_keeps(name, seed):
    """And what is proposed is as good as at the bound, where integers carry all that the host asks."""
    classes, options = POLICIES[name]
    policy, lenient = SplitPolicy(**options), SplitPolicy(**options)
    lenient.__dict__["options"] = policy.options._replace(certainty=policy.options.certainty * (1 - 2.0**-9))
    attempts = Attempts(policy, classes, np.random.default_rng(seed))
    words, node, observed = attempts.words(ROWS)
    found, asked = candidates(attempts, words, node, observed)
    due = attempts.nodes.due_at[node]
    strict, loose = (
        decided(each, words, attempts.form, attempts.nodes, node, due, classes) != KEEP for each in (policy, lenient)
    )
    assert not (strict & ~found).any()
    current = words[:, attempts.form.current + 2]
    carried = (
        (attempts.nodes.inherited[node].sum(axis=1) == 0)
        & (attempts.left[node - attempts.first] == ATTRIBUTES)
        & (observed.sum(axis=1) < 1 << 20)  # G >= 1e-10 wherever n G >= 1
        & ~(asked | (current < 0) | bool(policy.max_depth))
    )
    if policy.variant == "moa":  # tau / 2 is no part of the lenient bound
        carried &= (attempts.nodes.kind[node] == LEAF) | (
            observed.sum(axis=1) < rule_of(policy, classes)["decider_tie.n"]
        )
    if policy.same_attribute == "replace":
        carried &= attempts.nodes.kind[node] == LEAF
    assert not (carried & found & ~loose).any()
    print(
        f"{strict.sum()} changes, {(~strict & found).sum()} more candidates; where integers carry all "
        f"{(carried & strict).sum()} and {(carried & ~strict & found).sum()}, {(carried & ~found).sum()} stay"
    )
    assert strict.sum() > ROWS / 10
    assert (~found).sum() > ROWS / 1000
    assert policy.max_depth or min((carried & strict).sum(), (carried & ~found).sum()) > ROWS / 1000


@pytest.mark.parametrize(
    "options",
    [
        {"bound": "mcdiarmid"},
        {"bound": "confidence"},
        {"ties": "htdt"},
        {"ties": "htat"},
        {"adaptive_grace": True},
        {"anytime": True, "gain_average": True},
        {"delta": 1 - 1e-15},  # an epsilon that float64 does not hold
    ],
    ids=str,
)
def test_what_integers_do_not_carry_is_asked(options):
    rule = rule_of(SplitPolicy(**options), 2)
    assert not rule["decider.decides"]
    assert is_candidate(rule, Attempt(n=0))


def test_rule():
    """In registers: c, and the n from which on epsilon is below tau."""
    rule = rule_of(SplitPolicy(), 2)
    c = rule["decider_bound.mantissa"] * 2.0 ** (rule["decider_bound.exponent"] - 2 * GAIN_FRACTION)
    assert 1 - 2**-9 < c / (np.log(1e7) / 2) < 1 - 2**-10
    assert rule["decider_tie.n"] == 3224  # 16.118 / (2 * 0.05^2) = 3223.6
    for policy in (SplitPolicy(tau=0), SplitPolicy(tau=1e-9)):
        assert rule_of(policy, 2)["decider_tie.n"] == (1 << 32) - 1
    fields = {f"{register.name}.{field.name}": field.width for register in DECIDER for field in register.fields}
    for delta in (1e-300, 1e-7, 0.5, 0.999):
        for classes in (2, 32):
            rule = rule_of(SplitPolicy(delta=delta), classes)
            assert rule.keys() == fields.keys()
            assert all(0 <= value < 1 << fields[name] for name, value in rule.items())
            assert rule["decider_bound.mantissa"] >> 15 == 1


def test_half_the_threshold_at_inner_nodes():
    """EFDT's variant of MOA: where epsilon is below tau, a gap above tau / 2 is a candidate, and only such a one."""
    rule = rule_of(SplitPolicy(anytime=True, variant="moa", delta=0.05, tau=0.05), 2)
    n = rule["decider_tie.n"]
    assert n == 600  # 2.9957 / (2 * 0.05^2) = 599.1
    for instances, gap, found in (
        (n, 0.0249, False),
        (n, 0.0251, True),
        (n - 1, 0.0501, True),
        (n - 1, 0.0499, False),
        (2 * n, 0.0249, False),
        (4 * n + 40, 0.0249, True),  # epsilon itself
    ):
        best, current = (
            Candidate(cell, 0, round(gain * instances * 2**GAIN_FRACTION)) for cell, gain in ((0, 0.1 + gap), (1, 0.1))
        )
        assert is_candidate(rule, Attempt(n=instances, inner=True, best=best, second=current, current=current)) == found
