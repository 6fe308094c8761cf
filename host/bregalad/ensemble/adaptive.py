"""The adaptive random forest."""

from ..learners.vfdt import VFDT
from .estimator import Ensemble, declared
from .member import Style
from .options import MEMBER

__all__ = ["AdaptiveRandomForest"]


@declared
class AdaptiveRandomForest(Ensemble):
    """Bagged trees that split each node on a few attributes only, and are replaced as the stream drifts.

    Where ADWIN warns that a member errs more, a tree begins to grow in the background; where it is sure, that tree
    takes the member's place. Votes count by accuracy.

    Source: Gomes et al., Adaptive random forests for evolving data stream classification, Machine Learning 106, 2017;
    docs/ensembles.md.
    """

    _name = "arf"
    _trees_each = 2  # one in the background

    rate: float = 6.0
    attributes: float = 0.6
    warning: float = 0.01
    drift: float = 0.001
    weighted: bool = True

    def _default_tree(self):
        return VFDT(**MEMBER)

    def _style(self):
        width = self.n_features_in_
        return Style(
            self._template,
            int(self.seed),
            float(self.rate),
            subset=min(width, max(1, round(float(self.attributes) * width))),
            deltas=(float(self.warning), float(self.drift)),
            weighted=bool(self.weighted),
        )
