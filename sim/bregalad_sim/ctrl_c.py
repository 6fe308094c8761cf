"""Ctrl-C at a chosen moment, for tests."""

import signal
import sys
from contextlib import contextmanager


@contextmanager
def interruptible():
    """Let Ctrl-C raise KeyboardInterrupt; a shell's background job starts with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def interrupted(call, at, *modules):
    """Press Ctrl-C before the ``at``-th line that ``call`` runs of these modules.

    Returns whether there are so many; KeyboardInterrupt must have come out then.
    """
    files = {module.__file__ for module in modules}
    left = at

    def enter(frame, event, arg):
        return line if frame.f_code.co_filename in files else None

    def line(frame, event, arg):
        nonlocal left
        left -= event == "line"
        if not left:
            sys.settrace(None)
            signal.raise_signal(signal.SIGINT)
        return line if left > 0 else None

    with interruptible():
        sys.settrace(enter)
        try:
            call()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
    if left <= 0:
        raise AssertionError(f"Ctrl-C before line {at} was swallowed")
    return False
