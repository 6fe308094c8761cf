"""The instances that a classical tree keeps, all of them, in orders that serve every node."""

import numpy as np

from ...geometry import MISSING
from ...interrupt import deferred_interrupt
from .kernel import Data, Work, merge

_FIRST = 64  # instances that there is room for at first


class Instances:
    """Numbers, codes of nominal values and labels, one column after the other.

    Parameters
    ----------
    numeric, nominal : int
        How many attributes there are of each kind.

    Attributes
    ----------
    count : int
    """

    def __init__(self, numeric, nominal):
        self.count = 0
        self._numbers = np.empty((numeric, _FIRST))
        self._orders = np.empty((numeric, _FIRST), np.int32)  # by rising value, missing ones last
        self._codes = np.empty((_FIRST, nominal), np.uint8)
        self._labels = np.empty(_FIRST, np.int32)

    @property
    def data(self):
        """All of them, as `Data`, and room for more."""
        return Data(self._numbers, self._codes, self._labels)

    def work(self):
        """Orders of all instances, to be divided among the nodes of a tree: `Work`."""
        count = self.count
        rows, side, spare = np.arange(count, dtype=np.int32), np.empty(count, np.int16), np.empty(count, np.int32)
        return Work(rows, self._orders[:, :count].copy(), side, spare)

    def add(self, data):
        """Take in more; returns their numbers, int32 array."""
        start, end = self.count, self.count + len(data.labels)
        if end > len(self._labels):
            self._grow(max(end, 2 * len(self._labels)))
        with deferred_interrupt():  # or an order would lack some
            self._numbers[:, start:end] = data.numbers
            self._codes[start:end] = data.codes
            self._labels[start:end] = data.labels
            for values, order in zip(self._numbers, self._orders, strict=True):
                added = np.argsort(values[start:end], kind="stable") + start
                merge(order, values, start, added.astype(np.int32))
            self.count = end
        return np.arange(start, end, dtype=np.int32)

    def _grow(self, room):
        more = room - len(self._labels)
        numbers = np.pad(self._numbers, ((0, 0), (0, more)))
        orders = np.pad(self._orders, ((0, 0), (0, more)))
        codes = np.pad(self._codes, ((0, more), (0, 0)))
        labels = np.pad(self._labels, (0, more))
        self._numbers, self._orders, self._codes, self._labels = numbers, orders, codes, labels

    def widen(self, numeric, nominal):
        """Have so many attributes of each kind; the values of the new ones are missing in all instances."""
        room, count = len(self._labels), self.count
        numbers = np.full((numeric, room), np.nan)
        orders = np.tile(np.arange(room, dtype=np.int32), (numeric, 1))
        codes = np.full((room, nominal), MISSING, np.uint8)
        known = len(self._numbers)
        numbers[:known], orders[:known, :count] = self._numbers, self._orders[:, :count]
        codes[:, : self._codes.shape[1]] = self._codes
        self._numbers, self._orders, self._codes = numbers, orders, codes

    def state(self):
        """A copy of them, without room, as `Data`."""
        count = self.count
        return Data(self._numbers[:, :count].copy(), self._codes[:count].copy(), self._labels[:count].copy())
