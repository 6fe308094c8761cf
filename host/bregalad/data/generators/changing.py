"""Centres and squares: streams that change all the time, most of them of the sizes that were published."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...options.option import Option, integer, real
from ..schema import Schema
from .base import Block, Generator, Share, classified, model_numbers, numerics, order_numbers

__all__ = ["Chessboard", "InterchangingRBF", "MovingSquares", "RandomRBF"]


@dataclass(eq=False, repr=False)
class RandomRBF(Generator):
    """Instances lie around random centres, each with a class, a weight and a spread.

    An instance's centre is drawn by weight; from there it goes in a random direction, at a distance
    that is normally distributed with the centre's spread. Moving centres are reflected at 0 and 1.

    Parameters
    ----------
    classes, attributes, centres : int
    speed : float
        What a moving centre covers per instance.
    moving : int, optional
        How many centres move; None: all, if there is a speed.
    noise : float
        Probability that a label is another one.
    seed, model_seed : int
        For the instances; for the centres.

    Source: MOA's RandomRBFGenerator (Kirkby, Improving Hoeffding trees, 2007) and, with a speed,
    RandomRBFGeneratorDrift (Bifet et al., New ensemble methods for evolving data streams, KDD
    2009), which stops centres at the border where these are reflected.
    """

    classes: Annotated[int, integer(2)] = 2
    attributes: Annotated[int, integer(1)] = 10
    centres: Annotated[int, integer(1)] = 50
    speed: Annotated[float, real("0 or more", lambda value: value >= 0)] = 0.0
    moving: Annotated[int | None, integer(0)] = None
    noise: Share = 0.0
    model_seed: Annotated[int, integer(0)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        count = self.centres
        moving = count if self.moving is None else self.moving
        Option("moving", integer(0, count)).check(moving)
        rng = model_numbers(self.model_seed)
        self.places = rng.random((count, self.attributes))
        self.labels = rng.integers(0, self.classes, count)
        self.spread = rng.random(count)
        self.weights = rng.random(count)
        velocity = rng.random((count, self.attributes))
        velocity *= self.speed / np.linalg.norm(velocity, axis=1, keepdims=True)
        velocity[moving:] = 0
        self.velocity = velocity if velocity.any() else None
        self._sums = np.cumsum(self.weights)

    def _schema(self):
        return classified(numerics(self.attributes), self.classes)

    def _block(self, rng, first, count, state):
        chosen = np.searchsorted(self._sums, rng.random(count) * self._sums[-1], side="right")
        chosen = np.minimum(chosen, len(self._sums) - 1)  # the product may round up to the sum
        step = rng.random((count, self.attributes))
        step *= 2
        step -= 1
        length = np.sqrt(np.einsum("ij,ij->i", step, step))
        step *= (rng.standard_normal(count) * self.spread[chosen] / length)[:, None]
        step += self.places[chosen] if self.velocity is None else self._moved(chosen, first)
        labels = self._mislabelled(rng, self.labels[chosen], self.noise)
        return Block(step, np.zeros((count, 0), np.uint8), labels)

    def _moved(self, chosen, first):
        """Where the centre of each instance is by then; it turns back at 0 and at 1."""
        time = np.arange(first + 1, first + 1 + len(chosen))[:, None]
        way = np.mod(self.places[chosen] + self.velocity[chosen] * time, 2)
        return np.minimum(way, 2 - way)


class Chessboard(Generator):
    """Squares of a board, one after the other, four at a time; then as many instances of the whole board.

    Both attributes are uniform in 0..1, or in the square that is shown. The class of a square is
    ``column + 2 row`` modulo the number of classes, columns and rows counted from 0. Every square
    that is shown, by ``seed``, is drawn anew. The concept never changes, only what is seen of it.

    Source: the Transient Chessboard (200,000 instances) of Losing, Hammer and Wersing, KNN classifier
    with self adjusting memory for heterogeneous concept drift, ICDM 2016.
    """

    CLASSES = 8
    SIDE = 8  # squares in a row, and rows
    PERIOD = 250  # instances of a square
    SHOWN = 4  # squares, before the whole board is

    def _schema(self):
        return Schema(numerics(2), "class", tuple(map(str, range(self.CLASSES))))

    def _block(self, rng, first, count, state):
        numeric = rng.random((count, 2))
        turn = np.arange(first, first + count) // self.PERIOD
        cycle, place = np.divmod(turn, 2 * self.SHOWN)
        cycles = range(cycle[0], cycle[-1] + 1)
        squares = np.array([order_numbers(self.seed, c).integers(0, self.SIDE, (self.SHOWN, 2)) for c in cycles])
        alone = place < self.SHOWN
        numeric[alone] = (squares[cycle[alone] - cycle[0], place[alone]] + numeric[alone]) / self.SIDE
        column, row = np.minimum((numeric * self.SIDE).astype(np.int64), self.SIDE - 1).T
        return Block(numeric, np.zeros((count, 0), np.uint8), (column + 2 * row) % self.CLASSES)


class MovingSquares(Generator):
    """Squares of side 1 in a row, a gap of 1 between them, that move along the row and back, all together.

    A square is a class; instances are uniform in it, and all are equally frequent. 120 instances later the next square
    begins to cover what this one has covered.

    Source: the Moving Squares (200,000 instances, horizon 120) of Losing, Hammer and Wersing, ICDM 2016, which names
    neither gap nor way.
    """

    CLASSES = 4
    HORIZON = 120
    WAY = 8.0  # how far they move before they turn

    def _schema(self):
        return Schema(numerics(2), "class", tuple(map(str, range(self.CLASSES))))

    def _block(self, rng, first, count, state):
        labels = rng.integers(0, self.CLASSES, count)
        numeric = rng.random((count, 2))
        moved = np.arange(first, first + count) / self.HORIZON % (2 * self.WAY)
        numeric[:, 0] += np.minimum(moved, 2 * self.WAY - moved)
        numeric[:, 0] += 2 * labels
        return Block(numeric, np.zeros((count, 0), np.uint8), labels)


@dataclass(eq=False, repr=False)
class InterchangingRBF(Generator):
    """Normal distributions, a class each, that change places, more and more of them at a time.

    Every 3,000 instances some of the 15 classes change places in a ring: first two, then one more each time, until all
    do. Covariances go with the class, and all classes are equally frequent.

    Parameters
    ----------
    seed, model_seed : int
        For the instances and who changes places; for places and covariances.

    Source: the Interchanging RBF (200,000 instances, 15 classes, period 3,000) of Losing, Hammer and Wersing, ICDM
    2016, which begins with one that moves and does not name the spread.
    """

    CLASSES, ATTRIBUTES = 15, 2
    PERIOD = 3000
    SPREAD = 0.1  # standard deviation along the axes of a class, of places in 0..1, is up to this much

    model_seed: Annotated[int, integer(0)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        rng = model_numbers(self.model_seed)
        self.places = rng.random((self.CLASSES, self.ATTRIBUTES))
        axes = np.linalg.qr(rng.standard_normal((self.CLASSES, self.ATTRIBUTES, self.ATTRIBUTES)))[0]
        self.shapes = axes * (self.SPREAD * rng.random((self.CLASSES, 1, self.ATTRIBUTES)))

    def _schema(self):
        return classified(numerics(self.ATTRIBUTES), self.CLASSES)

    def _start(self):
        return [0, np.arange(self.CLASSES)]  # changes so far, and whose place each class has

    def _block(self, rng, first, count, state):
        labels = rng.integers(0, self.CLASSES, count)
        step = rng.standard_normal((count, self.ATTRIBUTES))
        numeric = np.einsum("nij,nj->ni", self.shapes[labels], step)
        turn = np.arange(first, first + count) // self.PERIOD
        for now in range(turn[0], turn[-1] + 1):
            while state[0] < now:
                state[0] += 1
                ring = order_numbers(self.seed, state[0]).permutation(self.CLASSES)[: state[0] + 1]
                state[1][ring] = state[1][np.roll(ring, 1)]
            here = turn == now
            numeric[here] += self.places[state[1][labels[here]]]
        return Block(numeric, np.zeros((count, 0), np.uint8), labels)
