"""Instances that are learnt while their code books change."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np

_AHEAD = 65_536  # instances that are encoded at a time; a look comes after 8,192
_EARLY = 4096  # instances up to which books are likely to change at every look
_PART = 4096  # instances that are encoded while those before them are learnt


class Stretches:
    """Instances that are to be learnt, a stretch at a time: up to where books change.

    Early in a stream that is as far as they are looked at next. Later the looks are taken ahead of learning, for mostly
    no book is to change, and at a stretch's end a linked board's leaves are read. In between nothing else may be
    learnt. ``keep``: ``X`` may change before all are. Parameters and errors as in ``Quantiser.encode``.
    """

    def __init__(self, quantiser, X, threads=1, *, keep=False):
        self._quantiser = quantiser
        self._threads = threads
        self._pool = None
        self._coming = deque()  # parts that others encode: where each begins, and its future
        self._numbers, nominal = quantiser._columns(X)
        if keep:
            self._numbers = self._numbers.copy()
        elif threads > 1 and len(self._numbers) > _PART:  # a call that a cut link leaves may end in a forked process
            self._pool = ThreadPoolExecutor(threads - 1)
        self._codes = np.empty((len(self._numbers), len(quantiser.books)), np.uint8)
        self._known = 0  # as far as codes are those of the books as they are
        self._before = None  # the sample as it was before what it has taken in ahead, and
        self._due = []  # what is due after that
        quantiser._check_finite(self._numbers)
        quantiser._encode_nominal(nominal, self._codes, False)

    def __len__(self):
        return len(self._codes)

    def next(self, at, most):
        """The codes of the stretch that begins at instance ``at``, of so many instances at most."""
        sample = self._quantiser.sample
        stop = min(len(self), at + min(most, sample.next_look - sample.count, _PART if self._pool else most))
        if stop > self._known:
            # More at once is quicker, but after a change it would be done for nothing.
            self._known = stop if sample.count < _EARLY else min(len(self), at + _AHEAD)
            if self._pool is None:
                self._encode(at, self._known, self._threads)
            else:
                for begin in range(at, self._known, _PART):
                    end = min(begin + _PART, self._known)
                    self._coming.append((begin, self._pool.submit(self._encode, begin, end)))
        while self._coming and self._coming[0][0] < stop:
            self._coming.popleft()[1].result()
        if self._pool is None and sample.count >= _EARLY:
            self._before = deepcopy(sample)
            stop, self._due = self._look(at, min(at + most, self._known))
        return self._codes[at:stop]

    def _look(self, at, stop):
        """Have the sample take in instances, until books are due: where that is, and a list of their columns."""
        sample, due = self._quantiser.sample, []
        while at < stop and not due:
            look = sample.next_look
            end = min(stop, at + look - sample.count)
            sample.add(self._numbers[at:end])
            at, due = end, self._quantiser.due() if sample.count == look else []
        return at, due

    def _encode(self, begin, end, threads=1):
        self._quantiser.tables.encode(self._numbers[begin:end], self._codes[begin:end], threads)

    def learnt(self, at, count):
        """Take note of ``count`` instances learnt from ``at`` on, a stretch or its beginning.

        Returns a list of the columns whose books are to change now.
        """
        before, self._before = self._before, None
        if before is not None:
            if self._quantiser.sample.count == before.count + count:
                return self._due
            self._quantiser.sample = before  # not all that it has taken in was learnt
        return self._look(at, at + count)[1]

    def forget(self):
        """Codes are to be found anew: books have changed."""
        self._known = 0
        for _, part in self._coming:
            part.cancel() or part.result()  # or it would read books that change, and write codes of the old ones
        self._coming.clear()
