"""Ties: leaves whose best attributes the bound cannot tell apart.

Source: Holmes, Kirkby and Pfahringer, Tie-breaking in Hoeffding trees, 2005.
"""

from ..compiled import njit

PLAIN, GENUINE, WAITING = range(3)
FIRST_WAIT = 3000  # own instances

_ALPHA = 5


@njit()
def genuine(best, second, worst):
    """Are the two best attributes much closer to each other than the second is to the worst?"""
    return _ALPHA * (best - second) < second - worst
