"""Radial basis functions: centres with a class each, standing still, moving, or changing places."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .base import Block, Generator, Range, Share, classified, model_numbers, numerics, reflected


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
