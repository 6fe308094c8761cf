"""Boards: one interface, whatever executes the commands."""

from ..geometry import Geometry
from .base import Board, BoardError

__all__ = ["BOARDS", "Board", "BoardError", "open_board"]

BOARDS = {  # name: what it is
    "emulated": "the golden model, compiled by Numba: fast, needs no FPGA and no simulator",
    "simulated": "the RTL itself, compiled by Verilator: clock by clock, needs g++ and make",
}


def open_board(name, geometry=None, **options):
    """Open a board by name and check its identity.

    Parameters
    ----------
    name : str
        ``"emulated"`` (the golden model, compiled) or ``"simulated"`` (the RTL, compiled).
    geometry : Geometry or str, optional
        Sizes, or the name of a preset; `Geometry()` if not given.
    **options
        Handed to the board, such as ``memory_size``.

    Raises
    ------
    ValueError
        If there is no such board or preset.
    BoardError
        If the board is not what it was taken for.
    """
    geometry = Geometry() if geometry is None else Geometry.of(geometry)
    # Imported here: numba takes a second, the simulated board needs Amaranth and Verilator.
    if name == "emulated":
        from .emulated import EmulatedBoard as Kind
    elif name == "simulated":
        from .simulated import SimulatedBoard as Kind
    else:
        raise ValueError(f"no board {name!r}; there are {', '.join(BOARDS)}")
    board = Kind(geometry, **options)
    try:
        board.check_identity()
    except BaseException:
        board.close()
        raise
    return board
