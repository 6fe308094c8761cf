"""Ctrl-C that waits until the tree, the board and the driver agree again."""

import signal
import threading
from contextlib import contextmanager

__all__ = ["deferred_interrupt"]


@contextmanager
def deferred_interrupt():
    """Hold back a KeyboardInterrupt; yields a function that raises it if one has come.

    Only the main thread gets interrupts; in others, and where the program handles SIGINT itself,
    nothing is changed.
    """
    if (threading.current_thread() is not threading.main_thread()
            or signal.getsignal(signal.SIGINT) is not signal.default_int_handler):
        yield lambda: None
        return
    came = False

    def note(number, frame):
        nonlocal came
        came = True

    def check():
        if came:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    check()
