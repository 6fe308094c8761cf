"""HAT, the Hoeffding adaptive tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..boards.base import Board
    from ..geometry import Geometry
    from ..hints import Label, Nominal

__all__ = ["HAT"]


@declared
class HAT(StreamTree):
    """Hoeffding adaptive tree: where a node's errors grow, an alternate grows beside it.

    Where that is better, it takes the node's place. The errors are looked at with every instance. The leaves of
    alternates take slots, too.

    Source: Bifet and Gavalda, Adaptive learning from evolving data streams, IDA 2009; docs/learners.md.
    """

    _fixed = {"alternates": True, "watched": True}
    feed = "stream"

    def __init__(
        self,
        board: Board | str = "emulated",
        *,
        geometry: Geometry | str | None = None,
        slots: int = 4096,
        delta: float = 1e-7,
        tau: float = 0.05,
        grace: int = 100,
        max_depth: int | None = None,
        block: float | None = None,
        drift_delta: float = 0.02,
        switch_delta: float = 0.05,
        switch_width: int = 50,
        leaf_alternates: bool = True,
        child_counts: str = "inherit",
        zoom: str = "path",
        criterion: str = "information_gain",
        bound: str = "hoeffding",
        leaf_prediction: str | None = None,
        nominal: Nominal = (),
        nominal_split: str = "multiway",
        nominal_values: int = 64,
        class_weight: Mapping[Label, float] | str | None = None,
        review_period: int = 20_000,
        threads: int = 1,
    ) -> None:
        self._keep_parameters(locals())
