"""Cohen's kappa: agreement beyond what chance alone would give."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def kappa(confusion: ArrayLike) -> float:
    """Cohen's kappa of a confusion matrix, NaN where only one class was met and predicted.

    Parameters
    ----------
    confusion : array (classes, classes)
        Counts; a row per class, a column per prediction.

    Source: Cohen, A coefficient of agreement for nominal scales, 1960; for streams Bifet and
    Frank, Sentiment knowledge discovery in Twitter streaming data, 2010.
    """
    confusion = np.asarray(confusion, float)
    total = confusion.sum()
    if not total:
        return math.nan
    chance = float(confusion.sum(axis=0) @ confusion.sum(axis=1)) / total**2
    if math.isclose(chance, 1, abs_tol=1e-15):
        return math.nan
    return (float(np.trace(confusion)) / total - chance) / (1 - chance)
