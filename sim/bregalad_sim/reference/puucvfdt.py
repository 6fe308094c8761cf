"""puuCVFDT of one level. Liang, Zhang, Shi and Hu, Information Sciences 2012: CVFDT by the gains of puuVFDT.

Its alternates are tested by what can be told of errors without negatives: among n unlabelled instances they are, but
for a constant, 2 level n P(predicted negative | labelled) + n P(predicted positive | unlabelled).
"""

from .cvfdt import ReferenceCVFDT
from .puuvfdt import gains_of, share


class ReferencePuuCVFDT(ReferenceCVFDT):
    """Concept-adapting tree of positive (class 1) and unlabelled (class 0) instances.

    ``level`` is PosLevel, the share of positives among the unlabelled; others are as of ``ReferenceCVFDT``.
    """

    def __init__(self, capacities, *, level, **options):
        self.level = level
        super().__init__(capacities, 2, **options)

    @property
    def factor(self):
        """PosLevel |UNL| / |POS| of the window."""
        labelled = sum(label for _, label in self._past)
        return self.level * (len(self._past) - labelled) / max(1, labelled)

    def attempt(self, node, total):
        """All is decided when it takes effect."""

        def decide(node):
            change = super(ReferencePuuCVFDT, self).attempt(node, node.counts)
            if change is not None:
                change(node)

        return decide

    def _worth(self, leaf, label):
        unlabelled, labelled = leaf.counts
        factor = self.factor
        chance = float(share(leaf.counts, factor)) if labelled + unlabelled else self.level
        if label:
            return 2 * factor if chance > 0.5 else 0.0
        return 1.0 if chance <= 0.5 else 0.0

    def _gains(self, node, sides):
        return gains_of(sides, self.factor, node.observed[0])
