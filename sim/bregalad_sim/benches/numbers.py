"""Numbers for units that compute a logarithm."""

import random

import cocotb


def any_numbers(width, count):
    """Of so many bits: those about powers of two, then so many of any size, then all if these would be enough."""
    rng = random.Random(cocotb.RANDOM_SEED)
    top = (1 << width) - 1
    edges = {(1 << i) + offset & top for i in range(width + 1) for offset in (-2, -1, 0, 1)}
    numbers = sorted(edges) + [rng.getrandbits(rng.randint(1, width)) for _ in range(count)]
    return numbers + list(range(top + 1)) if top < count else numbers
