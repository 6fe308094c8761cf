"""Impurities per instance in compiled code, by a criterion's number."""

from ..choice import choose
from ..compiled import njit
from ..criteria import DECLARED, criterion_of

INFORMATION_GAIN, GINI, KEARNS_MANSOUR, CLASSIFICATION_ERROR = (
    criterion_of(name).number for name in ("information_gain", "gini", "kearns_mansour", "classification_error")
)

_inlined = njit(inline="always")


def _by_criterion(part):
    """One inlined function of that part of all criteria."""
    table = {criterion.number: _inlined(getattr(criterion, part)) for criterion in DECLARED}
    return choose(table, table, __file__, "no such criterion")


_impurity, _span = _by_criterion("impurity"), _by_criterion("span")


@njit()
def impurity(criterion, counts):
    """Impurity of class counts, int array (classes,), by a criterion's number; ValueError if there is no such.

    It is 0 without counts. Kearns-Mansour looks at the first two classes.
    """
    total = 0.0
    for count in counts:
        total += count
    if total == 0:
        return 0.0
    return _impurity(criterion, counts, total)


@njit()
def remainder(criterion, sides):
    """Impurity that a split leaves, times instances; ``sides`` are an int array (children, classes)."""
    left = 0.0
    for counts in sides:
        total = 0
        for count in counts:
            total += count
        left += total * impurity(criterion, counts)
    return left


@njit()
def span(criterion, classes):
    """R, the range of an impurity of so many classes; ValueError if there is no such criterion."""
    return _span(criterion, classes)
