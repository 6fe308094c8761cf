"""puuCVFDT: a tree of the last positive and unlabelled instances."""

from ...estimator.parameters import declared
from ...hints import Label
from ...options.table import options_of
from ..cvfdt import CVFDT
from .estimator import PositiveLearner
from .tree import PositiveTree


class AdaptingTree(PositiveTree):
    """One of the trees of `PuuCVFDT`."""

    _options = tuple(option.name for option in options_of("puucvfdt"))
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
