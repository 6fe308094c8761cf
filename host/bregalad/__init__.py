"""Bregalad: Hoeffding trees learnt from data streams, with statistics and gains on an FPGA."""

from importlib import import_module

# Looked up when asked for: the trees bring pandas, Numba and scikit-learn, which take seconds,
# and much of the package needs none of them.
_HOMES = {
    "Board": "boards", "BoardError": "boards", "open_board": "boards",
    "PRESETS": "geometry", "Geometry": "geometry",
    "TREES": "trees.catalogue", "load_tree": "trees.catalogue",
    "CTree": "trees.confidence", "CorrHTree": "trees.confidence",
    "EFDT": "trees.efdt", "VFDT": "trees.vfdt",
}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    return value


def __dir__():
    return sorted({*globals(), *_HOMES})
