"""Squares, a class each, that move to and fro."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..schema import Schema
from .base import Block, Generator, Range, numerics


@dataclass(eq=False, repr=False)
class MovingSquares(Generator):
    """Squares of side 1 in a row, a gap of 1 between them, that move along the row and back, all together.

    A square is a class; instances are uniform in it, and all are equally frequent. ``horizon`` instances later the
    next square begins to cover what this one has covered.

    Parameters
    ----------
    classes : int
    horizon : int
    way : float
        How far they move before they turn, 0 or more.

    Source: the Moving Squares (200,000 instances, horizon 120) of Losing, Hammer and Wersing, KNN classifier with self
    adjusting memory for heterogeneous concept drift, ICDM 2016, which names neither gap nor way.
    """

    classes: Annotated[int, Range(2)] = 4
    horizon: Annotated[int, Range(1)] = 120
    way: Annotated[float, Range(0)] = 8.0

    def _schema(self):
        return Schema(numerics(2), "class", tuple(map(str, range(self.classes))))

    def _block(self, rng, first, count, state):
        labels = rng.integers(0, len(self.schema.classes), count)
        numeric = rng.random((count, 2))
        if self.way:
            moved = np.arange(first, first + count) / self.horizon % (2 * self.way)
            numeric[:, 0] += np.minimum(moved, 2 * self.way - moved)
        numeric[:, 0] += 2 * labels
        return Block(numeric, np.zeros((count, 0), np.uint8), labels)
