"""An ensemble's instances one by one: what does not change from one to the next is looked at once."""

import numpy as np

from ..data.row import Row
from ..driver.requirements import warn_of_lost


class Single:
    """One instance at a time; by one thread at a time.

    Parameters
    ----------
    quantiser : Quantiser
    take : callable
        Learns codes (n, attributes) and labels (n,).
    classes : array
    once : bool
        Whether each instance is learnt once; else `learn` is not for it.
    grows : bool
        Whether attributes may come later: unknown ones say nothing for a prediction.
    """

    def __init__(self, quantiser, take, classes, once, grows):
        self._quantiser, self._take = quantiser, take
        self.row = Row(quantiser, grows)
        self.labels = classes.tolist()
        self._places = {label: place for place, label in enumerate(self.labels)} if once else {}
        self.look = False  # whether the code books are to be looked at

    def learn(self, x, label):
        """Learn an instance; False, and nothing is done, if it is not one as those before."""
        try:
            place = self._places.get(label)
        except TypeError:  # not hashable
            place = None
        if place is None or not self.row.encode(x):
            return False
        codes = self.row.codes[np.newaxis]
        self._take(codes, np.array([place], np.int32))
        self.look = self._quantiser.sample.add_row(self.row.numbers, codes)
        if self.row.lost:
            warn_of_lost(self._quantiser)
        return True

    def predict(self, x):
        """Encode an instance; None: the members tell the rest."""
        self.row.encode(x, read_only=True)

    shares = predict
