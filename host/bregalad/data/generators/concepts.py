"""Small concepts: SEA and STAGGER change abruptly, a poisoned head ends abruptly."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..schema import Attribute, Schema
from .base import Block, Generator, Range, Share, numerics

__all__ = ["SEA", "STAGGER", "PoisonedHead"]


@dataclass(eq=False, repr=False)
class SEA(Generator):
    """Class 1 if ``x1 + x2 <= theta``; x3 is irrelevant, all are uniform in 0..10.

    Parameters
    ----------
    function : int
        1 to 4: theta is 8, 9, 7 or 9.5.
    period : int
        Instances after which the next function holds, after the fourth the first; 0: never. The
        paper's stream: period 12,500, 50,000 instances.
    noise : float
        Probability that a label is the other one.

    Source: Street and Kim, A streaming ensemble algorithm (SEA) for large-scale classification,
    KDD 2001.
    """

    THETA = np.array([8, 9, 7, 9.5])

    function: Annotated[int, Range(1, 4)] = 1
    period: Annotated[int, Range(0)] = 0
    noise: Share = 0.1

    def _schema(self):
        return Schema(numerics(3), "class", ("0", "1"))

    def _block(self, rng, first, count, state):
        numeric = rng.random((count, 3)) * 10
        theta = self.THETA[_function(self.function, self.period, first, count, 4)]
        labels = (numeric[:, 0] + numeric[:, 1] <= theta).astype(np.int64)
        return Block(numeric, np.zeros((count, 0), np.uint8), self._mislabelled(rng, labels, self.noise))


@dataclass(eq=False, repr=False)
class STAGGER(Generator):
    """Size, colour and shape; class true if small and red, green or circular, medium or large.

    Parameters
    ----------
    function : int
        1 to 3: which of these three.
    period : int
        Instances after which the next function holds, after the third the first; 0: never. The
        paper's stream: period 40, 120 instances.
    noise : float
        Probability that a label is the other one.

    Source: Schlimmer and Granger, Incremental learning from noisy data, Machine Learning 1, 1986.
    """

    function: Annotated[int, Range(1, 3)] = 1
    period: Annotated[int, Range(0)] = 0
    noise: Share = 0.0

    def _schema(self):
        return Schema(
            (
                Attribute("size", "nominal", ("small", "medium", "large")),
                Attribute("colour", "nominal", ("red", "blue", "green")),
                Attribute("shape", "nominal", ("circular", "square", "triangular")),
            ),
            "class",
            ("false", "true"),
        )

    def _block(self, rng, first, count, state):
        nominal = rng.integers(0, 3, (count, 3), np.uint8)
        size, colour, shape = nominal.T
        function = _function(self.function, self.period, first, count, 3)
        labels = np.choose(function, [(size == 0) & (colour == 0), (colour == 2) | (shape == 0), size != 0]).astype(
            np.int64
        )
        return Block(np.zeros((count, 0)), nominal, self._mislabelled(rng, labels, self.noise))


def _function(first_function, period, first, count, functions):
    """The function that holds at each instance, counted from 0."""
    if not period:
        return np.full(count, first_function - 1)
    return (first_function - 1 + np.arange(first, first + count) // period) % functions


@dataclass(eq=False, repr=False)
class PoisonedHead(Generator):
    """Class 1 if u > 0.5, u uniform in 0..1; at first the attribute shows something else.

    Parameters
    ----------
    function : int
        1 to 3: what the first 500 instances have for u: -999, 1000 u or u + 3.
    """

    HEAD = 500

    function: Annotated[int, Range(1, 3)] = 1

    def _schema(self):
        return Schema((Attribute("u", "numeric"),), "class", ("0", "1"))

    def _block(self, rng, first, count, state):
        numeric = rng.random((count, 1))
        labels = (numeric[:, 0] > 0.5).astype(np.int64)
        head = numeric[: max(0, self.HEAD - first)]
        head[:] = (np.full_like(head, -999), 1000 * head, head + 3)[self.function - 1]
        return Block(numeric, np.zeros((count, 0), np.uint8), labels)
