"""What the package offers; read by type checkers, and as the package is loaded."""

from .boards import Board, BoardError, open_board
from .geometry import PRESETS, Geometry
from .trees.catalogue import TREES, load_tree
from .trees.classical.utgoff import ID5R, ITI
from .trees.confidence import CorrHTree, CTree
from .trees.cvfdt import CVFDT
from .trees.efdt import EFDT
from .trees.efhat import EFHAT
from .trees.hat import HAT
from .trees.positive.puucvfdt import PuuCVFDT
from .trees.positive.puuvfdt import PuuVFDT
from .trees.resident import Resident
from .trees.vfdt import VFDT

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
