"""What the package offers; read by type checkers, and as the package is loaded."""

from .boards import Board, BoardError, open_board
from .estimator.resident import Resident
from .geometry import PRESETS, Geometry
from .learners.catalogue import TREES, load_tree
from .learners.classical.utgoff import ID5R, ITI
from .learners.confidence import CorrHTree, CTree
from .learners.cvfdt import CVFDT
from .learners.efdt import EFDT
from .learners.efhat import EFHAT
from .learners.hat import HAT
from .learners.positive.puucvfdt import PuuCVFDT
from .learners.positive.puuvfdt import PuuVFDT
from .learners.vfdt import VFDT

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
