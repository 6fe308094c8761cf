"""Top levels of boards: the accelerator, its link, the board's clock and pins."""

from .catalogue import BOARDS, Board, find_board

__all__ = ["BOARDS", "Board", "find_board"]
