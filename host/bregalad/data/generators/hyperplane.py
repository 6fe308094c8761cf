"""Two classes, divided by a hyperplane that turns."""

from __future__ import annotations

import numpy as np

from ..schema import Schema
from .base import Block, Generator, check_integer, check_number, model_numbers, numerics

__all__ = ["Hyperplane"]


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
    instances, chunk
        As in `Generator`.

    Source: Hulten, Spencer and Domingos, Mining time-changing data streams, KDD 2001, in the form
    of MOA's HyperplaneGenerator.
    """

    def __init__(
        self,
        attributes: int = 10,
        drifting: int = 2,
        change: float = 0.0,
        reversal: float = 0.1,
        noise: float = 0.05,
        seed: int = 1,
        model_seed: int = 1,
        instances: int | None = None,
        chunk: int = 65_536,
    ) -> None:
        check_integer("attributes", attributes, 1)
        check_integer("drifting", drifting, 0, attributes)
        check_number("change", change)
        check_number("reversal", reversal)
        check_number("noise", noise)
        super().__init__(Schema(numerics(attributes), "class", ("0", "1")), seed=seed, instances=instances, chunk=chunk)
        self.drifting = drifting
        self.change = change
        self.reversal = reversal
        self.noise = noise
        self.weights = model_numbers(model_seed).random(attributes)

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
