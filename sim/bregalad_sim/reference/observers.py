"""How a node sees an attribute."""

import math
from dataclasses import dataclass

import numpy as np

from .node import MULTIWAY, NUMERIC

__all__ = ["CODES", "OBSERVERS", "Gaussian", "Values", "Zoomed"]

CODES = 255  # of a zoomed attribute: 0 to 254
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


class Zoomed(_Counts):
    """The board's: as many bins as there are, as fine as the codes that can come, [low, high), allow."""

    kind, default_bins = NUMERIC, 16

    def __init__(self, bins, classes, low=0, high=CODES):
        super().__init__(bins, classes)
        self.bins, self.low, self.high, self.shift = bins, low, high, 0
        while bins << self.shift < high - low:
            self.shift += 1

    def fresh(self):
        return Zoomed(self.bins, self.classes, self.low, self.high)

    def side(self, threshold, branch, seen):
        low, high = self.low, self.high
        if seen:
            bins = [index for index, counts in enumerate(self.table) if any(counts)]
            low, high = min(low + (bins[0] << self.shift), high), min(high, low + (bins[-1] + 1 << self.shift))
        middle = min(max(threshold, low), high)
        return Zoomed(self.bins, self.classes, *((middle, high) if branch else (low, middle)))

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


@dataclass
class _Normal:
    """A normal distribution; Welford, Technometrics 1962."""

    weight: int = 0
    mean: float = 0.0
    squares: float = 0.0  # sum of squared deviations
    low: float = math.inf
    high: float = -math.inf

    def add(self, value):
        self.weight += 1
        delta = value - self.mean
        self.mean += delta / self.weight
        self.squares += delta * (value - self.mean)
        self.low, self.high = min(self.low, value), max(self.high, value)

    @property
    def deviation(self):
        """The standard deviation of a sample."""
        return math.sqrt(self.squares / (self.weight - 1)) if self.weight > 1 else 0.0

    def log2_density(self, value):
        """A class of one value only is a point."""
        if not self.weight:
            return -math.inf
        deviation = self.deviation
        if deviation == 0:
            return 0.0 if value == self.mean else -math.inf
        z = (value - self.mean) / deviation
        return -math.log2(math.sqrt(2 * math.pi) * deviation) - z * z / 2 * math.log2(math.e)

    def below(self, value):
        """How many are estimated at or below a value, as in MOA."""
        if not self.weight or value < self.low:
            return 0.0
        if value >= self.high:
            return float(self.weight)
        return self.weight * (1 + math.erf((value - self.mean) / self.deviation / math.sqrt(2))) / 2


class Gaussian:
    """A normal distribution per class; ``bins`` cut points between the least and greatest value.

    MOA's GaussianNumericAttributeClassObserver; Pfahringer, Holmes and Kirkby, PAKDD 2008.
    """

    kind, default_bins = NUMERIC, 10

    def __init__(self, bins, classes):
        self.bins, self.normals = bins, [_Normal() for _ in range(classes)]

    def fresh(self):
        return Gaussian(self.bins, len(self.normals))

    def side(self, threshold, branch, seen):
        return self.fresh()

    def count(self, value, label):
        self.normals[label].add(value)

    def log2_shares(self, value, seen):
        return [self.normals[label].log2_density(value) for label, _ in seen]

    def splits(self):
        low, high = min(normal.low for normal in self.normals), max(normal.high for normal in self.normals)
        cuts = [(high - low) / (self.bins + 1) * i + low for i in range(1, self.bins + 1)] if low < high else []
        cuts = [cut for cut in cuts if low < cut < high]
        # A value equal to the cut goes below it: the threshold is the next number.
        sides = np.array([self._sides(cut) for cut in cuts]).reshape(-1, 2, len(self.normals))
        return np.nextafter(cuts, math.inf), sides

    def sides(self, threshold):
        return np.array(self._sides(math.nextafter(threshold, -math.inf)))

    def _sides(self, cut):
        left = [normal.below(cut) for normal in self.normals]
        return left, [normal.weight - below for normal, below in zip(self.normals, left, strict=True)]


OBSERVERS = {"zoomed": Zoomed, "gaussian": Gaussian}
