"""Bregalad: Hoeffding trees learnt from data streams, with statistics and gains on an FPGA."""

from .boards import Board, BoardError, open_board
from .geometry import PRESETS, Geometry
from .trees.confidence import CorrHTree, CTree
from .trees.efdt import EFDT
from .trees.vfdt import VFDT

__all__ = ["EFDT", "PRESETS", "VFDT", "Board", "BoardError", "CTree", "CorrHTree", "Geometry",
           "open_board"]
