"""A cluster per class, all of them moving."""

from __future__ import annotations

import numpy as np

from ..schema import Schema
from .base import Block, Generator, check_integer, check_number, model_numbers, numerics, reflected

__all__ = ["Clusters"]


class Clusters(Generator):
    """The decimal logarithms of a class's instances are normally distributed around its mean, which moves steadily.

    The means begin anywhere in 0..1, go in a random direction each and are reflected at 0 and 1. All
    classes are equally frequent. Times between keystrokes are so distributed.

    Parameters
    ----------
    classes, attributes : int
    spread : float
        Standard deviation of every attribute's logarithm.
    speed : float
        What a mean covers per instance.
    seed, model_seed : int
        For the instances; for the means and their directions.
    instances, chunk
        As in `Generator`.

    Source: after the keystroke stream (four users, 1,600 x 10) of Souza et al., Data stream classification
    guided by clustering on nonstationary environments and extreme verification latency, SDM 2015.
    """

    def __init__(
        self,
        classes: int = 4,
        attributes: int = 10,
        spread: float = 0.22,
        speed: float = 0.0005,
        seed: int = 1,
        model_seed: int = 1,
        instances: int | None = None,
        chunk: int = 65_536,
    ) -> None:
        check_integer("classes", classes, 2)
        check_integer("attributes", attributes, 1)
        check_number("spread", spread, 0, None)
        check_number("speed", speed, 0, None)
        super().__init__(
            Schema(numerics(attributes), "class", tuple(f"c{i + 1}" for i in range(classes))),
            seed=seed,
            instances=instances,
            chunk=chunk,
        )
        self.spread = spread
        rng = model_numbers(model_seed)
        self.means = rng.random((classes, attributes))
        direction = rng.standard_normal((classes, attributes))
        self.velocity = direction * speed / np.linalg.norm(direction, axis=1, keepdims=True)

    def _block(self, rng, first, count, state):
        labels = rng.integers(0, len(self.means), count)
        numeric = rng.standard_normal((count, self.means.shape[1])) * self.spread
        time = np.arange(first, first + count)[:, None]
        numeric += reflected(self.means[labels] + self.velocity[labels] * time)
        return Block(10**numeric, np.zeros((count, 0), np.uint8), labels)
