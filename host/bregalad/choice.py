"""Tables of functions for compiled code, which chooses one of them by a number."""

from .compiled import njit
from .complete import complete


def choose(declared, table, file, unknown, *, number=int):
    """A compiled function of (number, *arguments) that calls the function of a table with that number.

    ``declared``, ``table`` and ``file`` are as of `complete`; the table has compiled functions of the same arguments,
    ``number`` is that of what is declared. For numbers that the table does not have it is a ValueError that says
    ``unknown``.
    """
    cases = {number(key): function for key, function in complete(declared, table, file).items()}
    names = {f"function_{known}": function for known, function in cases.items()}
    count = next(iter(cases.values())).py_func.__code__.co_argcount
    arguments = ", ".join(f"argument_{i}" for i in range(count))
    # Written out: Numba would compile a chain of functions of two cases each one by one.
    source = [f"def chosen(number, {arguments}):"]
    source += [f"    if number == {known}: return function_{known}({arguments})" for known in cases]
    source += [f"    raise ValueError({unknown!r})"]
    exec("\n".join(source), names, written := {})
    return njit(inner=True, cached=False)(written["chosen"])
