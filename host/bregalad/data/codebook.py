"""Codes for the values of one numeric attribute: between which of its edges a value lies."""

import math

import numpy as np

from ..geometry import MISSING

__all__ = ["CODES", "CodeBook"]

CODES = MISSING  # codes 0 to 254; 255 says "missing"


class CodeBook:
    """Map the values of a numeric attribute to codes 0 to 254, missing ones to 255.

    A value's code is the number of edges at or below it. Edges move while the stream runs, see
    ``refine``; between two such changes a code keeps its meaning.

    Attributes
    ----------
    edges : numpy.ndarray of float64
        Rising, 254 at most; none before the first values are known.
    """

    def __init__(self):
        self.edges = np.empty(0)

    def threshold(self, code):
        """The value x such that a value's code is below ``code`` if and only if it is below x.

        Minus infinity for code 0, plus infinity beyond the highest code.
        """
        if code > len(self.edges):
            return math.inf
        return -math.inf if code <= 0 else float(self.edges[code - 1])

    def to_dict(self):
        """The state in JSON's types; floats survive exactly."""
        return {"edges": self.edges.tolist()}

    @classmethod
    def from_dict(cls, state):
        """The code book that `to_dict` described; ValueError if it is none."""
        edges = state.get("edges")
        if not isinstance(edges, list) or len(edges) >= MISSING:
            raise ValueError("no code book: its edges are no list, or too many")
        if not all(type(edge) in (int, float) and math.isfinite(edge) for edge in edges):
            raise ValueError("no code book: its edges are no finite numbers")
        if not all(below < above for below, above in zip(edges, edges[1:], strict=False)):
            raise ValueError("no code book: its edges do not rise")
        book = cls()
        book.edges = np.array(edges, np.float64)
        return book
