"""A board whose squares appear one after the other."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..schema import Schema
from .base import Block, Generator, Range, numerics, order_numbers


@dataclass(eq=False, repr=False)
class Chessboard(Generator):
    """Squares of a board, one after the other, four at a time; then as many instances of the whole board.

    Both attributes are uniform in 0..1, or in the square that is shown. The class of a square is
    ``column + 2 row`` modulo the number of classes, columns and rows counted from 0. Every square
    that is shown is drawn anew. The concept never changes, only what is seen of it.

    Parameters
    ----------
    classes : int
    side : int
        Squares in a row, and rows.
    period : int
        Instances of a square.
    seed : int
        For the squares shown and for the instances.

    Source: the Transient Chessboard (200,000 instances) of Losing, Hammer and Wersing, KNN classifier
    with self adjusting memory for heterogeneous concept drift, ICDM 2016.
    """

    SHOWN = 4  # squares, before the whole board is

    classes: Annotated[int, Range(2)] = 8
    side: Annotated[int, Range(1)] = 8
    period: Annotated[int, Range(1)] = 250

    def _schema(self):
        return Schema(numerics(2), "class", tuple(map(str, range(self.classes))))

    def _block(self, rng, first, count, state):
        numeric = rng.random((count, 2))
        turn = np.arange(first, first + count) // self.period
        cycle, place = np.divmod(turn, 2 * self.SHOWN)
        cycles = range(cycle[0], cycle[-1] + 1)
        squares = np.array([order_numbers(self.seed, c).integers(0, self.side, (self.SHOWN, 2)) for c in cycles])
        alone = place < self.SHOWN
        numeric[alone] = (squares[cycle[alone] - cycle[0], place[alone]] + numeric[alone]) / self.side
        column, row = np.minimum((numeric * self.side).astype(np.int64), self.side - 1).T
        labels = (column + 2 * row) % len(self.schema.classes)
        return Block(numeric, np.zeros((count, 0), np.uint8), labels)
