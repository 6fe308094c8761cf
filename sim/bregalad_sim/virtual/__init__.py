"""Virtual boards: a board's own top level, compiled, pin by pin, for the unmodified driver."""

from .board import VirtualBoard, VirtualError
from .line import LineWire, serve_line
from .network import CableWire, serve_network

__all__ = ["CableWire", "LineWire", "VirtualBoard", "VirtualError", "serve"]

_SERVICES = {"serial": serve_line, "udp": serve_network}


def serve(board, opened=None, stop=None, **options):
    """Answer drivers until ``stop`` says so, in real time.

    Parameters
    ----------
    board : VirtualBoard
    opened : callable, optional
        Called with what `open_board` takes.
    stop : callable, optional
        Ends the service when it returns true; looked at many times a second.
    **options
        Of `serve_network`: ``port``, ``ip``.
    """
    _SERVICES[board.board.wire](board, opened or (lambda name: None), stop or (lambda: False), **options)
