"""puuVFDT and puuCVFDT: Hoeffding trees of positive and unlabelled instances, of all and of the last ones."""

from ...estimator.parameters import declared
from ...hints import Label
from ...options.table import OPTIONS
from ..hoeffding import CVFDT
from .estimator import PositiveLearner
from .tree import PositiveTree


class StationaryTree(PositiveTree):
    """One of the trees of `PuuVFDT`."""

    _options = tuple(option.name for option in OPTIONS if "puuvfdt" in option.defaults)


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


class AdaptingTree(PositiveTree):
    """One of the trees of `PuuCVFDT`."""

    _options = tuple(option.name for option in OPTIONS if "puucvfdt" in option.defaults)
    _fixed = CVFDT._fixed


@declared
class PuuCVFDT(PositiveLearner):
    """CVFDT of instances of which only some positive ones have a label: what is older than a window is forgotten.

    Nine trees learn side by side, as in `PuuVFDT`. Alternates are tested by what labelled and unlabelled instances say
    of the errors. Boards that hold the tree themselves learn no such trees.

    Source: Liang, Zhang, Shi and Hu, Learning very fast decision tree from uncertain data streams with positive and
    unlabeled samples, Information Sciences 2012; docs/learners.md.
    """

    _kind = AdaptingTree

    positive: Label = 1
    level: float | None = None
    slots: int = 4096
    delta: float = 1e-4
    window: int | None = 10_000
    inner_grace: int = 1000
    same_attribute: str = "replace"
    test_every: int = 1000
    test_length: int = 1000
