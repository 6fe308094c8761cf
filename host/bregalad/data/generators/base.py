"""What all generators share: blocks of random instances, cut into chunks of a stream."""

import itertools
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, TypeAlias, get_args, get_type_hints

import numpy as np
import pandas as pd

from ...options.option import Option, integer, real
from ..schema import Attribute, Schema

Chunk: TypeAlias = tuple[pd.DataFrame, np.ndarray]
BLOCK = 16_384  # instances per random number generator: a chunk's size must not change the stream

_MODEL, _INSTANCES, _ORDER = range(3)  # what a seed is for

# Instances: float64 (n, numeric attributes), uint8 codes (n, nominal attributes), classes (n,).
Block = namedtuple("Block", "numeric nominal labels")


Share = Annotated[float, real("0 to 1", lambda value: 0 <= value <= 1)]


@dataclass(eq=False, repr=False)
class Generator:
    """A random stream; iterates as the result of ``open_stream`` does, and always the same.

    Iteration yields ``(X, y)``: a `pandas.DataFrame`, numeric attributes as float64, nominal ones
    as categories of strings, and a numpy array of class labels, strings. The stream depends on the
    options and the seeds, neither on ``chunk`` nor on ``instances``. (NumPy may change how it draws
    in a later version.)

    A subclass is a dataclass of its options, each with the `Kind` that it is of. It provides ``_schema()``,
    ``_block(rng, first, count, state)``, and ``_start()`` if its concept moves.

    Parameters
    ----------
    seed : int
        For the instances.
    instances : int, optional
        Instances of the stream; None: it does not end.
    chunk : int
        Most instances per chunk.

    Members
    -------
    schema : Schema
    chunk : int
    len_hint : int or None
        ``instances``.

    Raises
    ------
    TypeError
        If an option is not of its kind.
    ValueError
        If an option is out of its range.
    """

    _: KW_ONLY
    seed: Annotated[int, integer(0)] = 1
    instances: Annotated[int | None, integer(1)] = None
    chunk: Annotated[int, integer(1)] = 65_536

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self), include_extras=True).items():
            for kind in getattr(hint, "__metadata__", ()):
                value = getattr(self, name)
                if value is not None or type(None) not in get_args(get_args(hint)[0]):
                    Option(name, kind).check(value)
        self.schema = self._schema()
        self._classes = np.array(self.schema.classes, object)

    def _schema(self) -> Schema:
        """The attributes and classes, all values declared."""
        raise NotImplementedError

    @property
    def len_hint(self) -> int | None:
        """The number of instances, None if there is no end."""
        return self.instances

    def __iter__(self) -> Iterator[Chunk]:
        return self.chunks(self.chunk)

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Yield ``(X, y)`` with ``size`` instances, the last one with fewer."""
        cutter, done = Cutter(self), 0
        while self.instances is None or done < self.instances:
            block = cutter.take(size if self.instances is None else min(size, self.instances - done))
            yield self._frame(block), self._classes[block.labels]
            done += len(block.labels)

    def take(self, count: int) -> Chunk:
        """The first ``count`` instances at once: ``(X, y)``."""
        Option("count", integer(1)).check(count)
        return next(self.chunks(count))

    def blocks(self) -> Iterator[Block]:
        """Yield the instances as `Block`, 16,384 at a time, without an end."""
        state = self._start()
        for number in itertools.count():
            yield self._block(random_numbers(self.seed, _INSTANCES, number), number * BLOCK, BLOCK, state)

    def _start(self):
        """What ``_block`` may change from block to block."""

    def _block(self, rng, first, count, state):
        """`Block` of the instances ``first`` to ``first + count - 1``, drawn with ``rng``."""
        raise NotImplementedError

    def _frame(self, block):
        attributes = self.schema.attributes
        if all(attribute.kind == "numeric" for attribute in attributes):
            # Columns side by side, as a data frame keeps them.
            return pd.DataFrame(np.ascontiguousarray(block.numeric.T).T, columns=list(self.schema.names), copy=False)
        numeric, nominal = iter(block.numeric.T), iter(np.ascontiguousarray(block.nominal.T))
        return pd.DataFrame(
            {
                a.name: next(numeric)
                if a.kind == "numeric"
                else pd.Categorical.from_codes(next(nominal), a.values, validate=False)
                for a in attributes
            }
        )

    def _mislabelled(self, rng, labels, share):
        """Labels of which a share is any of the other classes."""
        if share:
            classes = len(self.schema.classes)
            other = labels + rng.integers(1, classes, len(labels), dtype=labels.dtype)
            labels = np.where(rng.random(len(labels)) < share, other % classes, labels)
        return labels


class Cutter:
    """Take any number of a generator's instances at a time."""

    def __init__(self, generator):
        self._blocks = generator.blocks()
        self._rest = next(self._blocks)

    def take(self, count):
        """`Block` of the next ``count`` instances."""
        parts, done = [self._rest], len(self._rest.labels)
        while done < count:
            parts.append(next(self._blocks))
            done += BLOCK
        whole = Block(*map(np.concatenate, zip(*parts, strict=True))) if len(parts) > 1 else self._rest
        self._rest = Block(*(part[count:] for part in whole))
        return Block(*(part[:count] for part in whole))


def random_numbers(seed, what, number=0):
    """A numpy Generator of its own for each purpose and each block."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(what, number))))


def model_numbers(seed):
    """The numpy Generator that a concept is drawn with."""
    return random_numbers(seed, _MODEL)


def order_numbers(seed, number):
    """The numpy Generator for what is shown in a part of the stream."""
    return random_numbers(seed, _ORDER, number)


def numerics(count, name="x"):
    """``count`` numeric attributes: x1, x2, ..."""
    return tuple(Attribute(f"{name}{i + 1}", "numeric") for i in range(count))


def classified(attributes, count):
    """A schema of attributes and classes c1, c2, ..."""
    return Schema(attributes, "class", tuple(f"c{i + 1}" for i in range(count)))


def nominals(count, values, name="n"):
    """``count`` nominal attributes n1, n2, ... with the same values."""
    values = tuple(values)
    return tuple(Attribute(f"{name}{i + 1}", "nominal", values) for i in range(count))
