"""What each part of a board lets through: its link, its memory, its array."""

_BITS = 10  # of a byte on a serial line
_ETHERNET = 118e6  # payload, bytes per second
_LABEL = 1  # byte of a row
_HEAD = 2  # of one that crosses a link: flags, too
_GRACE = 200  # instances between attempts, the default


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
    g = board.geometry
    passes, (_, link) = g.passes_for(cells), wire_of(board)
    snapshots = g.bins * passes / _GRACE  # clocks that attempts take from counting, per instance
    return {
        "link": link * cells / (_HEAD + cells),
        "memory": (board.memory_rate or clock_hz * g.bus_bytes) * cells / (_LABEL + cells),
        "array": clock_hz * cells / (passes + snapshots),
    }
