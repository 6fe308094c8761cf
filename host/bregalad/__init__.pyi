"""What the package offers; read by type checkers, and as the package is loaded."""

from .boards import Board, BoardError, open_board
from .estimator.resident import Resident
from .geometry import PRESETS, Geometry
from .learners.catalogue import TREES, load_tree
from .learners.classical.utgoff import ID5R, ITI
from .learners.hoeffding import CVFDT, EFDT, EFHAT, HAT, VFDT, CorrHTree, CTree
from .learners.positive.puuvfdt import PuuCVFDT, PuuVFDT

__version__: str

__all__ = [
    "PRESETS",
    "TREES",
    "Board",
    "BoardError",
    "CTree",
    "CVFDT",
    "CorrHTree",
    "EFDT",
    "EFHAT",
    "Geometry",
    "HAT",
    "ID5R",
    "ITI",
    "PuuCVFDT",
    "PuuVFDT",
    "Resident",
    "VFDT",
    "load_tree",
    "open_board",
]
