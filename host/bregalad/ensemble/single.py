"""An ensemble's instances one by one: what does not change from one to the next is looked at once."""

import numpy as np

from ..driver.requirements import warn_of_lost
from ..estimator.single import OneByOne


class Single(OneByOne):
    """Its instances, whose codes (n, attributes) and labels (n,) ``take`` learns; the members tell what it predicts."""

    def __init__(self, quantiser, take, classes, once, grows):
        super().__init__(quantiser, classes, once, grows)
        self._learn = take

    def _take(self, x, place):
        if not self.row.encode(x):
            return False
        codes = self.row.codes[np.newaxis]
        self._learn(codes, np.array([place], np.int32))
        self.look = self._quantiser.sample.add_row(self.row.numbers)
        if self.row.lost:
            warn_of_lost(self._quantiser)
        return True

    def predict(self, x):
        """Encode an instance; None: the members tell the rest."""
        self.row.encode(x, read_only=True)

    shares = predict
