"""In the place of `compiler` where there is no Numba: Python's interpreter runs what would be compiled."""

__all__ = ["Proxy", "Record", "compile_seconds", "define_proxy", "njit", "overload", "register"]


def compile_seconds():
    """None is spent on compiling."""
    return 0.0


def njit(**options):
    """A function as it is, and as its own ``py_func``."""

    def decorate(function):
        function.py_func = function
        return function

    return decorate


def overload(function, **options):
    """What only compiled code calls is left out."""
    return register


def register(record):
    """A `Record`, or a function, as it is."""
    return record


class Record:
    """Base of what is the type of a `Proxy` in compiled code."""


class Proxy:
    """Base of arguments that are handed over as one."""

    _fields: list = []

    def __init__(self, *values):
        for name, value in zip(self._fields, values, strict=True):
            setattr(self, name, value)


def define_proxy(proxy, record, fields):
    """Say what a `Proxy` has."""
    proxy._fields = fields
