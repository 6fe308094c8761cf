"""Tables of functions for compiled code, which chooses one of them by a number."""

from .compiled import njit
from .complete import complete


def choose(declared, table, file, others, *, number=int, **options):
    """A compiled function that is given a number and arguments, and calls the function of a table with that number.

    Parameters
    ----------
    declared, table, file
        As of `complete`: the table has compiled functions of the same arguments.
    others : compiled function of (number, *arguments)
        For numbers that the table does not have.
    number : function
        The number of what is declared.
    **options
        Of Numba's, which the functions have been compiled with.

    Returns
    -------
    function of (number, *arguments)
        It compares with one number after the other.

    Raises
    ------
    ValueError
        If the table lacks what is declared, or has what is not.
    """
    cases = {number(key): function for key, function in complete(declared, table, file).items()}
    names = {f"function_{known}": function for known, function in cases.items()}
    arguments = ", ".join(f"argument_{i}" for i in range(others.py_func.__code__.co_argcount - 1))
    # Written out: Numba would compile a chain of functions of two cases each one by one.
    source = [f"def chosen(number, {arguments}):"]
    source += [f"    if number == {known}: return function_{known}({arguments})" for known in cases]
    source += [f"    return others(number, {arguments})"]
    exec("\n".join(source), names | {"others": others}, written := {})
    return njit(inner=True, kept=False, **options)(written["chosen"])
