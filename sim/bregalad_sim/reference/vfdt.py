"""VFDT. Domingos and Hulten, Mining high-speed data streams, KDD 2000, table 1."""

import math

from .learner import MIN_GAIN, SAME, Learner, best_two

WAIT = 3000  # instances before the first tie is broken
GENUINE = 5  # how much further off the worst attribute must be than the second best
LONGEST = 65535  # instances between two attempts


class ReferenceVFDT(Learner):
    """Hoeffding tree.

    Parameters
    ----------
    capacities, classes, ...
        As ``Learner``.
    ties : "ht", "htdt" or "htat"
        Who breaks a tie; Holmes, Kirkby and Pfahringer, Tie-breaking in Hoeffding trees, 2005.
    tie_increment : int
        Instances that children of a broken tie wait longer (htat).
    """

    def __init__(self, capacities, classes, *, ties="ht", tie_increment=500, **options):
        if ties not in ("ht", "htdt", "htat"):
            raise ValueError(f"ties must be one of ht, htdt, htat, not {ties!r}")
        self.ties, self.tie_increment = ties, tie_increment
        super().__init__(capacities, classes, **options)
        self.root.wait = WAIT

    def attempt(self, node, total):
        """Split a leaf on Xa if the bound allows it, or a tie is broken."""
        candidates = self.candidates(node)
        if not candidates:
            return None
        Xa, *others = best_two(candidates)
        runner_up = others[0].gain if others else -math.inf
        gap = Xa.gain - max(runner_up, 0.0)
        attempt = self.facts(node, total)
        sure = self.bound.sure(gap, attempt)
        breaks = self.breaks_tie(node, attempt)
        genuine = self.genuine(candidates, Xa.gain, runner_up)
        tie = not sure and breaks and genuine > 0
        # How far off the other outcome is: the bound, and where it could break a tie, its worth.
        margin = abs(self.bound.excess(gap, attempt))
        if breaks:
            margin = min(margin, abs(genuine))
        if Xa.gain >= MIN_GAIN and (sure or tie):
            lead = Xa.gain - runner_up
            margin = min(margin, Xa.gain, Xa.lead, lead if lead > SAME else math.inf)
            self.decide("split", margin)
            return lambda node: self._split(node, Xa, margin, tie)
        self.decide("keep", MIN_GAIN - Xa.gain if tie else margin)
        if self.options.adaptive_grace:
            node.period = self.next_period(gap, total.sum())
        return None

    def breaks_tie(self, node, attempt):
        """Whether a leaf may split although its gap is too small."""
        if self.ties == "htat":
            return node.observed.sum() >= node.wait
        return self.bound.tied(attempt)

    def genuine(self, candidates, Ga, Gb):
        """How genuine a tie is: positive if the two best are close beside the worst (htdt)."""
        if self.ties != "htdt":
            return math.inf
        if len(candidates) < 2:
            return -math.inf
        Gc = min(candidate.gain for candidate in candidates)
        # A gain's error weighs six times that in the gap.
        return (Gb - Gc - GENUINE * (Ga - Gb)) / (GENUINE + 1)

    def next_period(self, gap, n):
        """Instances until the bound can be below the gap. Garcia-Martin et al., VFDT-nmin, 2021."""
        least = max(gap, self.options.tau)
        if least <= 0:
            return LONGEST
        enough = math.ceil(self.R**2 * math.log(1 / self.options.delta) / (2 * least**2))
        return min(max(math.ceil(enough - n), self.options.grace), LONGEST)

    def _split(self, node, candidate, margin, tie):
        self.event_counts.splits += 1
        self.split(node, candidate, margin, tie)
        for child in node.children:
            child.wait = node.wait + self.tie_increment if tie else WAIT
        node.forget()
