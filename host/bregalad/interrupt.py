"""Ctrl-C that waits until what it would tear apart agrees again."""

import signal
import threading
from contextlib import contextmanager

__all__ = ["check_interrupt", "deferred_interrupt", "hold_interrupt"]

_held = None  # by whom an interrupt is held back: a list, not empty if one has come; None: nobody


@contextmanager
def deferred_interrupt():
    """Hold back a KeyboardInterrupt: it comes at the end, or with `check_interrupt`.

    One that has come is raised at the end even if that is an exception. May be nested: the
    outermost decides. Only the main thread gets interrupts; in others, and where the program
    handles SIGINT itself, nothing is changed.
    """
    global _held
    if (not _in_main_thread() or _held is not None
            or signal.getsignal(signal.SIGINT) is not signal.default_int_handler):
        yield
        return
    came = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    _held = came
    try:
        yield
    finally:
        _held = None
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if came:
            raise KeyboardInterrupt


def check_interrupt():
    """Raise the KeyboardInterrupt that is held back, if one has come."""
    if _held and _in_main_thread():
        _held.clear()
        raise KeyboardInterrupt


def hold_interrupt():
    """Hold a KeyboardInterrupt back again, for a better moment.

    Returns
    -------
    bool
        False if nobody holds interrupts back.
    """
    if _held is None or not _in_main_thread():
        return False
    _held.append(signal.SIGINT)
    return True


def _in_main_thread():
    return threading.current_thread() is threading.main_thread()
