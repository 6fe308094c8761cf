"""A classical tree's instances one by one: what does not change from one to the next is looked at once."""

import numpy as np

from ...data.row import Row
from .kernel import Data
from .tree import majority


class Single:
    """One instance at a time, as `OneByOne` wants them; by one thread at a time.

    Parameters
    ----------
    tree : Tree
    quantiser : Quantiser
    classes : array
        Labels, in the order of the tree's classes.
    take : callable or None
        Learns a `Data`; None: `learn` is not for what there is to learn.
    grows : bool
        Whether attributes may come later: unknown ones say nothing for a prediction.
    """

    look = False  # no code books follow the stream

    def __init__(self, tree, quantiser, classes, take, grows):
        self._tree = tree
        self._row = Row(quantiser, grows)
        self._nominal = [attribute.kind == "nominal" for attribute in quantiser.schema.attributes]
        self._classes = classes
        self.labels = classes.tolist()
        self._take = take
        self._places = {label: place for place, label in enumerate(self.labels)} if take else {}

    def _data(self, place):
        """The instance that was encoded last."""
        codes = self._row.codes[self._nominal][np.newaxis]
        return Data(np.ascontiguousarray(self._row.numbers.T), codes, np.array([place], np.int32))

    def learn(self, x, label):
        """Learn an instance; False, and nothing is done, if it has an attribute or a label that is new.

        Raises
        ------
        TypeError, ValueError
            As ``Row.encode`` and ``take``.
        """
        try:
            place = self._places.get(label)
        except TypeError:  # not hashable
            place = None
        if place is None or not self._row.encode(x):
            return False
        self._take(self._data(place), self._row.lost)
        return True

    def predict(self, x):
        """The class counts that say what an instance is, int array, and the class."""
        self._row.encode(x, read_only=True)
        node, _ = next(self._tree.reached(self._data(0), 1))
        counts = self._tree.counts(node, len(self.labels))
        return counts, int(majority(counts, self._classes))

    def shares(self, x):
        """Class shares of an instance; list."""
        counts, _ = self.predict(x)
        return (counts / counts.sum()).tolist()
