"""Made-up attempts of one node, and what the policy and the float64 reference decide on them."""

import math
from dataclasses import dataclass

import numpy as np
from bregalad.compiled import njit
from bregalad.geometry import GAIN_FRACTION, Geometry
from bregalad.policy.decide import KEEP, NO_CELL, PRUNE, RELOCATE, SPLIT, TIE, decide_row, form_of
from bregalad.tree.cells import CellMap
from bregalad.tree.nodes import Nodes
from bregalad.tree.table import LEAF, MULTIWAY, NUMERIC
from bregalad_sim.reference import ReferenceEFDT, ReferenceVFDT
from bregalad_sim.reference.criteria import impurity
from bregalad_sim.reference.learner import Candidate

__all__ = ["UNIT", "Attempt", "Bench", "Reference"]

UNIT = 1 << GAIN_FRACTION


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


@njit(cached=False)
def _decide(words, form, options, table, inherited, gains, evidence, node, classes, t):
    return decide_row(words, form, options, table, inherited, gains, evidence, node, classes, t, options.anytime)


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
        self.current = inner
        nodes.kind[self.node] = LEAF if inner is None else self.cells.kind[self.cells.first_cell[inner]]
        nodes.attribute[self.node] = -1 if inner is None else inner

    def decide(self, attempt, t=1):
        """The policy's answer to an attempt that the instance with number t made due: (decision, attribute, value)."""
        words = attempt.pack(self.geometry, self.cells, self.form.all, self.current)
        nodes = self.nodes
        held = nodes.table, nodes.inherited, nodes.gains, nodes.evidence
        decision, cell, value = _decide(words, self.form, self.policy.options, *held, self.node, self.classes, t)
        if cell == NO_CELL:
            return decision, None, value
        attribute = int(self.cells.attribute[cell])
        assert cell == self.cells.first_cell[attribute]
        return decision, attribute, value

    def decision(self, counts, *gains, t=1):
        """Decision alone, for gains given per instance."""
        return self.decide(Attempt.of(counts, *gains), t)[0]


class _Told:
    """A tree of the reference: its node's candidates are made up, and what would become of the node is told."""

    def candidates(self, node):
        return self.found

    def split(self, node, candidate, margin, tie):
        self.told = (TIE if tie else SPLIT), candidate.attribute

    def _move(self, node, ranked):
        self.told = RELOCATE, node.attribute

    def _prune(self, node):
        self.told = PRUNE, None


class _ToldVFDT(_Told, ReferenceVFDT):
    """VFDT's."""


class _ToldEFDT(_Told, ReferenceEFDT):
    """EFDT's."""


class Reference:
    """The same decisions by the float64 reference; parameters as of `Bench`.

    ``kinds`` are the attributes' splits in the reference's words, ``used`` the attributes above.
    """

    def __init__(self, policy, classes, kinds, inherited, inner, used, depth):
        own = ("variant", "gain_average", "same_attribute") if policy.anytime else ("ties", "adaptive_grace")
        options = {name: getattr(policy, name) for name in ("criterion", "bound", "delta", "tau", "grace", *own)}
        tree = _ToldEFDT if policy.anytime else _ToldVFDT
        self.tree = tree([0] * len(kinds), classes, c=policy.scale, **options)
        self.kinds, self.inherited, self.node = kinds, np.array(inherited, float), self.tree.root
        self.node.height, self.node.used = depth, frozenset(used)
        if inner is not None:
            self.node.kind, self.node.attribute, self.node.threshold = kinds[inner], inner, -1

    def edges(self, counts, t):
        """Gaps between gains that decisions turn at."""
        tree, total = self.tree, self.inherited + counts
        if not total.any():
            return []
        sure = -tree.bound.excess(0.0, tree.facts(self.node, total, t))
        return [0, sure, sure, tree.bound.half_tau(), tree.options.tau]

    def decide(self, attempt, t, wait):
        """(decision, attribute or None, the leaf's next period)."""
        tree, node, observed = self.tree, self.node, np.array(attempt.counts)
        node.inherited, node.observed, node.period, node.wait = self.inherited, observed, tree.options.grace, wait
        tree.event_counts.instances, tree.told = t, (KEEP, None)
        if np.count_nonzero(node.counts) > 1 and observed.any():  # else it is not tried
            shift = np.subtract(*(impurity(tree.options.criterion, counts) for counts in (node.counts, observed)))
            tree.found = [
                Candidate(attribute, self.kinds[attribute], 0, gain / UNIT / observed.sum() + shift, math.inf)
                for attribute, gain in enumerate(attempt.gains)
                if gain is not None and attribute not in node.used
            ]
            if change := tree.attempt(node, node.counts):
                change(node)
        return *tree.told, node.period
