"""How a node sees an attribute."""

import math

import numpy as np

from .node import MULTIWAY, NUMERIC

CODES = 255  # of a binned attribute: 0 to 254
BINS, LEAST = 3, 0.5  # naive Bayes: a bin and those beside it, which are taken to hold half as much at least
SMOOTHING = 16  # naive Bayes: a count of n weighs n + 1/16, against n_k + 1 instances


# Of every observer: ``splits()`` gives thresholds (m,), and the classes of their sides (m, sides, classes); ``sides``
# those of one threshold; ``log2_shares`` naive Bayes' terms of classes, each with its instances; ``side`` the observer
# of a child by a split of this attribute, ``fresh`` by another one's.


class _Counts:
    """Classes counted by bin."""

    def __init__(self, bins, classes):
        self.classes = classes
        self.table = [[0] * classes for _ in range(bins)]

    @property
    def counts(self):
        """The table as an array (bins, classes)."""
        return np.array(self.table, np.int64).reshape(-1, self.classes)

    def count(self, value, label, weight=1):
        """Count an instance with a known value."""
        index = self.bin_of(value)
        if index is not None:
            self.table[index][label] += weight

    def side(self, threshold, branch, seen):
        """Of a child by a split here; ``seen``: of the values that were counted only."""
        return self.fresh()


class Values(_Counts):
    """A nominal attribute's; ``kind`` is that of its splits."""

    def __init__(self, capacity, classes, kind):
        super().__init__(capacity, classes)
        self.kind = kind

    def fresh(self):
        return Values(len(self.table), self.classes, self.kind)

    def bin_of(self, value):
        return int(value) if 0 <= value < len(self.table) else None

    def log2_shares(self, value, seen):
        index = self.bin_of(value)
        if index is None:
            return [0.0] * len(seen)
        counts = self.table[index]
        return [math.log2((SMOOTHING * counts[label] + 1) / (SMOOTHING * (n + 1))) for label, n in seen]

    def splits(self):
        counts = self.counts
        if self.kind == MULTIWAY:
            return np.zeros(1), counts[None]
        return np.arange(float(len(counts))), np.stack([counts, counts.sum(axis=0) - counts], axis=1)

    def sides(self, threshold):
        counts = self.counts
        if self.kind == MULTIWAY:
            return counts[: np.flatnonzero(counts.any(axis=1)).max(initial=0) + 1]
        return np.stack([counts[int(threshold)], counts.sum(axis=0) - counts[int(threshold)]])


class BinWindow(_Counts):
    """The board's: as many bins as there are, as fine as the codes that can come, [low, high), allow."""

    kind = NUMERIC

    def __init__(self, bins, classes, low=0, high=CODES):
        super().__init__(bins, classes)
        self.bins, self.low, self.high, self.shift = bins, low, high, 0
        while bins << self.shift < high - low:
            self.shift += 1

    def fresh(self):
        return BinWindow(self.bins, self.classes, self.low, self.high)

    def side(self, threshold, branch, seen):
        low, high = self.low, self.high
        if seen:
            bins = [index for index, counts in enumerate(self.table) if any(counts)]
            low, high = min(low + (bins[0] << self.shift), high), min(high, low + (bins[-1] + 1 << self.shift))
        middle = min(max(threshold, low), high)
        return BinWindow(self.bins, self.classes, *((middle, high) if branch else (low, middle)))

    def bin_of(self, value):
        return min(max(int(value) - self.low, 0) >> self.shift, self.bins - 1)

    def splits(self):
        counts = self.counts
        left = counts.cumsum(axis=0)[:-1]
        thresholds = self.low + (np.arange(1, self.bins) << self.shift)
        return thresholds, np.stack([left, counts.sum(axis=0) - left], axis=1)

    def sides(self, threshold):
        counts = self.counts
        # Those that begin below it; of a split that was made with other bins it may be within one.
        left = counts[: max(-(-(threshold - self.low) >> self.shift), 1)].sum(axis=0)
        return np.stack([left, counts.sum(axis=0) - left])

    def log2_shares(self, value, seen):
        index, none = self.bin_of(value), [0] * self.classes
        here, below = self.table[index], self.table[index - 1] if index else none
        above = self.table[index + 1] if index + 1 < self.bins else none
        shares = []
        for label, n in seen:  # the mean of the logarithms is that of the product
            count = SMOOTHING * here[label] + 1
            least = LEAST * count
            count *= max(SMOOTHING * below[label] + 1, least) * max(SMOOTHING * above[label] + 1, least)
            shares.append(math.log2(count) / BINS - math.log2(SMOOTHING * (n + 1)))
        return shares
