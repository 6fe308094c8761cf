"""Codes for the values of one numeric attribute, learnt from a stream's head, growing later."""

import math

import numpy as np

from ..compiled import njit
from ..geometry import MISSING
from .edges import HUGE, distinct, head_edges, region
from .search import check_finite, encode_numbers

__all__ = ["CODES", "CodeBook"]

CODES = MISSING  # codes 0 to 254; 255 says "missing"

_SHARE = 6  # a growth step takes one in this many of the codes left on its side
_RANGE = ("low", "high", "head_low", "head_high")
_STATE = ("head_codes", *_RANGE, "first", "edges", "seen", "clamped")


class CodeBook:
    """Map the values of a numeric attribute to codes 0 to 254, missing ones to 255.

    The head of the stream gets up to ``head_codes`` consecutive codes; those on both sides are
    kept in reserve. The first value outside the range covered so far claims a sixth of the reserve
    on its side, for a region as wide again as head and growth on that side, or twice as far as the
    value; what happened on the other side does not make it coarser.
    An edge never moves and an interval never changes its code, so statistics and thresholds that
    are kept in codes stay valid. The result depends on the order of the values alone, not on how
    they are divided into calls.

    Parameters
    ----------
    head_codes : int
        Most codes given to the head of the stream, 1 to 255.

    Attributes
    ----------
    edges : numpy.ndarray of float64
        Borders between the codes given so far, rising: ``first`` is the code below ``edges[0]``.
    first, last : int
        Lowest and highest code given so far; ``first`` is None before the first value.
    seen : int
        Values encoded so far without the missing ones; reading only does not count.
    clamped : int
        Those of them that lay outside the range with no code left on their side.
    tally : int64 array (2,)
        Both, for compiled code to count in.

    Raises
    ------
    TypeError
        If ``head_codes`` is not an integer.
    ValueError
        If ``head_codes`` is outside 1 to 255.

    Source: design, section 4; the measured alternatives are in the documentation.
    """

    def __init__(self, head_codes=128):
        if not isinstance(head_codes, int) or isinstance(head_codes, bool):
            raise TypeError(f"head_codes must be an integer, not {head_codes!r}")
        if not 1 <= head_codes <= CODES:
            raise ValueError(f"head_codes must be 1 to {CODES}, not {head_codes}")
        self.head_codes = head_codes
        self.low = math.inf  # the range covered so far, both ends included
        self.high = -math.inf
        self.head_low = math.inf  # the head's own range
        self.head_high = -math.inf
        self.first = None
        self.edges = np.empty(0)
        self.tally = np.zeros(2, np.int64)

    @property
    def seen(self):
        return int(self.tally[0])

    @seen.setter
    def seen(self, count):
        self.tally[0] = count

    @property
    def clamped(self):
        return int(self.tally[1])

    @clamped.setter
    def clamped(self, count):
        self.tally[1] = count

    @property
    def last(self):
        """The highest code given so far, None before the first value."""
        return None if self.first is None else self.first + len(self.edges)

    def fit(self, values):
        """Give codes to the head of the stream; without any value the first one to come does it.

        Raises
        ------
        RuntimeError
            If codes have been given already.
        ValueError
            If ``values`` is not one-dimensional or contains an infinite value.
        """
        if self.first is not None:
            raise RuntimeError("the code book has codes already, and a code keeps its meaning")
        values = vector(values)
        check_finite(values[:, np.newaxis])
        values = values[~np.isnan(values)]
        if len(values):
            self._start(values)
        return self

    def encode(self, values, *, read_only=False):
        """The codes of ``values``, a uint8 array; new ranges claim codes in the order of values.

        Parameters
        ----------
        values : array of numbers
            One-dimensional; NaN is missing.
        read_only : bool
            Give values outside the range the outermost code and change nothing.

        Raises
        ------
        ValueError
            If ``values`` is not one-dimensional or contains an infinite value; nothing is changed.
        """
        values = vector(values)[:, np.newaxis]
        codes = np.empty((len(values), 1), np.uint8)
        encode_numbers([self], values, codes, [0], read_only=read_only)
        return codes[:, 0]

    def begin(self, values):
        """Give the first of ``values`` that is not missing a code, before there are others."""
        there = np.flatnonzero(~np.isnan(values))
        if len(there):
            self._start(values[there[:1]])

    def admit(self, values):
        """Claim codes for ``values``, in their order, wherever they are out of the range."""
        values = np.ascontiguousarray(values)
        start = 0
        while True:
            # A side without codes left is open-ended: nothing on it needs attention.
            low = self.low if self.first > 0 else -math.inf
            high = self.high if self.last < CODES - 1 else math.inf
            start = _outside(values, start, low, high)
            if start == len(values):
                break
            value = float(values[start])
            if value > self.high:
                self._grow_up(value)
            else:
                self._grow_down(value)
        # What is still outside met an exhausted side: a region always covers what claimed it.
        self.clamped += int(np.count_nonzero((values < self.low) | (values > self.high)))

    def threshold(self, code):
        """The value x such that a value's code is below ``code`` if and only if it is below x.

        Minus infinity up to the lowest code given, plus infinity beyond the highest.
        """
        if self.first is None or code > self.last:
            return math.inf
        return -math.inf if code <= self.first else float(self.edges[code - self.first - 1])

    def to_dict(self):
        """The state in JSON's types; floats survive exactly."""
        state = {name: getattr(self, name) for name in _STATE}
        state["edges"] = self.edges.tolist()
        if self.first is None:
            for name in _RANGE:
                state[name] = None  # JSON has no infinity
        return state

    @classmethod
    def from_dict(cls, state):
        """The code book that `to_dict` described."""
        missing = [name for name in _STATE if name not in state]
        if missing:
            raise ValueError(f"no code book: {missing[0]!r} is missing")
        book = cls(state["head_codes"])
        for name in _STATE[1:]:
            if state[name] is not None:
                setattr(book, name, state[name])
        book.edges = np.array(state["edges"], np.float64)
        return book

    def _start(self, values):
        self.edges = head_edges(values, self.head_codes)
        self.low = self.head_low = float(values.min())
        self.high = self.head_high = float(values.max())
        # Centred: 128 codes from 64 on fill whole bins, whatever power of two a bin's width is.
        self.first = (CODES - len(self.edges)) // 2

    def _grow_up(self, value):
        count = max(1, (CODES - 1 - self.last) // _SHARE)
        reach, steps = region(value - self.high, self.high - self.head_low, count)
        with np.errstate(over="ignore"):  # what is infinite then is beyond `top`
            edges = distinct(self.high + steps)
        top = min(self.high + reach, HUGE)
        # An edge that rounds to the old end would take that value's code away.
        self.edges = np.append(self.edges, edges[(edges > self.high) & (edges <= top)])
        self.high = max(top, value)

    def _grow_down(self, value):
        count = max(1, self.first // _SHARE)
        reach, steps = region(self.low - value, self.head_high - self.low, count)
        with np.errstate(over="ignore"):
            edges = distinct(self.low - steps)
        bottom = max(self.low - reach, -HUGE)
        edges = edges[(edges <= self.low) & (edges > bottom)]
        if len(self.edges):
            edges = edges[edges < self.edges[0]]
        self.edges = np.append(edges, self.edges)
        self.first -= len(edges)
        self.low = min(bottom, value)


def vector(values):
    """``values`` as a float64 vector, or an error."""
    values = np.asarray(values)
    if values.ndim != 1:
        raise ValueError(f"values must be one-dimensional, not of shape {values.shape}")
    return np.ascontiguousarray(values, np.float64)


@njit()
def _outside(values, start, low, high):
    for i in range(start, len(values)):
        if values[i] < low or values[i] > high:
            return i
    return len(values)
