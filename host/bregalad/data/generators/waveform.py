"""Three classes of noisy waves."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..schema import Schema
from .base import Block, Generator, Range, numerics


@dataclass(eq=False, repr=False)
class Waveform(Generator):
    """Every instance mixes two of three triangular waves, at random shares, and adds noise of unit variance.

    The class tells which two; all are equally frequent. The best classifier is right on about 86 %.

    Parameters
    ----------
    irrelevant : int
        Attributes of noise alone behind the 21 of the waves; 19 in the longer of the two usual streams.

    Source: Breiman, Friedman, Olshen and Stone, Classification and regression trees, 1984.
    """

    POINTS = 21
    WAVES = np.maximum(6 - abs(np.arange(1, POINTS + 1) - np.array([[11], [15], [7]])), 0)
    PAIRS = np.array([[0, 1], [0, 2], [1, 2]])  # of waves, by class

    irrelevant: Annotated[int, Range(0)] = 0

    def _schema(self):
        return Schema(numerics(self.POINTS + self.irrelevant), "class", ("0", "1", "2"))

    def _block(self, rng, first, count, state):
        labels = rng.integers(0, len(self.PAIRS), count)
        share = rng.random((count, 1))
        numeric = rng.standard_normal((count, len(self.schema.attributes)))
        one, other = self.WAVES[self.PAIRS[labels].T]
        numeric[:, : self.POINTS] += share * one + (1 - share) * other
        return Block(numeric, np.zeros((count, 0), np.uint8), labels)
