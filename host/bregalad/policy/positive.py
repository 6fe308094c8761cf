"""When a node splits, or gets an alternate, whose instances are positive or unlabelled.

What a node's labelled and unlabelled instances say of the unlabelled ones: their share of positives is estimated as
p = min(1, labelled / all labelled * level * all unlabelled / unlabelled), with ``level`` the share in the whole stream.
A gain is that in entropy, sides weighed by their unlabelled instances (POSC4.5).
"""

from dataclasses import dataclass

import numpy as np

from ..compiled import njit
from ..tree.split import Split
from ..tree.table import LEAF, MULTIWAY, NUMERIC
from .bounds import epsilon, measured
from .decide import ALTERNATE, KEEP, MIN_GAIN, NO_CELL, SPLIT, TIE
from .split_policy import SplitPolicy

_SAME = 1e-9  # gains closer than this are equal: of these the first one wins


@njit(inner=True)
def share(labelled, unlabelled, factor):
    """The estimated share of positives among a node's unlabelled instances, by `PositivePolicy.factor`; 0 of none."""
    if labelled == 0:
        return 0.0
    return min(1.0, factor * labelled / unlabelled) if unlabelled else 1.0


@njit()
def shares(labelled, unlabelled, factor):
    """The same of nodes; int arrays (n,) and float array (n,)."""
    found = np.empty(len(labelled))
    for node in range(len(labelled)):
        found[node] = share(labelled[node], unlabelled[node], factor)
    return found


@njit()
def _mixed(labelled, unlabelled, factor):
    """Entropy of the unlabelled instances' classes in bits, times these instances."""
    reach = factor * labelled
    if labelled == 0 or reach >= unlabelled:
        return 0.0
    share = reach / unlabelled
    return -unlabelled * (share * np.log2(share) + (1 - share) * np.log2(1 - share))


@njit()
def best_split(values, kind, positive, factor):
    """The value of an attribute's best split, and its gain times the unlabelled instances; -1: there is none.

    ``values`` and ``kind`` are as for `split.sides_of`, ``positive`` is the labelled instances' class.
    """
    labelled, unlabelled = values[:, positive], values[:, 1 - positive]
    all_labelled, all_unlabelled = labelled.sum(), unlabelled.sum()
    whole = _mixed(all_labelled, all_unlabelled, factor)
    best, most = -1, 0.0
    if kind == MULTIWAY:
        for value in range(len(values)):
            whole -= _mixed(labelled[value], unlabelled[value], factor)
        return 0, whole
    left_labelled = left_unlabelled = 0
    for value in range(len(values) - 1 if kind == NUMERIC else len(values)):
        if kind != NUMERIC:
            left_labelled = left_unlabelled = 0
        left_labelled += labelled[value]
        left_unlabelled += unlabelled[value]
        gain = (
            whole
            - _mixed(left_labelled, left_unlabelled, factor)
            - _mixed(all_labelled - left_labelled, all_unlabelled - left_unlabelled, factor)
        )
        if best < 0 or gain > most + _SAME * max(all_unlabelled, 1):
            best, most = value, gain
    return best, most


@dataclass(frozen=True)
class PositivePolicy(SplitPolicy):
    """Nodes split, and get alternates, by gains that the host works out from all bins.

    ``level`` is the share of positives among the unlabelled instances, ``positive`` which class is the labelled
    instances'; the other one is that of the unlabelled.

    Source: Liang, Zhang, Shi and Hu, Learning very fast decision tree from uncertain data streams with positive and
    unlabeled samples, Information Sciences 2012; docs/learners.md.
    """

    level: float = 0.5
    positive: int = 1

    consults = True

    def factor(self, totals):
        """By what a node's ratio of labelled to unlabelled instances is multiplied; ``totals`` are the stream's."""
        return self.level * float(totals[1 - self.positive]) / max(1, int(totals[self.positive]))

    def consult(self, growth, node, observed, bins, totals):
        """Decide on an attempt: KEEP, of a leaf SPLIT or TIE, of an inner node ALTERNATE; the split's cell and value.

        ``observed`` and ``totals`` are class counts, int64 (classes,), of the node on the board and of the stream;
        ``bins`` a list of int64 arrays (bins, classes), the STATISTICS of all cells.
        """
        cells, nodes, factor = growth.cells, growth.nodes, self.factor(totals)
        unlabelled = int(observed[1 - self.positive])
        ranked = []
        used = {int(nodes.attribute[at]) for at in [*nodes.path(node)][1:] if nodes.kind[at] == MULTIWAY}
        for attribute, cell in enumerate(cells.first_cell.tolist()):
            if attribute in used or not unlabelled:
                continue
            values = cells.values(attribute, [bins[place] for place in cells.cells_of(attribute)])
            value, gain = best_split(values, int(cells.kind[cell]), self.positive, factor)
            if value >= 0:
                ranked.append((gain / unlabelled, cell, value))
        if not ranked:
            return KEEP, NO_CELL, 0
        gains = np.array([gain for gain, _, _ in ranked])
        first = int(np.argmax(gains >= gains.max() - _SAME))
        best, cell, value = ranked.pop(first)
        facts = (
            int((observed + nodes.inherited[node]).sum()),
            2,
            nodes.depth(node),
            growth.event_counts.instances,
            len(cells.first_cell),
        )
        if nodes.kind[node] == LEAF:
            current = max([0.0, *(gain for gain, _, _ in ranked)])
            error = epsilon(self.options, *facts)
            sure = best - current > error
            decision = (SPLIT if sure else TIE) if best >= MIN_GAIN and (sure or error < self.tau) else KEEP
        elif cells.attribute[cell] != nodes.attribute[node]:
            current = sum(gain for gain, other, _ in ranked if cells.attribute[other] == nodes.attribute[node])
            decision = ALTERNATE if self.moved(best - current, *facts) else KEEP
        else:
            split = Split(cells, cell, value, [bins[place] for place in cells.cells_of(int(cells.attribute[cell]))])
            old = growth.current_split(node, split)
            current = best_split(old.sides, MULTIWAY, self.positive, factor)[1] / unlabelled
            moves = self.same_attribute == "replace" and split.kind != MULTIWAY and old.value != value
            decision = ALTERNATE if moves and self.moved(best - current, *facts) else KEEP
        if not decision:
            return KEEP, NO_CELL, 0
        measured(nodes.evidence[node], self.options, facts[0], best, current, *facts[1:])
        return decision, cell, value

    def check(self, classes, nominal, nominal_split):
        """Refuse other classes than two."""
        if classes != 2:
            raise ValueError(
                f"a tree of positive and unlabelled instances takes two labels, the stream has {classes}: give all "
                "that are not known to be positive one and the same"
            )
        super().check(classes, nominal, nominal_split)
