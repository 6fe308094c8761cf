"""A digit on a seven-segment display, some segments wrong."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..schema import Schema
from .base import Block, Generator, Range, Share, nominals

# Top, upper left, upper right, middle, lower left, lower right, bottom.
_DIGITS = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
SEGMENTS = np.array([list(map(int, digit)) for digit in _DIGITS.split()], np.uint8)


@dataclass(eq=False, repr=False)
class LED(Generator):
    """The digit shown by seven segments, each inverted with some probability, among random bits.

    Parameters
    ----------
    noise : float
        Probability that a segment is inverted; with 0.1 no classifier is right more often than
        in some 74 % of all cases.
    irrelevant : int
        Random bits after the segments.
    swapped : int
        Segments, from the first, that change places with random bits: another concept, to join by
        `ConceptDrift`.

    Source: Breiman et al., Classification and regression trees, 1984, section 2.6.1; MOA's
    LEDGenerator and LEDGeneratorDrift.
    """

    noise: Share = 0.1
    irrelevant: Annotated[int, Range(0)] = 17
    swapped: Annotated[int, Range(0)] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        swapped = self.swapped
        Range(0, min(7, self.irrelevant)).check("swapped", swapped, int)
        #: The column where each segment, then each random bit is found.
        self.places = np.arange(7 + self.irrelevant)
        self.places[:swapped], self.places[7 : 7 + swapped] = (np.arange(7, 7 + swapped), np.arange(swapped))

    def _schema(self):
        return Schema(nominals(7 + self.irrelevant, "01", "bit"), "digit", tuple("0123456789"))

    def _block(self, rng, first, count, state):
        labels = rng.integers(0, 10, count)
        bits = np.empty((count, len(self.places)), np.uint8)
        bits[:, self.places[:7]] = SEGMENTS[labels] ^ (rng.random((count, 7)) < self.noise)
        bits[:, self.places[7:]] = rng.integers(0, 2, (count, len(self.places) - 7), np.uint8)
        return Block(np.zeros((count, 0)), bits, labels)
