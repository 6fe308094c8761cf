"""Online bagging, and leveraging bagging."""

from ..drift.adwin import new_windows
from ..learners.vfdt import VFDT
from .estimator import Ensemble, declared
from .member import Style
from .votes import first_change

__all__ = ["LeveragingBagging", "OnlineBagging"]


@declared
class OnlineBagging(Ensemble):
    """Trees of which each learns every instance as often as a Poisson number says, and which vote.

    Source: Oza and Russell, Online bagging and boosting, AISTATS 2001; docs/ensembles.md.
    """

    _name = "bagging"

    rate: float = 1.0

    def _default_tree(self):
        return VFDT()

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

    def _begin(self):
        super()._begin()
        self._windows = new_windows(int(self.members))

    @property
    def _all_windows(self):
        return self.__dict__.get("_windows", new_windows(int(self.members)))

    @_all_windows.setter
    def _all_windows(self, windows):
        self._windows = windows

    def _learn_all(self, codes, labels):
        hands = self._hands()
        found, weights = yield from hands.learn(codes, labels, self._seen)
        at = 0
        while True:
            at, worst = first_change(found, labels, at, self._windows, float(self.drift))
            if worst < 0:
                return found, weights
            # It has learnt what comes behind, too: that goes with it.
            found[worst, at:] = yield from hands.replant(worst, at)
