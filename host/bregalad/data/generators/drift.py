"""Two generators joined to one stream whose concept changes."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ...options.option import integer
from ...words import listed
from .base import Block, Cutter, Generator

__all__ = ["ConceptDrift", "Recurrence"]


@dataclass(eq=False, repr=False)
class _Joined(Generator):
    """Instances of two generators of one schema; ``_second`` tells whose turn it is."""

    first: Generator
    second: Generator

    def __post_init__(self) -> None:
        for name, generator in (("first", self.first), ("second", self.second)):
            if not isinstance(generator, Generator):
                raise TypeError(f"{name} must be a generator, not {generator!r}")
            if generator.instances is not None:
                raise ValueError(f"{name} must not end: the joined stream takes instances={generator.instances}")
        one, other = self.first.schema, self.second.schema
        if one != other:
            attributes = f"{len(one.attributes)} and {len(other.attributes)} attributes"
            raise ValueError(
                f"first and second must have the same attributes and classes; they have {attributes}, "
                f"{one.class_name} of {listed(one.classes)} and {other.class_name} of {listed(other.classes)}"
            )
        super().__post_init__()

    def _schema(self):
        return self.first.schema

    def _start(self):
        return Cutter(self.first), Cutter(self.second)

    def _block(self, rng, first, count, state):
        second = self._second(rng, np.arange(first, first + count))
        parts = []
        for old, new in zip(state[0].take(int((~second).sum())), state[1].take(int(second.sum())), strict=True):
            part = np.empty((count, *new.shape[1:]), new.dtype)
            part[~second], part[second] = old, new
            parts.append(part)
        return Block(*parts)


@dataclass(eq=False, repr=False)
class ConceptDrift(_Joined):
    """The second generator takes over from the first, gradually.

    Instance t, counted from 1, is of the second with probability 1 / (1 + exp(-4 (t - p) / w)).
    Neither generator skips instances.

    Parameters
    ----------
    first, second : Generator
        Of the same schema, without an end, with seeds of their own.
    position : int
        p: the instance at which both are equally likely.
    width : int
        w: instances that the change takes; 0: abrupt.
    seed : int
        For the choice between the two.

    Source: Bifet et al., New ensemble methods for evolving data streams, KDD 2009, section 3;
    MOA's ConceptDriftStream.
    """

    position: Annotated[int, integer(0)] = 500_000
    width: Annotated[int, integer(0)] = 1000

    def _second(self, rng, time):
        draw = rng.random(len(time))
        if not self.width:
            return time + 1 > self.position
        exponent = np.clip(-4 * (time + 1 - self.position) / self.width, -700, 700)
        return draw * (1 + np.exp(exponent)) < 1


@dataclass(eq=False, repr=False)
class Recurrence(_Joined):
    """Two generators take turns, abruptly; each goes on where it stopped.

    Parameters
    ----------
    first, second : Generator
        Of the same schema, without an end, with seeds of their own.
    period : int
        Instances of a turn.
    """

    period: Annotated[int, integer(1)] = 10_000
    seed: int = field(default=0, init=False)  # nothing is drawn

    def _second(self, rng, time):
        return time // self.period % 2 == 1
