"""EFHAT, the extremely fast Hoeffding adaptive tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..boards.base import Board
    from ..geometry import Geometry
    from ..hints import Label, Nominal

__all__ = ["EFHAT"]


@declared
class EFHAT(StreamTree):
    """Hoeffding anytime tree whose nodes' errors are watched as HAT's are: alternates grow where they rise.

    A leaf splits as soon as a split is better than none, and inner nodes go on revising theirs. Every node takes a
    slot, inner ones and those of alternates, too.

    Source: Manapragada, Salehi and Webb, Extremely fast Hoeffding adaptive tree, ICDM 2022; docs/learners.md.
    """

    _fixed = {"anytime": True, "alternates": True, "watched": True}
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
        inner_grace: int = 2000,
        same_attribute: str = "keep",
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
