"""Instances that are learnt while their code books change."""

import numpy as np

_AHEAD = 65_536  # instances that are encoded at a time; a look comes after 8,192
_EARLY = 4096  # instances up to which books are likely to change at every look


class Stretches:
    """Instances that are learnt, a stretch at a time: up to where books are to change.

    Early in a stream that is as far as the books are looked at next. Later the looks are taken
    ahead of learning, for mostly no book is to change.

    Parameters
    ----------
    quantiser : Quantiser
    X, threads, keep
        As in ``Quantiser.begin``; its errors come before anything is changed.
    """

    def __init__(self, quantiser, X, threads, keep):
        self._quantiser = quantiser
        self._threads = threads
        self._numbers, *nominal = quantiser._columns(X)
        if keep:
            self._numbers = self._numbers.copy()
        self._codes = np.empty((len(self._numbers), len(quantiser.books)), np.uint8)
        self._known = 0  # as far as codes are those of the books as they are
        self._before = None  # the sample as it was before what it has seen ahead, and
        self._due = []  # what is due after that
        if quantiser.sample.count < _EARLY:
            quantiser._check_finite(self._numbers)
        else:
            self._encode(0, len(self._codes))
        quantiser._encode_nominal(nominal, self._codes, False, threads)

    def __len__(self):
        return len(self._codes)

    def next(self, at, most):
        """The codes of the stretch that begins at instance ``at``, of so many instances at most."""
        sample, size = self._quantiser.sample, len(self._codes)
        stop = min(size, at + min(most, sample.next_look - sample.count))
        if stop > self._known:
            # More at once is quicker, but after a change it would be done for nothing.
            self._encode(at, stop if sample.count < _EARLY else min(size, at + _AHEAD))
        if sample.count >= _EARLY and stop < size:
            self._before = sample.copy()
            stop, self._due = self._advance(at, min(at + most, self._known))
        return self._codes[at:stop]

    def _advance(self, at, stop):
        """Let the sample see instances until books are due: where that is, and which."""
        sample = self._quantiser.sample
        while at < stop:
            look = sample.next_look
            end = min(stop, at + look - sample.count)
            sample.add(self._numbers[at:end], self._codes[at:end])
            at = end
            if sample.count == look and (due := self._quantiser.due()):
                return at, due
        return at, []

    def _encode(self, start, stop):
        part = slice(start, stop)
        self._quantiser._encode_numbers(self._numbers[part], self._codes[part], self._threads)
        self._known = stop

    def learnt(self, at, count):
        """Take note of ``count`` instances learnt from ``at`` on.

        Returns
        -------
        list of int
            The columns whose books are to change now.
        """
        before, self._before = self._before, None
        if before is not None:
            if self._quantiser.sample.count == before.count + count:
                return self._due
            self._quantiser.sample = before  # not all that it has seen was learnt
        return self._advance(at, at + count)[1]

    def forget(self):
        """Codes are to be found anew: books have changed."""
        self._known = 0
