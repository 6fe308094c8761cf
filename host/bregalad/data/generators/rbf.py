"""Radial basis functions: centres with a class each, standing still or moving."""

from __future__ import annotations

import numpy as np

from ..schema import Schema
from .base import Block, Generator, check_integer, check_number, model_numbers, numerics, reflected

__all__ = ["RandomRBF"]


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
    instances, chunk
        As in `Generator`.

    Source: MOA's RandomRBFGenerator (Kirkby, Improving Hoeffding trees, 2007) and, with a speed,
    RandomRBFGeneratorDrift (Bifet et al., New ensemble methods for evolving data streams, KDD
    2009), which stops centres at the border where these are reflected.
    """

    def __init__(
        self,
        classes: int = 2,
        attributes: int = 10,
        centres: int = 50,
        speed: float = 0.0,
        moving: int | None = None,
        noise: float = 0.0,
        seed: int = 1,
        model_seed: int = 1,
        instances: int | None = None,
        chunk: int = 65_536,
    ) -> None:
        check_integer("classes", classes, 2)
        check_integer("attributes", attributes, 1)
        check_integer("centres", centres, 1)
        check_number("speed", speed, 0, None)
        if moving is not None:
            check_integer("moving", moving, 0, centres)
        check_number("noise", noise)
        super().__init__(
            Schema(numerics(attributes), "class", tuple(f"c{i + 1}" for i in range(classes))),
            seed=seed,
            instances=instances,
            chunk=chunk,
        )
        self.noise = noise
        rng = model_numbers(model_seed)
        self.centres = rng.random((centres, attributes))
        self.labels = rng.integers(0, classes, centres)
        self.spread = rng.random(centres)
        self.weights = rng.random(centres)
        velocity = rng.random((centres, attributes))
        velocity *= speed / np.linalg.norm(velocity, axis=1, keepdims=True)
        velocity[centres if moving is None else moving :] = 0
        self.velocity = velocity if velocity.any() else None
        self._sums = np.cumsum(self.weights)

    def _block(self, rng, first, count, state):
        chosen = np.searchsorted(self._sums, rng.random(count) * self._sums[-1], side="right")
        chosen = np.minimum(chosen, len(self._sums) - 1)  # the product may round up to the sum
        step = rng.random((count, self.centres.shape[1]))
        step *= 2
        step -= 1
        length = np.sqrt(np.einsum("ij,ij->i", step, step))
        step *= (rng.standard_normal(count) * self.spread[chosen] / length)[:, None]
        step += self.centres[chosen] if self.velocity is None else self._moved(chosen, first)
        labels = self._mislabelled(rng, self.labels[chosen], self.noise)
        return Block(step, np.zeros((count, 0), np.uint8), labels)

    def _moved(self, chosen, first):
        """Where the centre of each instance is by then."""
        time = np.arange(first + 1, first + 1 + len(chosen))[:, None]
        return reflected(self.centres[chosen] + self.velocity[chosen] * time)
