"""How a node sees its numeric attributes."""

import math

import numpy as np
from numba import njit

__all__ = ["FIXED", "GAUSSIAN", "OBSERVERS", "VFML", "ZOOMED", "Fixed", "Gaussian", "Vfml",
           "Zoomed", "density_log2", "find_bin", "observe"]

ZOOMED, FIXED, VFML, GAUSSIAN = range(4)
CODES = 255  # of a zoomed attribute: 0 to 254

WEIGHT, MEAN, SQUARES, LOW, HIGH = range(5)  # of ``moments``


# One instance, compiled. Arrays go one by one, not as ``Arrays``: Numba counts references on every
# access to a tuple of them. ``zoom`` and the like are those of one row here.

@njit(cache=True, inline="always")
def fixed_bin(limits, bins, attribute, value):
    low, high = limits[attribute, 0], limits[attribute, 1]
    if not high > low:
        return 0
    index = np.int64(min(max((value - low) / (high - low) * bins, 0.0), bins - 1.0))
    # Rounding must not put a value on the other side of a threshold than routing does.
    if index > 0 and value < low + (high - low) / bins * index:
        index -= 1
    elif index < bins - 1 and value >= low + (high - low) / bins * (index + 1):
        index += 1
    return index


@njit(cache=True)
def find_bin(kind, bins, capacities, limits, zoom, edges, used, attribute, value):
    """Where a known value is counted, -1 if it is not."""
    capacity = capacities[attribute]
    if capacity > 0:
        return np.int64(value) if value < capacity else -1
    if kind == ZOOMED:
        return min(max(np.int64(value) - zoom[attribute, 0], 0) >> zoom[attribute, 2], bins - 1)
    if kind == FIXED:
        return fixed_bin(limits, bins, attribute, value)
    return max(_edges_up_to(edges, used, attribute, value) - 1, 0)


@njit(cache=True)
def _edges_up_to(edges, used, attribute, value):
    """How many edges are at or below a value."""
    low, high = 0, used[attribute]
    while low < high:
        middle = (low + high) // 2
        if edges[attribute, middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def _new_bin(table, edges, used, bins, attribute, value):
    """Give a new value its own bin while there is room; until then every bin is one value."""
    count = used[attribute]
    at = _edges_up_to(edges, used, attribute, value)
    if count == bins or (at > 0 and edges[attribute, at - 1] == value):
        return
    for i in range(count, at, -1):
        edges[attribute, i] = edges[attribute, i - 1]
        table[attribute, i] = table[attribute, i - 1]
    edges[attribute, at] = value
    table[attribute, at] = 0
    used[attribute] = count + 1


@njit(cache=True)
def observe(kind, bins, capacities, limits, table, zoom, edges, used, moments, x, label):
    """Count an instance's attributes in one row; NaN is missing."""
    for attribute in range(len(x)):
        value = x[attribute]
        if value != value:
            continue
        numeric = capacities[attribute] == 0
        if numeric and kind == GAUSSIAN:
            # Welford, Technometrics 1962.
            weight = moments[attribute, label, WEIGHT] + 1
            delta = value - moments[attribute, label, MEAN]
            mean = moments[attribute, label, MEAN] + delta / weight
            moments[attribute, label, WEIGHT] = weight
            moments[attribute, label, MEAN] = mean
            moments[attribute, label, SQUARES] += delta * (value - mean)
            if weight == 1 or value < moments[attribute, label, LOW]:
                moments[attribute, label, LOW] = value
            if weight == 1 or value > moments[attribute, label, HIGH]:
                moments[attribute, label, HIGH] = value
            continue
        if numeric and kind == VFML:
            _new_bin(table, edges, used, bins, attribute, value)
        index = find_bin(kind, bins, capacities, limits, zoom, edges, used, attribute, value)
        if index >= 0:
            table[attribute, index, label] += 1


@njit(cache=True)
def _deviation(moments):
    """The standard deviation of a sample."""
    return math.sqrt(moments[SQUARES] / (moments[WEIGHT] - 1)) if moments[WEIGHT] > 1 else 0.0


@njit(cache=True)
def density_log2(moments, value):
    """log2 of a normal density; a class of one value only is a point."""
    if moments[WEIGHT] == 0:
        return -np.inf
    deviation = _deviation(moments)
    if deviation == 0:
        return 0.0 if value == moments[MEAN] else -np.inf
    z = (value - moments[MEAN]) / deviation
    return -math.log2(math.sqrt(2 * math.pi) * deviation) - z * z / 2 * math.log2(math.e)


@njit(cache=True)
def _below(moments, value):
    """How many of a class are estimated at or below a value, as in MOA."""
    if value < moments[LOW]:
        return 0.0
    if value >= moments[HIGH]:
        return moments[WEIGHT]
    z = (value - moments[MEAN]) / _deviation(moments)
    return moments[WEIGHT] * (1 + math.erf(z / math.sqrt(2))) / 2


@njit(cache=True)
def _all_below(moments, values):
    """``_below`` of (attributes, classes) at (attributes, values)."""
    result = np.zeros((len(values), values.shape[1], moments.shape[1]))
    for attribute in range(len(values)):
        for i in range(values.shape[1]):
            for label in range(moments.shape[1]):
                if moments[attribute, label, WEIGHT] > 0 and not np.isnan(values[attribute, i]):
                    result[attribute, i, label] = _below(moments[attribute, label],
                                                         values[attribute, i])
    return result


# A node's splits: ``splits(arrays, row, attributes)`` gives for numeric attributes the thresholds
# (attributes, m), NaN where there is none, and the classes below them (attributes, m, classes).

class _Binned:
    """Counts in bins, a threshold between any two."""

    def __init__(self, bins=None):
        self.bins = self.default_bins if bins is None else bins
        self.table_width = self.bins

    def splits(self, arrays, row, attributes):
        left = arrays.table[row, attributes, :self.bins].cumsum(axis=1)[:, :-1]
        return self.thresholds(arrays, row, attributes), left

    def below(self, arrays, row, attribute, threshold):
        """Classes below one of the thresholds."""
        bins = 1 + (self.thresholds(arrays, row, [attribute])[0] < threshold).sum()
        return arrays.table[row, attribute, :bins].sum(axis=0)

    def known(self, arrays, row, attributes):
        """Classes (attributes, classes) of the known values."""
        return arrays.table[row, attributes, :self.bins].sum(axis=1)


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
        return np.nextafter(cuts, np.inf), _all_below(moments, cuts)

    def below(self, arrays, row, attribute, threshold):
        """Classes below a threshold."""
        cut = np.full((1, 1), np.nextafter(threshold, -np.inf))
        return _all_below(arrays.moments[row, [attribute]], cut)[0, 0]

    def known(self, arrays, row, attributes):
        """Classes (attributes, classes) of the known values."""
        return arrays.moments[row, attributes, :, WEIGHT]


OBSERVERS = {observer.name: observer for observer in (Zoomed, Fixed, Vfml, Gaussian)}
