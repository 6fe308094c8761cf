"""Trees for two classes and binary splits: the confidence tree, and what it is compared with."""

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree
from ..policy.bounds import TWO_CLASSES
from ..words import shown


@declared
class CTree(StreamTree):
    """Confidence tree: splits by confidence intervals for the split criterion itself.

    Two classes; nominal attributes split one value against the rest.

    Source: De Rosa and Cesa-Bianchi, Splitting with confidence in decision trees with application
    to stream mining, IJCNN 2015; docs/learners.md.
    """

    grace: int = 100
    criterion: str = "gini"
    bound: str = "confidence-practical"
    scale: float = 5e-3
    nominal_split: str = "one_vs_rest"

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

    grace: int = 100
    nominal_split: str = "one_vs_rest"
