"""The ensembles by name, and any learner from a file."""

from typing import Any

from ..estimator.saving import storage
from ..hints import Path
from ..learners.catalogue import CLASSICAL, POSITIVE, TREES
from .bagging import AdaptiveRandomForest, LeveragingBagging, OnlineBagging

__all__ = ["ENSEMBLES", "load_learner"]

ENSEMBLES = {"bagging": OnlineBagging, "leveraging": LeveragingBagging, "arf": AdaptiveRandomForest}


def load_learner(path: Path, **changes: Any) -> Any:
    """Read a saved tree or ensemble of any class; else as `bregalad.load_tree`."""
    known = TREES | CLASSICAL | POSITIVE | ENSEMBLES
    return storage.load(tuple(known.values()), path, changes)
