"""Runs of a learner over a stream, and what several of them come to."""

import numpy as np

from ...boards import BoardError, open_board
from ...criteria import CRITERIA
from ...evaluation import prequential
from ...geometry import Geometry

__all__ = ["computes", "follow", "mean_curve", "spread"]

POINTS = 100  # of a curve


def computes(board, criterion):
    """Whether a board can be had whose gain units compute a criterion."""
    if criterion not in CRITERIA:
        return False
    try:
        with open_board(board, Geometry(lanes=1, passes=1, slots=2, criterion=criterion)) as opened:
            return opened.geometry.criterion == criterion
    except (BoardError, ValueError):
        return False


def follow(tree, stream, instances, classes=None, every=None):
    """Test, then train; the board is let go of.

    Returns
    -------
    Curve
        Of a point ``every`` so many instances, by default of some 100 points.
    """
    every = every or max(1, -(-instances // POINTS))
    try:
        return prequential(tree, stream, classes or list(stream.schema.classes), every=every, limit=instances)
    finally:
        tree.close()


def mean_curve(curves):
    """Instances and mean error since the last point, over curves with the same points."""
    errors = 1 - np.mean([curve.recent for curve in curves], axis=0)
    return np.array(curves[0].instances), errors


def spread(values, digits=4):
    """Mean and, of several, standard deviation as text."""
    values = np.asarray(list(values), float)
    text = f"{values.mean():.{digits}f}"
    return text if len(values) < 2 else f"{text} ± {values.std(ddof=1):.{digits}f}"
