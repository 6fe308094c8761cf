"""puuVFDT: a Hoeffding tree of positive and unlabelled instances."""

from ...estimator.parameters import declared
from ...hints import Label
from ...options.table import options_of
from .estimator import PositiveLearner
from .tree import PositiveTree


class StationaryTree(PositiveTree):
    """One of the trees of `PuuVFDT`."""

    _options = tuple(option.name for option in options_of("puuvfdt"))


@declared
class PuuVFDT(PositiveLearner):
    """Hoeffding tree of instances of which only some positive ones have a label.

    How many of the unlabelled instances are positive is mostly not known. So nine trees learn side by side, each on a
    board of its own, and the one whose estimated merit is the highest predicts.

    Source: Liang, Zhang, Shi and Hu, Learning very fast decision tree from uncertain data streams with positive and
    unlabeled samples, Information Sciences 2012; docs/learners.md.
    """

    _kind = StationaryTree

    positive: Label = 1
    level: float | None = None
