"""Bregalad: Hoeffding trees learnt from data streams, with statistics and gains on an FPGA."""

from .boards import Board, BoardError, open_board
from .geometry import PRESETS, Geometry
from .trees.catalogue import TREES, load_tree
from .trees.confidence import CorrHTree, CTree
from .trees.efdt import EFDT
from .trees.vfdt import VFDT

__all__ = ["EFDT", "PRESETS", "TREES", "VFDT", "Board", "BoardError", "CTree", "CorrHTree",
           "Geometry", "load_tree", "open_board"]
