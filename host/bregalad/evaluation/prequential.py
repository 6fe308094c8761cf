"""Test, then train: the loop that makes a curve."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..building import build_seconds
from ..compiled import compile_seconds
from ..data.frames import as_pandas, as_series
from ..data.parts import rows_of
from ..estimator.inputs import named_classes
from .curve import Curve

if TYPE_CHECKING:
    from ..active import Strategy
    from ..estimator.tree import StreamTree
    from ..hints import Column, Frame

__all__ = ["POINT", "prequential"]

POINT = 2000  # instances between points of a curve


def prequential(
    tree: StreamTree | Strategy,
    chunks: Iterable[tuple[Frame, Column]],
    classes: Column,
    *,
    curve: Curve | None = None,
    every: int = POINT,
    limit: int | None = None,
    progress: Callable[[int, Curve], object] | None = None,
) -> Curve:
    """Test, then train ``tree`` on a stream.

    Parameters
    ----------
    tree : StreamTree or Strategy
    chunks : iterable of (X, y)
    classes : sequence
        All labels.
    curve : Curve, optional
        Points are added to it; so an interrupted run's are not lost.
    every : int
        Instances between points of the curve; there is one at the end, too, whatever ends it.
    limit : int, optional
        Instances to stop after.
    progress : callable, optional
        Called with (instances, curve) after every point.

    Returns
    -------
    Curve
    """
    curve = Curve() if curve is None else curve
    index = pd.Index(named_classes(classes).astype(object))
    seen, nothing = 0, np.zeros((len(index), len(index)), np.intp)
    confusion, seconds, since = nothing, 0.0, 0  # since the last point
    try:
        for X, y in chunks:
            X, y = as_pandas(X), np.asarray(as_series(y))
            start, end = 0, len(y) if limit is None else min(len(y), limit - seen)
            while start < end:
                count = min(every - since, end - start)
                take = slice(start, start + count)
                labels, part = y[take], rows_of(X, take)
                began = _clock()
                predicted = tree.test_then_train(part, labels, classes)
                seconds += _clock() - began
                row, column = (index.get_indexer(np.asarray(each).astype(object)) for each in (labels, predicted))
                cells = np.bincount(row * len(index) + column, minlength=len(index) ** 2)
                confusion = confusion + cells.reshape(len(index), -1)
                start, seen, since = start + count, seen + count, since + count
                if since == every:
                    curve.add(confusion, tree.report(), seconds, _memory())
                    confusion, seconds, since = nothing, 0.0, 0  # first: progress may be interrupted
                    if progress is not None:
                        progress(every, curve)
            if seen == limit:
                return curve  # a slow stream is not asked for what is not wanted
    finally:
        if since:
            curve.add(confusion, tree.report(), seconds, _memory())
            if progress is not None:
                progress(since, curve)
    return curve


def _clock():
    """Seconds from some time on, without those that were spent on compiling, or building a board's model."""
    return time.perf_counter() - compile_seconds() - build_seconds()


def _memory():
    """The most memory that this process has held, in MB; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
