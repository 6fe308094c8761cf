"""CVFDT, the concept-adapting very fast decision tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..boards.base import Board
    from ..geometry import Geometry
    from ..hints import Label, Nominal

__all__ = ["CVFDT"]


@declared
class CVFDT(StreamTree):
    """Hoeffding tree of the last instances: what is older than a window is forgotten at every node that has counted it.

    Where an inner node's attribute is no longer the best, an alternate grows beside it, and takes its place once it
    is more accurate. Every node takes a slot, inner ones and those of alternates, too.

    Source: Hulten, Spencer and Domingos, Mining time-changing data streams, KDD 2001; docs/learners.md.
    """

    _fixed = {"anytime": True, "alternates": True, "rivals": True}
    feed = "stream"

    def __init__(
        self,
        board: Board | str = "emulated",
        *,
        geometry: Geometry | str | None = None,
        slots: int = 4096,
        delta: float = 1e-4,
        tau: float = 0.05,
        grace: int = 200,
        max_depth: int | None = None,
        block: float | None = None,
        window: int | None = 10_000,
        inner_grace: int = 1000,
        same_attribute: str = "replace",
        test_every: int = 1000,
        test_length: int = 300,
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
