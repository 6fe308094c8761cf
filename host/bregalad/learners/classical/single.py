"""A classical tree's instances one by one: what does not change from one to the next is looked at once."""

import numpy as np

from ...estimator.single import OneByOne
from .kernel import Data
from .tree import majority


class Single(OneByOne):
    """Instances of a `Tree`, of each of which ``take`` learns a `Data`, and is told whether a value has no code."""

    def __init__(self, tree, quantiser, classes, take, grows):
        super().__init__(quantiser, classes, take is not None, grows)
        self._tree, self._classes, self._learn = tree, classes, take
        self._nominal = [attribute.kind == "nominal" for attribute in quantiser.schema.attributes]

    def _data(self, place):
        """The instance that was encoded last."""
        codes = self.row.codes[self._nominal][np.newaxis]
        return Data(np.ascontiguousarray(self.row.numbers.T), codes, np.array([place], np.int32))

    def _take(self, x, place):
        if not self.row.encode(x):
            return False
        self._learn(self._data(place), self.row.lost)
        return True

    def predict(self, x):
        """The class counts that say what an instance is, int array, and the class."""
        self.row.encode(x, read_only=True)
        node, _ = next(self._tree.reached(self._data(0), 1))
        counts = self._tree.counts(node, len(self.labels))
        return counts, int(majority(counts, self._classes))

    def shares(self, x):
        """Class shares of an instance; list."""
        counts, _ = self.predict(x)
        return (counts / counts.sum()).tolist()
