"""Trees for two classes and binary splits: the confidence tree, and what it is compared with."""

from ..words import shown
from .estimator import StreamTree
from .parameters import declared
from .policy.bounds import TWO_CLASSES

__all__ = ["CTree", "CorrHTree"]


@declared
class CTree(StreamTree):
    """Confidence tree: splits by confidence intervals for the split criterion itself.

    Two classes; nominal attributes split one value against the rest.

    Source: De Rosa and Cesa-Bianchi, Splitting with confidence in decision trees with application
    to stream mining, IJCNN 2015; docs/learners.md.
    """

    def __init__(
        self,
        board="emulated",
        *,
        geometry=None,
        slots=1024,
        delta=1e-7,
        tau=0.05,
        grace=100,
        max_depth=None,
        child_counts="inherit",
        zoom="path",
        criterion="gini",
        bound="confidence-practical",
        scale=5e-3,
        leaf_prediction=None,
        nominal=(),
        nominal_split="one_vs_rest",
        nominal_values=64,
        class_weight=None,
        head=500,
        feed="stream",
        review_period=20_000,
        threads=1,
    ):
        self._keep_parameters(locals())

    def _policy(self):
        if not isinstance(self.bound, str) or self.bound not in TWO_CLASSES:
            raise ValueError(
                f"bound must be {' or '.join(map(repr, TWO_CLASSES))}, not {shown(self.bound)}; VFDT takes the others"
            )
        return super()._policy()


@declared
class CorrHTree(StreamTree):
    """Corrected Hoeffding tree: classification error, which Hoeffding's bound does apply to.

    Source: Matuszyk, Krempl and Spiliopoulou, Correcting the usage of the Hoeffding inequality in
    stream mining, IDA 2013; docs/learners.md.
    """

    _fixed = {"criterion": "classification_error"}

    def __init__(
        self,
        board="emulated",
        *,
        geometry=None,
        slots=1024,
        delta=1e-7,
        tau=0.05,
        grace=100,
        max_depth=None,
        child_counts="inherit",
        zoom="path",
        leaf_prediction=None,
        nominal=(),
        nominal_split="one_vs_rest",
        nominal_values=64,
        class_weight=None,
        head=500,
        feed="stream",
        review_period=20_000,
        threads=1,
    ):
        self._keep_parameters(locals())
