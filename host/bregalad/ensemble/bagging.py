"""Online bagging, leveraging bagging, and the adaptive random forest; any learner from a file."""

from typing import Any

from ..drift.adwin import new_windows
from ..estimator.parameters import declared
from ..estimator.saving import storage
from ..hints import Path
from ..learners.catalogue import CLASSICAL, POSITIVE, TREES
from .estimator import Ensemble
from .member import Style
from .options import MEMBER
from .votes import first_change

__all__ = ["ENSEMBLES", "AdaptiveRandomForest", "LeveragingBagging", "OnlineBagging", "load_learner"]


@declared
class OnlineBagging(Ensemble):
    """Trees of which each learns every instance as often as a Poisson number says, and which vote.

    Source: Oza and Russell, Online bagging and boosting, AISTATS 2001; docs/ensembles.md.
    """

    _name = "bagging"

    rate: float = 1.0

    def _style(self):
        return Style(self._template, int(self.seed), float(self.rate))


@declared
class LeveragingBagging(OnlineBagging):
    """Online bagging with more weight, whose worst tree is replaced where ADWIN sees any member err more.

    Source: Bifet, Holmes and Pfahringer, Leveraging bagging for evolving data streams, ECML PKDD 2010;
    docs/ensembles.md.
    """

    _name = "leveraging"

    rate: float = 6.0
    drift: float = 0.002

    @property
    def _watching(self):
        if "_windows" not in self.__dict__:  # it has just begun, or is being loaded
            self._windows = new_windows(int(self.members))
        return [self._windows]

    def _learn_all(self, codes, labels):
        share = self._open_share()
        found, weights = yield from share.learn(codes, labels, self._seen)
        at, windows = 0, self._watching[0]
        while True:
            at, worst = first_change(found, labels, at, windows, float(self.drift))
            if worst < 0:
                return found, weights
            # It has learnt what comes behind, too: that goes with it.
            found[worst, at:] = yield from share.replant(worst, at)


@declared
class AdaptiveRandomForest(Ensemble):
    """Bagged trees that split each node on a few attributes only, and are replaced as the stream drifts.

    Where ADWIN warns that a member errs more, a tree begins to grow in the background; where it is sure, that tree
    takes the member's place. Votes count by accuracy.

    Source: Gomes et al., Adaptive random forests for evolving data stream classification, Machine Learning 106, 2017;
    docs/ensembles.md.
    """

    _name = "arf"
    _usual = MEMBER
    _trees_each = 2  # one in the background

    rate: float = 6.0
    attributes: float = 0.6
    warning: float = 0.01
    drift: float = 0.001
    weighted: bool = True

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


ENSEMBLES = {"bagging": OnlineBagging, "leveraging": LeveragingBagging, "arf": AdaptiveRandomForest}


def load_learner(path: Path, **changes: Any) -> Any:
    """Read a saved tree or ensemble of any class; else as `bregalad.load_tree`."""
    known = TREES | CLASSICAL | POSITIVE | ENSEMBLES
    return storage.load(tuple(known.values()), path, changes)
