"""What each part of a board lets through: its link, its memory, its array."""

from bregalad.protocol.commands import RECORD_HEADER

from ..costs import Costs

__all__ = ["limits", "wire_of"]

_BITS = 10  # of a byte on a serial line
_ETHERNET = 118e6  # payload, bytes per second
_LABEL = 1  # byte of a row in a board's own memory


def wire_of(board):
    """A board's wire: what it is, and the bytes per second that it carries."""
    if board.wire == "udp":
        return "Gigabit Ethernet", _ETHERNET
    baud = board.top.baud
    return f"UART, {baud / 1e6:g} Mbaud", baud / _BITS


def limits(board, cells, clock_hz):
    """Attribute values per second that each part of a board lets through: a dict.

    Parameters
    ----------
    board : Board
    cells : int
        d, numeric attributes.
    clock_hz : float
        Of the array.

    Returns
    -------
    dict
        ``link``; ``memory``, the board's own, or a word of its bus per clock where it has none; ``array``.
    """
    costs = Costs(board.geometry, cells)
    _, link = wire_of(board)
    own = board.memory_rate
    around = _LABEL if own else RECORD_HEADER.size  # bytes of a row, or a record, that are no codes
    return {
        "link": link * cells / (around + cells),
        "memory": own * cells / (around + cells) if own else clock_hz * cells / costs.supply,
        "array": clock_hz * cells * (1 - costs.blocked) / (costs.counting + costs.snapshots),
    }
