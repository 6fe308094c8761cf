"""The trees by name, and any of them from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..estimator.saving import storage
from .classical.utgoff import ID5R, ITI
from .confidence import CorrHTree, CTree
from .cvfdt import CVFDT
from .efdt import EFDT
from .efhat import EFHAT
from .hat import HAT
from .positive.puucvfdt import PuuCVFDT
from .positive.puuvfdt import PuuVFDT
from .vfdt import VFDT

if TYPE_CHECKING:
    from ..estimator.tree import StreamTree
    from ..hints import Path
    from .classical.estimator import ClassicalTree
    from .positive.estimator import PositiveLearner

__all__ = ["CLASSICAL", "POSITIVE", "TREES", "load_tree"]

CLASSICAL = {"id5r": ID5R, "iti": ITI}  # on the host, with all instances
POSITIVE = {"puuvfdt": PuuVFDT, "puucvfdt": PuuCVFDT}  # of positive and unlabelled instances
TREES = {"vfdt": VFDT, "efdt": EFDT, "ctree": CTree, "corrhtree": CorrHTree, "hat": HAT, "efhat": EFHAT, "cvfdt": CVFDT}


def load_tree(path: Path, **changes: Any) -> StreamTree | ClassicalTree | PositiveLearner:
    """Read a saved tree of any class; ``changes`` replace its parameters (``board=...``).

    Raises
    ------
    ValueError
        If the file is none of this version's, or damaged.
    """
    return storage.load((*TREES.values(), *CLASSICAL.values(), *POSITIVE.values()), path, changes)
