"""The ensembles by name, and any learner from a file."""

from typing import Any

from ..estimator.saving import storage
from ..hints import Path
from ..learners.catalogue import CLASSICAL, POSITIVE, TREES
from .bagging import AdaptiveRandomForest, LeveragingBagging, OnlineBagging

__all__ = ["ENSEMBLES", "load_learner"]

ENSEMBLES = {"bagging": OnlineBagging, "leveraging": LeveragingBagging, "arf": AdaptiveRandomForest}


def load_learner(path: Path, **changes: Any) -> Any:
    """Read a saved tree or ensemble of any class; ``changes`` replace its parameters.

    Raises
    ------
    ValueError
        If the file is none of this version's, or damaged.
    """
    known = TREES | CLASSICAL | POSITIVE | ENSEMBLES
    return storage.load(tuple(known.values()), path, changes)
