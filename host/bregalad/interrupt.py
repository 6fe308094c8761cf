"""Ctrl-C that waits until what it would tear apart agrees again; SIGTERM and SIGHUP like it."""

import signal
import threading
from contextlib import contextmanager, nullcontext

_STOPS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_held = None  # signals that are held back, in the order in which they came; None: nobody holds any back
_whole = False  # whether it is held back even from `check_interrupt`
_stopped: list = []  # the signal that has ended what `stopping` surrounds, if one has


class Stopped(KeyboardInterrupt):
    """SIGTERM or SIGHUP has come; ``number`` is the signal."""

    def __init__(self, number):
        super().__init__(signal.Signals(number).name)
        self.number = number


def status_of(interrupt):
    """The exit status, as shells have it, of a program that a KeyboardInterrupt has ended."""
    return 128 + getattr(interrupt, "number", signal.SIGINT)


@contextmanager
def stopping():
    """Raise Stopped where SIGTERM or SIGHUP comes, once: what then ends in order is left alone.

    One that the program ignores (nohup) or handles stays as it is; so do those of other threads
    than the main one.
    """
    numbers = [number for number in _STOPS if _in_main_thread() and signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in numbers:
            signal.signal(number, _came)
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
        _stopped.clear()


def _came(number, frame):
    """Raise what a signal means, or hold it back."""
    if number != signal.SIGINT and _stopped:
        return
    if _held is None:
        raise _interrupt(number)
    _held.append(number)


def _interrupt(number):
    if number == signal.SIGINT:
        return KeyboardInterrupt()
    _stopped.append(number)
    return Stopped(number)


def deferred_interrupt():
    """Hold back a KeyboardInterrupt: it comes at the end, or with `check_interrupt`; a context.

    One that has come is raised at the end even if that is an exception. May be nested: the
    outermost decides. Only the main thread gets interrupts; in others, and where the program
    handles the signals itself, nothing is changed.
    """
    return _outermost() if _held is None else _NESTED


_NESTED = nullcontext()


@contextmanager
def _outermost():
    global _held
    own = []
    if _in_main_thread():
        ours = signal.default_int_handler, _came
        own = [number for number in (signal.SIGINT, *_STOPS) if signal.getsignal(number) in ours]
    if not own:
        yield
        return
    _held = pending = []
    if signal.SIGINT in own:
        signal.signal(signal.SIGINT, _came)
    try:
        yield
    finally:
        if signal.SIGINT in own:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        _held = None
        if pending:
            raise _interrupt(pending[0])


@contextmanager
def unbroken():
    """The same, but it does not come with `check_interrupt` either: what is done several times agrees at the end."""
    global _whole
    with deferred_interrupt():
        outer, changes = _whole, _in_main_thread()
        if changes:
            _whole = True
        try:
            yield
        finally:
            if changes:
                _whole = outer


def check_interrupt():
    """Raise the KeyboardInterrupt that is held back, if one has come."""
    if _held and not _whole and _in_main_thread():
        number = _held[0]
        _held.clear()
        raise _interrupt(number)


def hold_interrupt(interrupt):
    """Hold a KeyboardInterrupt back again, for a better moment; False if nobody holds interrupts back."""
    if _held is None or not _in_main_thread():
        return False
    _held.append(getattr(interrupt, "number", signal.SIGINT))
    return True


def _in_main_thread():
    return threading.current_thread() is threading.main_thread()
