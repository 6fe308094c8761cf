"""Bounds on how far measured gains may be off."""

import numpy as np

from ..choice import choose
from ..compiled import njit
from ..criteria import DECLARED, covered, criterion_of
from ..tree.table import BOUND, DECIDED, GAIN, RIVAL, N
from .criteria import span

HOEFFDING, MCDIARMID, CONFIDENCE, PRACTICAL = range(4)

TWO_CLASSES = ("confidence", "confidence-practical")  # and binary splits

_inlined = njit(inline="always")


def _by_criterion(bound, **table):
    """Where a bound depends on the criterion: one inlined function of those of each that it covers."""
    table = {name: _inlined(function) for name, function in table.items()}
    unknown = "the bound does not know the criterion"
    return choose(covered(bound), table, __file__, unknown, number=lambda name: criterion_of(name).number)


_factor = _by_criterion(
    "mcdiarmid",
    information_gain=lambda n, classes: 6 * (classes * np.log2(np.e * n) + np.log2(2 * n)) + 2 * np.log2(classes),
    gini=lambda n, classes: 8.0,
)
_width = _by_criterion(
    "confidence",
    information_gain=lambda m, inverse: np.log(m) * np.sqrt(2 / m * np.log(4 * inverse)) + 2 / m,
    gini=lambda m, inverse: np.sqrt(8 / m * np.log(2 * inverse)) + 4 * np.sqrt(1 / m),
    kearns_mansour=lambda m, inverse: 4 * np.sqrt(1 / m * np.log(8 * inverse)),
)
# By number. De Rosa and Cesa-Bianchi's entropy is -(p/2) ln p - (q/2) ln q.
_UNITS = np.ones(1 + max(criterion.number for criterion in DECLARED))
_UNITS[criterion_of("information_gain").number] = np.log(2.0) / 2


@njit()
def hoeffding_bound(criterion, n, classes, certainty):
    """Hoeffding's epsilon after n instances; ``certainty`` is ln(1 / delta).

    Source: Domingos and Hulten, Mining high-speed data streams, KDD 2000.
    """
    return span(criterion, classes) * np.sqrt(certainty / (2 * n))


@njit()
def mcdiarmid_bound(criterion, n, classes, certainty):
    """McDiarmid's epsilon after n instances; ``certainty`` is ln(1 / delta).

    Source: Rutkowski et al., Decision trees for mining data streams based on the McDiarmid's
    bound, IEEE TKDE 2013.
    """
    factor = _factor(criterion, n, classes)
    return factor * np.sqrt(certainty / (2 * n))


@njit()
def confidence_bound(criterion, n, depth, t, attributes):
    """Half-width of the confidence interval of an impurity after a split, in ``unit_of``'s unit.

    The node has n instances and lies ``depth`` steps from the root; the tree has learnt t instances.

    Source: De Rosa and Cesa-Bianchi, Splitting with confidence in decision trees with application
    to stream mining, IJCNN 2015.
    """
    m = np.float64(n)
    inverse = np.float64(t) * (depth + 1) * (depth + 2) * (t + 1.0) ** 3 * attributes * m  # 1 / d
    return _width(criterion, m, inverse)


@njit()
def practical_bound(scale, n, depth, t, attributes):
    """The gap that is enough in practice; parameters as in ``confidence_bound``.

    Source: the same, equation 7.
    """
    m = np.float64(n)
    return scale * np.sqrt(np.log(m**2 * (depth + 1.0) ** 2 * t * attributes) / m)


@njit()
def epsilon(options, n, classes, depth, t, attributes):
    """Epsilon of the bound that ``SplitPolicy.options`` name, in ``unit_of``'s unit."""
    if options.bound == HOEFFDING:
        return hoeffding_bound(options.criterion, n, classes, options.certainty)
    if options.bound == MCDIARMID:
        return mcdiarmid_bound(options.criterion, n, classes, options.certainty)
    if options.bound == CONFIDENCE:
        return confidence_bound(options.criterion, n, depth, t, attributes)
    return practical_bound(options.scale, n, depth, t, attributes)


@njit()
def unit_of(bound, criterion):
    """What a difference of gains is multiplied by to be compared with epsilon."""
    return _UNITS[criterion] if bound == CONFIDENCE or bound == PRACTICAL else 1.0


@njit()
def measured(evidence, options, n, gain, rival, classes, depth, t, attributes):
    """Write what a decision is based on, for `evidence` of a node; parameters as in `epsilon`."""
    asked = epsilon(options, n, classes, depth, t, attributes) / unit_of(options.bound, options.criterion)
    evidence[DECIDED + N], evidence[DECIDED + GAIN], evidence[DECIDED + RIVAL] = n, gain, rival
    evidence[DECIDED + BOUND] = 2 * asked if options.bound == CONFIDENCE else asked
