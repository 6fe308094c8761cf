"""A cluster per class, all of them moving."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .base import Block, Generator, Range, classified, model_numbers, numerics, reflected


@dataclass(eq=False, repr=False)
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

    Source: after the keystroke stream (four users, 1,600 x 10) of Souza et al., Data stream classification
    guided by clustering on nonstationary environments and extreme verification latency, SDM 2015.
    """

    classes: Annotated[int, Range(2)] = 4
    attributes: Annotated[int, Range(1)] = 10
    spread: Annotated[float, Range(0)] = 0.22
    speed: Annotated[float, Range(0)] = 0.0005
    model_seed: Annotated[int, Range(0)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        rng = model_numbers(self.model_seed)
        self.means = rng.random((self.classes, self.attributes))
        direction = rng.standard_normal((self.classes, self.attributes))
        self.velocity = direction * self.speed / np.linalg.norm(direction, axis=1, keepdims=True)

    def _schema(self):
        return classified(numerics(self.attributes), self.classes)

    def _block(self, rng, first, count, state):
        labels = rng.integers(0, len(self.means), count)
        numeric = rng.standard_normal((count, self.means.shape[1])) * self.spread
        time = np.arange(first, first + count)[:, None]
        numeric += reflected(self.means[labels] + self.velocity[labels] * time)
        return Block(10**numeric, np.zeros((count, 0), np.uint8), labels)
