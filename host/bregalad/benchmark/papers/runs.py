"""Runs of a learner over a stream, and what several of them come to."""

import numpy as np

from ...evaluation import prequential

POINTS = 100  # of a curve


def follow(tree, stream, instances, classes=None):
    """Test, then train; the board is let go of.

    Returns
    -------
    Curve
        Of some 100 points.
    """
    every = max(1, -(-instances // POINTS))
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
