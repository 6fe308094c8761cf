"""Made-up attempts of one node, and the rules of docs/learners.md in plain, slow Python."""

import math
from dataclasses import dataclass

import numpy as np
from bregalad.geometry import GAIN_FRACTION, Geometry
from bregalad.policy.decide import KEEP, NO_CELL, PRUNE, RELOCATE, SPLIT, TIE, form_of
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap
from bregalad.tree.nodes import Nodes
from bregalad.tree.table import LEAF, MULTIWAY, NUMERIC
from decisions import decide

__all__ = ["CLOSE", "EPSILON", "EVEN", "TIED", "UNIT", "UNTIED", "Bench", "Slow", "Attempt", "inner", "leaf"]

UNIT = 1 << GAIN_FRACTION
EVEN = [500, 500]
EPSILON = 0.08977219962  # Hoeffding's, 1000 instances of two classes
CLOSE = 2 / UNIT / 1000  # two units of the board's gains
TIED = [1613, 1613]  # epsilon just below tau
UNTIED = [1611, 1611]  # and just above


@dataclass
class Attempt:
    """What a board has found at a node; gains times instances in its units, None: no candidate."""

    counts: list
    gains: list
    values: list | None = None

    @classmethod
    def of(cls, counts, *gains):
        """Gains given per instance."""
        n = sum(counts)
        return cls(list(counts), [None if g is None else round(g * n * UNIT) for g in gains])

    def value(self, attribute):
        return self.values[attribute] if self.values else attribute + 1

    def _candidate(self, cells, attribute):
        if attribute is None or self.gains[attribute] is None:
            return [NO_CELL, 0, 0]
        return [int(cells.first_cell[attribute]), self.value(attribute), self.gains[attribute]]

    def pack(self, geometry, cells, every, current=None):
        """As a board tells it; int64 array."""
        named = []
        if every:
            for cell in range(len(cells)):
                attribute = int(cells.attribute[cell])
                named.append(attribute if cell == cells.cells_of(attribute)[-1] else None)
        else:
            valid = [a for a, gain in enumerate(self.gains) if gain is not None]
            named = [*(sorted(valid, key=lambda a: -self.gains[a]) + [None] * 2)[:2], current]
        counts = self.counts + [0] * (geometry.classes - len(self.counts))
        return np.array(sum((self._candidate(cells, attribute) for attribute in named), counts), np.int64)


class Bench:
    """One node under attempt.

    Parameters
    ----------
    policy : SplitPolicy
    attributes : int
    classes : int
    inherited :  counts
    depth : int
    inner : attribute that the node tests; None: it is a leaf
    capacities : per attribute 0 or its values; numeric ones without
    used : per node above, the root first, the nominal attribute that its multiway split tests; None
        (or nothing) for a numeric one
    """

    def __init__(
        self,
        policy,
        attributes=2,
        classes=2,
        inherited=None,
        depth=0,
        inner=None,
        capacities=None,
        nominal_split="multiway",
        every=None,
        used=(),
    ):
        self.policy = policy
        self.classes = classes
        self.geometry = Geometry(classes=max(2, classes), lanes=16)
        self.cells = CellMap.build(capacities or [0] * attributes, self.geometry.bins, nominal_split)
        self.form = form_of(self.geometry.classes, self.cells, policy.reports_all if every is None else every)
        self.nodes = nodes = Nodes(self.geometry.classes)
        nodes.average_over(len(self.cells.first_cell) if policy.gain_average else 0)
        self.node = 0
        for above in [*used, *(depth - len(used)) * [None]]:
            child = nodes.add(2)
            nodes.parent[child : child + 2] = self.node
            nodes.kind[self.node] = NUMERIC if above is None else MULTIWAY
            nodes.attribute[self.node] = -1 if above is None else above
            self.node = child + 1
        nodes.period[self.node] = policy.grace
        nodes.wait[self.node] = policy.first_wait
        if inherited is not None:
            nodes.inherited[self.node] = inherited
        self.test(inner)

    def test(self, attribute):
        """Make the node test an attribute, or (None) a leaf."""
        self.current = attribute
        self.nodes.kind[self.node] = LEAF if attribute is None else self.cells.kind[self.cells.first_cell[attribute]]
        self.nodes.attribute[self.node] = -1 if attribute is None else attribute

    def decisions(self, *attempts, t=1):
        """The policy's answer to attempts that the instance with number t made due."""
        words = np.stack([attempt.pack(self.geometry, self.cells, self.form.all, self.current) for attempt in attempts])
        self.nodes.due_at[self.node] = t
        tried, due = np.full((2, len(attempts)), [[self.node], [t]])
        return decide(self.policy, words, self.form, self.nodes, tried, due, self.classes)

    def decide(self, attempt, t=1):
        """(decision, attribute or None, value)."""
        decision, cell, value = (column[0] for column in self.decisions(attempt, t=t))
        if cell == NO_CELL:
            return int(decision), None, int(value)
        attribute = int(self.cells.attribute[cell])
        assert cell == self.cells.first_cell[attribute]
        return int(decision), attribute, int(value)

    def period_after(self, attempt):
        """The node's next period when it has been decided."""
        self.decide(attempt)
        return int(self.nodes.period[self.node])

    def decision(self, counts, *gains, t=1):
        """Decision alone, for gains given per instance."""
        return self.decide(Attempt.of(counts, *gains), t)[0]


