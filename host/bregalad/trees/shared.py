"""What the mixins of a tree find in each other, told for type checkers and readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ..boards.base import Board
    from ..data.quantiser import Quantiser
    from ..data.schema import Schema
    from ..geometry import Geometry
    from ..hints import Column, Frame
    from .policy.policy import SplitPolicy
    from .structure.nodes import Nodes
    from .training.tally import Tally
    from .training.trainer import Trainer

__all__ = ["Shared"]


class Shared:
    """Base of the mixins of ``StreamTree``; it holds nothing.

    Attributes
    ----------
    _nodes : Nodes
        The tree.
    _trainer : Trainer or None
        What learns on the board; None while there is none.
    _grows : bool
        Whether a new label makes a new class.
    _checkpoint : dict or None
        The statistics that are to go to the next board.
    """

    board: Board | str
    classes_: np.ndarray
    n_features_in_: int
    schema_: Schema
    _checkpoint: dict[str, Any] | None
    _columns: dict[str, Any] | None
    _grows: bool
    _nodes: Nodes
    _quantiser: Quantiser
    _tally: Tally
    _trainer: Trainer | None

    if TYPE_CHECKING:
        # What the mixins call of each other, each written in one of them.

        @property
        def _board_in_use(self) -> Board | None: ...

        @property
        def leaf_prediction_(self) -> str: ...

        def apply(self, X: Frame) -> np.ndarray: ...

        def predict(self, X: Frame) -> np.ndarray: ...

        def predict_proba(self, X: Frame) -> np.ndarray: ...

        def report(self) -> dict[str, Any]: ...

        def reset(self) -> None: ...

        def check_parameters(self) -> None: ...

        def _check_class_weight(self) -> None: ...

        def _check_ready(self) -> None: ...

        def _check_unchanged(self) -> None: ...

        def _fitted(self) -> None: ...

        def _grown(self) -> None: ...

        @classmethod
        def _get_param_names(cls) -> list[str]: ...

        def _given_geometry(self) -> Geometry | None: ...

        def _learn(self, X: Frame, y: Column, classes: Column | None, weigh: Any) -> Any: ...

        def _open_trainer(self) -> Trainer: ...

        def _policy(self) -> SplitPolicy: ...

        def _prediction_on(self, geometry: Geometry | None) -> str: ...

        def _prepare(self, X: Frame, classes: np.ndarray) -> tuple[Schema, Quantiser]: ...

        def _weights(
            self, labels: np.ndarray, classes: np.ndarray, sample_weight: Column | None, whole: bool = False
        ) -> np.ndarray | None: ...
