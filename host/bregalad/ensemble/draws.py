"""How often each member learns each instance: Poisson numbers that depend on seed, member and instance alone.

The generator counts: the number of an instance is looked up, not come to. So it is the same wherever a member
runs, whatever its stream is cut into.

Source: Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011 (Philox, as NumPy has it).
"""

from decimal import Decimal, localcontext

import numpy as np

_BLOCK = 4096  # instances drawn at a time
_WORDS = 4  # that the generator makes of a count


class Draws:
    """A member's weights of a mean ``rate``; the seed is 0 to 2**64 - 1."""

    def __init__(self, seed, member, rate):
        self._key = np.array([seed, member], np.uint64)
        self._steps = thresholds(rate)
        self._first, self._block = 0, np.zeros(0, np.int32)

    def take(self, start, count):
        """The weights of ``count`` instances from number ``start`` on, int32 array."""
        at = start - self._first
        if not 0 <= at <= len(self._block) - count:
            self._first = start - start % _WORDS
            at = start - self._first
            generator = np.random.Philox(key=self._key, counter=[self._first // _WORDS, 0, 0, 0])
            drawn = generator.random_raw(max(count + at, _BLOCK))
            self._block = np.searchsorted(self._steps, drawn, side="right").astype(np.int32)
        return self._block[at : at + count]


def thresholds(rate):
    """Where the weight goes up by 1 if 64 random bits do, rising: uint64 array.

    In decimals of 60 digits, for a processor's own exponential function may differ from another one's.
    """
    with localcontext() as context:
        context.prec = 60
        whole = Decimal(1 << 64)
        share = (-Decimal(rate)).exp()
        reached, steps, k = share, [], 0
        while (step := int(reached * whole)) < (1 << 64) - 1 and k < 1000:
            steps.append(step)
            k += 1
            share = share * Decimal(rate) / k
            reached += share
    return np.array(steps, np.uint64)
