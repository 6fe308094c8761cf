"""Squares, a class each, that move to and fro."""

from __future__ import annotations

import numpy as np

from ..schema import Schema
from .base import Block, Generator, check_integer, check_number, numerics

__all__ = ["MovingSquares"]


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
    seed : int
    instances, chunk
        As in `Generator`.

    Source: the Moving Squares (200,000 instances, horizon 120) of Losing, Hammer and Wersing, KNN classifier with self
    adjusting memory for heterogeneous concept drift, ICDM 2016, which names neither gap nor way.
    """

    def __init__(
        self,
        classes: int = 4,
        horizon: int = 120,
        way: float = 8.0,
        seed: int = 1,
        instances: int | None = None,
        chunk: int = 65_536,
    ) -> None:
        check_integer("classes", classes, 2)
        check_integer("horizon", horizon, 1)
        check_number("way", way, 0, None)
        super().__init__(
            Schema(numerics(2), "class", tuple(map(str, range(classes)))), seed=seed, instances=instances, chunk=chunk
        )
        self.horizon = horizon
        self.way = way

    def _block(self, rng, first, count, state):
        labels = rng.integers(0, len(self.schema.classes), count)
        numeric = rng.random((count, 2))
        if self.way:
            moved = np.arange(first, first + count) / self.horizon % (2 * self.way)
            numeric[:, 0] += np.minimum(moved, 2 * self.way - moved)
        numeric[:, 0] += 2 * labels
        return Block(numeric, np.zeros((count, 0), np.uint8), labels)
