"""Simple concepts: sums, rules, thresholds, digits, waves and a plane."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...options.option import Option, integer
from ..schema import Attribute, Schema
from .base import Block, Generator, Share, model_numbers, nominals, numerics

__all__ = ["LED", "SEA", "STAGGER", "Hyperplane", "Waveform"]


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

    function: Annotated[int, integer(1, 4)] = 1
    period: Annotated[int, integer(0)] = 0
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

    function: Annotated[int, integer(1, 3)] = 1
    period: Annotated[int, integer(0)] = 0
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
    irrelevant: Annotated[int, integer(0)] = 17
    swapped: Annotated[int, integer(0)] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        swapped = self.swapped
        Option("swapped", integer(0, min(7, self.irrelevant))).check(swapped)
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

    irrelevant: Annotated[int, integer(0)] = 0

    def _schema(self):
        return Schema(numerics(self.POINTS + self.irrelevant), "class", ("0", "1", "2"))

    def _block(self, rng, first, count, state):
        labels = rng.integers(0, len(self.PAIRS), count)
        share = rng.random((count, 1))
        numeric = rng.standard_normal((count, len(self.schema.attributes)))
        one, other = self.WAVES[self.PAIRS[labels].T]
        numeric[:, : self.POINTS] += share * one + (1 - share) * other
        return Block(numeric, np.zeros((count, 0), np.uint8), labels)


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

    attributes: Annotated[int, integer(1)] = 10
    drifting: Annotated[int, integer(0)] = 2
    change: Share = 0.0
    reversal: Share = 0.1
    noise: Share = 0.05
    model_seed: Annotated[int, integer(0)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        Option("drifting", integer(0, self.attributes)).check(self.drifting)
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
