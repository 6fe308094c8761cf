"""How a node sees its numeric attributes."""

import numpy as np

from .kernel import FIXED, GAUSSIAN, HIGH, LOW, VFML, WEIGHT, ZOOMED, all_below

__all__ = ["CODES", "OBSERVERS", "Gaussian", "Zoomed"]

CODES = 255  # of a zoomed attribute: 0 to 254


# A node's splits: ``splits(arrays, row, attributes)`` gives for numeric attributes the thresholds
# (attributes, m), NaN where there is none, and the classes below them (attributes, m, classes).


class _Binned:
    """Counts in bins, a threshold between any two."""

    def __init__(self, bins=None):
        self.bins = self.default_bins if bins is None else bins
        self.table_width = self.bins

    def splits(self, arrays, row, attributes):
        left = arrays.table[row, attributes, : self.bins].cumsum(axis=1)[:, :-1]
        return self.thresholds(arrays, row, attributes), left

    def below(self, arrays, row, attribute, threshold):
        """Classes below one of the thresholds."""
        bins = 1 + (self.thresholds(arrays, row, [attribute])[0] < threshold).sum()
        return arrays.table[row, attribute, :bins].sum(axis=0)

    def known(self, arrays, row, attributes):
        """Classes (attributes, classes) of the known values."""
        return arrays.table[row, attributes, : self.bins].sum(axis=1)


class Zoomed(_Binned):
    """The board's: as many bins as there are, as fine as the codes that can come allow."""

    name, kind, default_bins = "zoomed", ZOOMED, 16

    def thresholds(self, arrays, row, attributes):
        low, shift = arrays.zoom[row, attributes, 0], arrays.zoom[row, attributes, 2]
        return low[:, None] + (np.arange(1.0, self.bins) * (1 << shift)[:, None])

    def zoom(self, arrays, row, attribute, low, high):
        """Set the codes [low, high) that can come."""
        shift = 0
        while self.bins << shift < high - low:
            shift += 1
        arrays.zoom[row, attribute] = low, high, shift


class Fixed(_Binned):
    """Equal widths between limits."""

    name, kind, default_bins = "fixed", FIXED, 16

    def thresholds(self, arrays, row, attributes):
        low, high = arrays.limits[attributes].T
        width = (high - low) / self.bins
        found = low[:, None] + width[:, None] * np.arange(1, self.bins)
        return np.where(width[:, None] > 0, found, np.nan)


class Vfml(_Binned):
    """The first distinct values are bins. Hulten and Domingos, VFML, 2003."""

    name, kind, default_bins = "vfml", VFML, 1000

    def thresholds(self, arrays, row, attributes):
        used = arrays.used[row, attributes]
        exists = np.arange(1, self.bins) < used[:, None]
        return np.where(exists, arrays.edges[row, attributes, 1:], np.nan)


class Gaussian:
    """A normal distribution per class; ``bins`` cut points between the least and greatest value.

    MOA's GaussianNumericAttributeClassObserver; Pfahringer, Holmes and Kirkby, PAKDD 2008.
    """

    name, kind, table_width = "gaussian", GAUSSIAN, 0

    def __init__(self, bins=None):
        self.bins = 10 if bins is None else bins

    def splits(self, arrays, row, attributes):
        moments = arrays.moments[row, attributes]
        some = moments[..., WEIGHT] > 0
        low = np.where(some, moments[..., LOW], np.inf).min(axis=1, keepdims=True)
        high = np.where(some, moments[..., HIGH], -np.inf).max(axis=1, keepdims=True)
        range_ = np.where(low < high, high - low, np.nan)
        cuts = range_ / (self.bins + 1) * np.arange(1, self.bins + 1) + low
        cuts = np.where((cuts > low) & (cuts < high), cuts, np.nan)
        # A value equal to the cut goes below it: the threshold is the next number.
        return np.nextafter(cuts, np.inf), all_below(moments, cuts)

    def below(self, arrays, row, attribute, threshold):
        """Classes below a threshold."""
        cut = np.full((1, 1), np.nextafter(threshold, -np.inf))
        return all_below(arrays.moments[row, [attribute]], cut)[0, 0]

    def known(self, arrays, row, attributes):
        """Classes (attributes, classes) of the known values."""
        return arrays.moments[row, attributes, :, WEIGHT]


OBSERVERS = {observer.name: observer for observer in (Zoomed, Fixed, Vfml, Gaussian)}
