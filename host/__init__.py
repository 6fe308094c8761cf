"""Bregalad: Hoeffding trees learnt from data streams, with statistics and gains on an FPGA."""

from .boards import Board, BoardError, open_board
from .geometry import PRESETS, Geometry
from .trees.vfdt import VFDT

__all__ = ["PRESETS", "VFDT", "Board", "BoardError", "Geometry", "open_board"]
