"""Radial basis functions: centres with a class each, standing still, moving, or changing places."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .base import Block, Generator, Range, Share, classified, model_numbers, numerics, order_numbers, reflected


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

    classes: Annotated[int, Range(2)] = 2
    attributes: Annotated[int, Range(1)] = 10
    centres: Annotated[int, Range(1)] = 50
    speed: Annotated[float, Range(0)] = 0.0
    moving: Annotated[int | None, Range(0)] = None
    noise: Share = 0.0
    model_seed: Annotated[int, Range(0)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        count = self.centres
        moving = count if self.moving is None else self.moving
        Range(0, count).check("moving", moving, int)
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
        """Where the centre of each instance is by then."""
        time = np.arange(first + 1, first + 1 + len(chosen))[:, None]
        return reflected(self.places[chosen] + self.velocity[chosen] * time)


@dataclass(eq=False, repr=False)
class InterchangingRBF(Generator):
    """Normal distributions, a class each, that change places, more and more of them at a time.

    Every ``period`` instances some of the classes change places in a ring: first two, then one more each time, until
    all do. Covariances go with the class, and all classes are equally frequent.

    Parameters
    ----------
    classes, attributes : int
    period : int
    spread : float
        Standard deviation along the axes of a class, of places in 0..1, is up to this much.
    seed, model_seed : int
        For the instances and who changes places; for places and covariances.

    Source: the Interchanging RBF (200,000 instances, 15 classes, period 3,000) of Losing, Hammer and Wersing, KNN
    classifier with self adjusting memory for heterogeneous concept drift, ICDM 2016, which begins with one that
    moves and does not name the spread.
    """

    classes: Annotated[int, Range(2)] = 15
    attributes: Annotated[int, Range(1)] = 2
    period: Annotated[int, Range(1)] = 3000
    spread: Annotated[float, Range(0)] = 0.1
    model_seed: Annotated[int, Range(0)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        classes, attributes = self.classes, self.attributes
        rng = model_numbers(self.model_seed)
        self.places = rng.random((classes, attributes))
        axes = np.linalg.qr(rng.standard_normal((classes, attributes, attributes)))[0]
        self.shapes = axes * (self.spread * rng.random((classes, 1, attributes)))

    def _schema(self):
        return classified(numerics(self.attributes), self.classes)

    def _start(self):
        return [0, np.arange(len(self.places))]  # changes so far, and whose place each class has

    def _block(self, rng, first, count, state):
        classes = len(self.places)
        labels = rng.integers(0, classes, count)
        step = rng.standard_normal((count, self.places.shape[1]))
        numeric = np.einsum("nij,nj->ni", self.shapes[labels], step)
        turn = np.arange(first, first + count) // self.period
        for now in range(turn[0], turn[-1] + 1):
            while state[0] < now:
                state[0] += 1
                ring = order_numbers(self.seed, state[0]).permutation(classes)[: state[0] + 1]
                state[1][ring] = state[1][np.roll(ring, 1)]
            here = turn == now
            numeric[here] += self.places[state[1][labels[here]]]
        return Block(numeric, np.zeros((count, 0), np.uint8), labels)
