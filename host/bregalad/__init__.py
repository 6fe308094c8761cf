"""Bregalad: Hoeffding trees learnt from data streams, with statistics and gains on an FPGA."""

from importlib.metadata import version

import lazy_loader

__version__ = version("bregalad")

# What __init__.pyi names is looked up when it is asked for: the trees bring pandas, Numba and
# scikit-learn, which take seconds, and much of the package needs none of them.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
