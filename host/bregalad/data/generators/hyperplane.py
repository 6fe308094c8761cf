"""Two classes, divided by a hyperplane that turns."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..schema import Schema
from .base import Block, Generator, Range, Share, model_numbers, numerics


@dataclass(eq=False, repr=False)
class Hyperplane(Generator):
    """Class 1 if the weighted sum of the attributes is at least half the sum of all weights.

    Parameters
    ----------
    attributes : int
        Uniform in 0..1.
    drifting : int
        Attributes, from the first, whose weights change.
    change : float
        What such a weight gains or loses with each instance.
    reversal : float
        Probability, after each instance, that a weight changes direction.
    noise : float
        Probability that a label is the other one.
    seed, model_seed : int
        For the instances and the changes of direction; for the first weights.

    Source: Hulten, Spencer and Domingos, Mining time-changing data streams, KDD 2001, in the form
    of MOA's HyperplaneGenerator.
    """

    attributes: Annotated[int, Range(1)] = 10
    drifting: Annotated[int, Range(0)] = 2
    change: Share = 0.0
    reversal: Share = 0.1
    noise: Share = 0.05
    model_seed: Annotated[int, Range(0)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        Range(0, self.attributes).check("drifting", self.drifting, int)
        self.weights = model_numbers(self.model_seed).random(self.attributes)

    def _schema(self):
        return Schema(numerics(self.attributes), "class", ("0", "1"))

    def _start(self):
        return {"weights": self.weights.copy(), "direction": np.ones(self.drifting)}

    def _block(self, rng, first, count, state):
        numeric = rng.random((count, len(self.weights)))
        moving, weights = self.drifting, state["weights"]
        turns = np.where(rng.random((count, moving)) < self.reversal, -1.0, 1.0)
        # What a weight gains after an instance has the direction before that instance's turn.
        directions = np.cumprod(np.vstack((state["direction"], turns)), axis=0)
        path = weights[:moving] + self.change * np.vstack((np.zeros(moving), np.cumsum(directions[:-1], axis=0)))
        # The sum less half the sum of the weights.
        side = np.einsum("ij,ij->i", numeric[:, :moving] - 0.5, path[:-1])
        side += (numeric[:, moving:] - 0.5) @ weights[moving:]
        labels = (side >= 0).astype(np.int64)
        weights[:moving] = path[-1]
        state["direction"] = directions[-1]
        return Block(numeric, np.zeros((count, 0), np.uint8), self._mislabelled(rng, labels, self.noise))
