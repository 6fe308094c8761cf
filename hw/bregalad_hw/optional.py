"""Blocks that some boards do not have."""

from amaranth import Module

__all__ = ["optional"]


def optional(there, block):
    """The block; on a board that does not have it with nothing in it, so that its outputs stay as they are at first."""
    if not there:
        block.elaborate = lambda platform: Module()
    return block
