"""The trees by name, and any of them from a file."""

from . import storage
from .confidence import CorrHTree, CTree
from .efdt import EFDT
from .vfdt import VFDT

__all__ = ["TREES", "load_tree"]

TREES = {"vfdt": VFDT, "efdt": EFDT, "ctree": CTree, "corrhtree": CorrHTree}


def load_tree(path, **changes):
    """Read a saved tree of any class; ``changes`` replace its parameters (``board=...``).

    Raises
    ------
    ValueError
        If the file is none of this version's, or damaged.
    """
    return storage.load(tuple(TREES.values()), path, changes)
