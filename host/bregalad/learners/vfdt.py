"""VFDT, the Hoeffding tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..boards.base import Board
    from ..geometry import Geometry
    from ..hints import Label, Nominal

__all__ = ["VFDT"]


@declared
class VFDT(StreamTree):
    """Hoeffding tree whose statistics and gains are computed by a board.

    Examples
    --------
    >>> import numpy as np
    >>> from bregalad import VFDT
    >>> rng = np.random.default_rng(1)
    >>> X = rng.random((5000, 2))
    >>> y = X[:, 0] > 0.5
    >>> VFDT().fit(X, y).score(X, y) > 0.95
    True

    Source: Domingos and Hulten, Mining high-speed data streams, KDD 2000; docs/learners.md.
    """

    def __init__(
        self,
        board: Board | str = "emulated",
        *,
        geometry: Geometry | str | None = None,
        slots: int = 1024,
        delta: float = 1e-7,
        tau: float = 0.05,
        grace: int = 200,
        max_depth: int | None = None,
        block: float | None = None,
        child_counts: str = "inherit",
        zoom: str = "path",
        criterion: str = "information_gain",
        bound: str = "hoeffding",
        scale: float = 5e-3,
        ties: str = "ht",
        tie_increment: int = 500,
        adaptive_grace: bool = False,
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
