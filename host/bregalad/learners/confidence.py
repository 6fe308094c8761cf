"""Trees for two classes and binary splits: the confidence tree, and what it is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree
from ..policy.bounds import TWO_CLASSES
from ..words import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..boards.base import Board
    from ..geometry import Geometry
    from ..hints import Label, Nominal

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
        board: Board | str = "emulated",
        *,
        geometry: Geometry | str | None = None,
        slots: int = 1024,
        delta: float = 1e-7,
        tau: float = 0.05,
        grace: int = 100,
        max_depth: int | None = None,
        block: float | None = None,
        child_counts: str = "inherit",
        zoom: str = "path",
        criterion: str = "gini",
        bound: str = "confidence-practical",
        scale: float = 5e-3,
        leaf_prediction: str | None = None,
        nominal: Nominal = (),
        nominal_split: str = "one_vs_rest",
        nominal_values: int = 64,
        class_weight: Mapping[Label, float] | str | None = None,
        feed: str = "stream",
        review_period: int = 20_000,
        threads: int = 1,
    ) -> None:
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
        board: Board | str = "emulated",
        *,
        geometry: Geometry | str | None = None,
        slots: int = 1024,
        delta: float = 1e-7,
        tau: float = 0.05,
        grace: int = 100,
        max_depth: int | None = None,
        block: float | None = None,
        child_counts: str = "inherit",
        zoom: str = "path",
        leaf_prediction: str | None = None,
        nominal: Nominal = (),
        nominal_split: str = "one_vs_rest",
        nominal_values: int = 64,
        class_weight: Mapping[Label, float] | str | None = None,
        feed: str = "stream",
        review_period: int = 20_000,
        threads: int = 1,
    ) -> None:
        self._keep_parameters(locals())