class Slow:
    """The same decisions, rule by rule."""

    def __init__(self, policy, classes, attributes):
        self.policy = policy
        self.classes = classes
        self.attributes = attributes
        self.history = []

    def impurity(self, counts):
        p = [count / sum(counts) for count in counts]
        match self.policy.criterion:
            case "information_gain":
                return -sum(x * math.log2(x) for x in p if x)
            case "gini":
                return 1 - sum(x * x for x in p)
            case "kearns_mansour":
                return math.sqrt(p[0] * p[1])
            case "classification_error":
                return 1 - max(p)

    @property
    def reach(self):
        return {
            "information_gain": math.log2(max(2, self.classes)),
            "gini": 1,
            "kearns_mansour": 0.5,
            "classification_error": 1,
        }[self.policy.criterion]

    def rule(self, gap, n, depth, t):
        """(Wide enough, tie, gap in the bound's unit)."""
        policy, k = self.policy, self.classes
        root = math.sqrt(math.log(1 / policy.delta) / (2 * n))
        if policy.bound == "hoeffding":
            return gap > self.reach * root, self.reach * root < policy.tau, gap
        if policy.bound == "mcdiarmid":
            factor = 8
            if policy.criterion == "information_gain":
                factor = 6 * (k * math.log2(math.e * n) + math.log2(2 * n)) + 2 * math.log2(k)
            return gap > factor * root, factor * root < policy.tau, gap
        if policy.criterion == "information_gain":
            gap *= math.log(2) / 2
        if policy.bound == "confidence-practical":
            eps = policy.scale * math.sqrt(math.log(n**2 * (depth + 1) ** 2 * t * self.attributes) / n)
            return gap >= eps, False, gap
        d = 1 / t / ((depth + 1) * (depth + 2) * (t + 1) ** 3 * self.attributes * n)
        eps = {
            "information_gain": math.log(n) * math.sqrt(2 / n * math.log(4 / d)) + 2 / n,
            "gini": math.sqrt(8 / n * math.log(2 / d)) + 4 * math.sqrt(1 / n),
            "kearns_mansour": 4 * math.sqrt(1 / n * math.log(8 / d)),
        }[policy.criterion]
        return gap >= 2 * eps, eps <= policy.tau, gap

    def decide(self, attempt, inherited, inner, multiway, used, depth, t, wait):
        """(decision, attribute or None, period or None if that does not matter)."""
        policy = self.policy
        observed = attempt.counts
        total = [a + b for a, b in zip(observed, inherited, strict=True)]
        n = sum(total)
        if sum(count > 0 for count in total) < 2 or not sum(observed):
            return KEEP, None, policy.grace
        shift = self.impurity(total) - self.impurity(observed)
        now = {
            a: gain / UNIT / sum(observed) + shift
            for a, gain in enumerate(attempt.gains)
            if gain is not None and a not in used
        }
        if policy.gain_average:
            self.history.append(now)
        gains = {
            a: (sum(past.get(a, 0) for past in self.history) / len(self.history) if policy.gain_average else now[a])
            for a in now
        }
        if policy.gain_average:
            current = sum(past.get(inner, 0) for past in self.history) / len(self.history)
        else:
            current = gains.get(inner, 0)
        order = sorted(gains, key=lambda a: (-gains[a], a))
        best = gains[order[0]] if order else -math.inf
        if inner is None:
            if not order:
                return KEEP, None, policy.grace
            return self.leaf(order, gains, best, n, sum(observed), depth, t, wait)

        def allowed(gap):
            wide, tie, gap = self.rule(gap, n, depth, t)
            tie = tie and policy.variant == "moa" and gap > policy.tau / 2
            return SPLIT if wide else TIE if tie else KEEP

        if best < 1e-10 and policy.variant != "moa":
            return (PRUNE if allowed(0 - current) else KEEP), None, None
        if not order:
            return KEEP, None, None
        if order[0] == inner:
            peek = policy.same_attribute == "replace" and not multiway
            return (RELOCATE, inner, None) if peek else (KEEP, None, None)
        decision = allowed(best - current)
        return decision, order[0] if decision else None, None

    def leaf(self, order, gains, best, n, observed, depth, t, wait):
        policy = self.policy
        second = gains[order[1]] if len(order) > 1 else -math.inf
        gap = best if policy.anytime else best - max(second, 0)
        wide, tie, _ = self.rule(gap, n, depth, t)
        if policy.ties == "htdt":
            tie = tie and len(order) > 1 and (5 * (best - second) < second - gains[order[-1]])
        if policy.ties == "htat":
            tie = observed >= wait
        if best >= 1e-10:
            if policy.anytime and policy.variant == "kdd2018":
                return SPLIT, order[0], None
            if wide or tie:
                return SPLIT if wide else TIE, order[0], None
        top = max(gap, policy.tau)
        need = math.ceil(self.reach**2 * math.log(1 / policy.delta) / (2 * top**2)) - n if top else math.inf
        return KEEP, None, min(max(need, policy.grace), 65535)


def leaf(counts, *gains, inherited=None, wait=None, t=1, **options):
    """Decision on a leaf; gains per instance, None: no such attribute."""
    policy = SplitPolicy(**options)
    return in_both_forms(policy, counts, gains, t, wait, inherited=inherited)


def inner(counts, *gains, t=1, inherited=None, depth=0, current=0, **options):
    """Decision on an inner node of an anytime tree."""
    policy = SplitPolicy(anytime=True, **options)
    return in_both_forms(policy, counts, gains, t, inherited=inherited, depth=depth, inner=current)


def in_both_forms(policy, counts, gains, t, wait=None, **where):
    decisions = set()
    for every in {True, policy.reports_all}:
        bench = Bench(policy, len(gains), every=every, **where)
        if wait is not None:
            bench.nodes.wait[bench.node] = wait
        decisions.add(bench.decision(counts, *gains, t=t))
    assert len(decisions) == 1
    return decisions.pop()
