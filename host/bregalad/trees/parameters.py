"""The parameters of a tree: what they describe, and which are refused."""

from dataclasses import fields

import numpy as np

from ..boards import check_name
from ..boards.base import Board
from ..geometry import MOST_CLASSES, Geometry
from .policy.policy import SplitPolicy
from .requirements import check_abilities, check_classes, check_prediction
from .structure.cells import CellMap, check_cells
from .training.feed import FEEDS

__all__ = ["Parameters"]


class Parameters:
    """Mixin of ``StreamTree``: its constructor's arguments."""

    _fixed: dict = {}  # of ``SplitPolicy``: what a class does not leave open, and not as by default

    def _keep_parameters(self, given):
        """Store the constructor's arguments, as scikit-learn wants them: under their names."""
        for name in self._get_param_names():
            setattr(self, name, given[name])

    def _decisive(self):
        """Those parameters, with their values, that a tree keeps from its first instance on."""
        names = {field.name for field in fields(SplitPolicy)} | {"leaf_prediction", "nominal_split"}
        return {name: getattr(self, name) for name in self._get_param_names() if name in names}

    def _check_unchanged(self):
        """Refuse with a ValueError what was changed (``set_params``) since the first instance."""
        for name, value in getattr(self, "_made_with", {}).items():
            if (now := getattr(self, name)) != value:
                raise ValueError(f"{name} was {value!r} when this tree began to learn, and is "
                                 f"{now!r} now: that takes effect with fit or reset; set it back "
                                 "to go on with this tree")

    def _policy(self):
        """The split policy that the parameters describe; refuses wrong ones."""
        names = {field.name for field in fields(SplitPolicy)} & set(self._get_param_names())
        return SplitPolicy(**{name: getattr(self, name) for name in names}, **self._fixed)

    def check_parameters(self):
        """Refuse wrong parameters with a ValueError or TypeError, before any data are read."""
        policy = self._policy()
        CellMap.build([], 16, self.nominal_split)
        geometry = self._given_geometry()
        if geometry is not None:
            check_abilities(geometry, policy, self._prediction_on(geometry))
        if self.leaf_prediction is not None:
            check_prediction(self.leaf_prediction)
        self._check_class_weight()
        if isinstance(self.board, str):
            check_name(self.board)
        if self.feed not in FEEDS:
            raise ValueError(f"feed must be 'stream' or 'memory', not {self.feed!r}")
        for name, low, high in (("nominal_values", 2, 255), ("head", 1, None),
                                ("review_period", 1, None), ("slots", 2, 32768),
                                ("threads", 1, 256)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool):
                raise TypeError(f"{name} must be an integer, not {value!r}")
            if value < low or (high is not None and value > high):
                allowed = f"{low} or more" if high is None else f"{low} to {high}"
                raise ValueError(f"{name} must be {allowed}, not {value}")

    def _check_size(self, capacities, classes):
        """Refuse a stream that the board, or any board, is too small for."""
        geometry = self._given_geometry() or Geometry(classes=MOST_CLASSES, lanes=1024, passes=31)
        check_classes(geometry, classes)
        check_cells(geometry, len(CellMap.build(capacities, geometry.bins, self.nominal_split)))

    def _given_geometry(self):
        """The open board's geometry, or the one that is given; None if neither is."""
        if isinstance(self.board, Board):
            return self.board.geometry
        return None if self.geometry is None else Geometry.of(self.geometry)
