"""The instances that a classical tree keeps, all of them, in orders that serve every node."""

import numpy as np

from ...geometry import MISSING
from .kernel import Data, Work


class Instances:
    """Numbers, codes of nominal values and labels, one column after the other, with so many attributes of each kind.

    ``data`` has all of them: arrays that are never written to.
    """

    def __init__(self, numeric, nominal):
        self.data = Data(np.empty((numeric, 0)), np.empty((0, nominal), np.uint8), np.empty(0, np.int32))
        self._orders = np.empty((numeric, 0), np.int32)  # by rising value, missing ones last

    @property
    def count(self):
        """How many there are."""
        return len(self.data.labels)

    def work(self):
        """Orders of all instances, to be divided among the nodes of a tree: `Work`."""
        count = self.count
        rows, side, spare = np.arange(count, dtype=np.int32), np.empty(count, np.int16), np.empty(count, np.int32)
        return Work(rows, self._orders.copy(), side, spare)

    def add(self, data):
        """Take in more; returns their numbers, int32 array. Not to be interrupted, or an order would lack some."""
        kept, start = self.data, self.count
        orders = np.empty((len(self._orders), start + len(data.labels)), np.int32)
        for column, order in enumerate(self._orders):
            added = np.argsort(data.numbers[column], kind="stable")
            places = np.searchsorted(kept.numbers[column, order], data.numbers[column, added], side="right")
            orders[column] = np.insert(order, places, added + start)
        numbers = np.concatenate([kept.numbers, data.numbers], axis=1)
        codes, labels = (np.concatenate(pair) for pair in ((kept.codes, data.codes), (kept.labels, data.labels)))
        self.data, self._orders = Data(numbers, codes, labels), orders
        return np.arange(start, self.count, dtype=np.int32)

    def widen(self, numeric, nominal):
        """Have so many attributes of each kind; the values of the new ones are missing in all instances."""
        numbers, codes, labels = self.data
        more = numeric - len(numbers)
        self._orders = np.concatenate([self._orders, np.tile(np.arange(self.count, dtype=np.int32), (more, 1))])
        self.data = Data(
            np.pad(numbers, ((0, more), (0, 0)), constant_values=np.nan),
            np.pad(codes, ((0, 0), (0, nominal - codes.shape[1])), constant_values=MISSING),
            labels,
        )
