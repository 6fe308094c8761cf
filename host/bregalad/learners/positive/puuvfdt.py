"""puuVFDT: a Hoeffding tree of positive and unlabelled instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...estimator.parameters import declared
from ...options.table import options_of
from .estimator import PositiveLearner
from .tree import PositiveTree

if TYPE_CHECKING:
    from ...boards.base import Board
    from ...geometry import Geometry
    from ...hints import Label, Nominal

__all__ = ["PuuVFDT", "StationaryTree"]


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

    def __init__(
        self,
        board: Board | str = "emulated",
        *,
        positive: Label = 1,
        level: float | None = None,
        geometry: Geometry | str | None = None,
        slots: int = 1024,
        delta: float = 1e-7,
        tau: float = 0.05,
        grace: int = 200,
        max_depth: int | None = None,
        block: float | None = None,
        child_counts: str = "inherit",
        zoom: str = "path",
        nominal: Nominal = (),
        nominal_split: str = "multiway",
        nominal_values: int = 64,
        feed: str = "stream",
        review_period: int = 20_000,
        threads: int = 1,
    ) -> None:
        self._keep_parameters(locals())
