"""What compiled code is written with: `compiler`, or where there is no Numba `interpreter`, which leaves it Python's.

What drives a board needs no Numba; the emulated board does.
"""

__all__ = ["COMPILES", "Proxy", "Record", "compile_seconds", "define_proxy", "njit", "overload", "register"]

try:
    from .compiler import Proxy, Record, compile_seconds, define_proxy, njit, overload, register
except ModuleNotFoundError as error:
    if error.name != "numba":
        raise
    from .interpreter import Proxy, Record, compile_seconds, define_proxy, njit, overload, register  # type: ignore

    COMPILES = False
else:
    COMPILES = True
