"""Tables of functions for compiled code, which chooses one of them by a number."""

from .compiled import njit
from .complete import complete

__all__ = ["choose"]

_inlined = njit(inline="always")


def choose(declared, table, file, others, *, number=int):
    """A compiled function that is given a number and arguments, and calls the function of a table with that number.

    Parameters
    ----------
    declared, table, file
        As of `complete`: the table has compiled functions of the same one to four arguments.
    others : compiled function of (number, *arguments)
        For numbers that the table does not have.
    number : function
        The number of what is declared.

    Returns
    -------
    function of (number, *arguments)
        It compares with one number after the other, and is inlined where it is used.

    Raises
    ------
    ValueError
        If the table lacks what is declared, or has what is not.
    """
    step = _STEPS[others.py_func.__code__.co_argcount - 1]
    for key, function in reversed(complete(declared, table, file).items()):
        others = step(number(key), function, others)
    return others


# By the number of arguments, as Numba does not inline calls with any number of them.


def _of_one(known, function, others):
    @_inlined
    def chosen(number, a):
        if number == known:
            return function(a)
        return others(number, a)

    return chosen


def _of_two(known, function, others):
    @_inlined
    def chosen(number, a, b):
        if number == known:
            return function(a, b)
        return others(number, a, b)

    return chosen


def _of_three(known, function, others):
    @_inlined
    def chosen(number, a, b, c):
        if number == known:
            return function(a, b, c)
        return others(number, a, b, c)

    return chosen


def _of_four(known, function, others):
    @_inlined
    def chosen(number, a, b, c, d):
        if number == known:
            return function(a, b, c, d)
        return others(number, a, b, c, d)

    return chosen


_STEPS = {1: _of_one, 2: _of_two, 3: _of_three, 4: _of_four}
