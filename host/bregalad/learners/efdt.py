"""EFDT, the Hoeffding anytime tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..boards.base import Board
    from ..geometry import Geometry
    from ..hints import Label, Nominal

__all__ = ["EFDT"]


@declared
class EFDT(StreamTree):
    """Hoeffding anytime tree: every node keeps statistics on the board and revises its split.

    Every node takes a slot, inner ones too.

    Source: Manapragada, Webb and Salehi, Extremely fast decision tree, KDD 2018;
    docs/learners.md.
    """

    _fixed = {"anytime": True}

    def __init__(
        self,
        board: Board | str = "emulated",
        *,
        geometry: Geometry | str | None = None,
        slots: int = 4096,
        delta: float = 0.05,
        tau: float = 0.05,
        grace: int = 200,
        max_depth: int | None = None,
        block: float | None = None,
        inner_grace: int = 2000,
        variant: str = "paper",
        gain_average: bool = False,
        same_attribute: str = "keep",
        child_counts: str = "inherit",
        zoom: str = "path",
        criterion: str = "information_gain",
        bound: str = "hoeffding",
        leaf_prediction: str | None = None,
        nominal: Nominal = (),
        nominal_split: str = "multiway",
        nominal_values: int = 64,
        class_weight: Mapping[Label, float] | str | None = None,
        feed: str = "stream",
        review_period: int = 20_000,
        threads: int = 1,
    ) -> None:
        self._keep_parameters(locals())
