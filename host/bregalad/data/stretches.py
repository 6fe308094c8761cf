"""Instances that are learnt while their code books change."""

import numpy as np

_AHEAD = 65_536  # instances that are encoded at a time; a look comes after 8,192
_EARLY = 4096  # instances up to which books are likely to change at every look


class Stretches:
    """Instances that are learnt, a stretch at a time: up to where the books are looked at next.

    Parameters
    ----------
    quantiser : Quantiser
    X, threads, keep
        As in ``Quantiser.begin``; its errors come before anything is changed.
    """

    def __init__(self, quantiser, X, threads, keep):
        self._quantiser = quantiser
        self._threads = threads
        self._numbers, nominal = quantiser._columns(X)
        if keep:
            self._numbers = self._numbers.copy()
        self._codes = np.empty((len(self._numbers), len(quantiser.books)), np.uint8)
        self._known = 0  # as far as codes are those of the books as they are
        quantiser._check_finite(self._numbers)
        quantiser._encode_nominal(nominal, self._codes, False)

    def __len__(self):
        return len(self._codes)

    def next(self, at, most):
        """The codes of the stretch that begins at instance ``at``, of so many instances at most."""
        sample = self._quantiser.sample
        stop = min(len(self), at + min(most, sample.next_look - sample.count))
        if stop > self._known:
            # More at once is quicker, but after a change it would be done for nothing.
            self._known = stop if sample.count < _EARLY else min(len(self), at + _AHEAD)
            part = slice(at, self._known)
            self._quantiser.tables.encode(self._numbers[part], self._codes[part], self._threads)
        return self._codes[at:stop]

    def learnt(self, at, count):
        """Take note of ``count`` instances learnt from ``at`` on, a stretch or its beginning.

        Returns
        -------
        list of int
            The columns whose books are to change now.
        """
        sample = self._quantiser.sample
        look = sample.next_look
        sample.add(self._numbers[at : at + count])
        return self._quantiser.due() if count and sample.count == look else []

    def forget(self):
        """Codes are to be found anew: books have changed."""
        self._known = 0
