"""Calls of several threads on one tree take turns."""

import inspect
import os
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

_Call = TypeVar("_Call", bound=Callable[..., Any])


class Turns:
    """A lock that a tree's calls take; a thread that has it may take it again.

    Python's own go to whoever is quickest: a thread that predicts in a loop would keep out one that learns. So whoever
    waits for the turn stands in a door, behind which all others wait.

    Ctrl-C may come between any two steps of Python. So locks say whose they are, and `give` may be called again, or by
    a thread whose turn it is not.
    """

    def __init__(self):
        self._door, self._turn = threading.RLock(), threading.RLock()
        _all.add(self)

    @property
    def taken(self):
        """Whether the calling thread has its turn."""
        return self._turn._is_owned()

    def take(self):
        """Wait for a turn, which ends with `give`, whether or not this comes to its end."""
        self._door.acquire()
        self._turn.acquire()
        self._door.release()

    def give(self):
        """End a turn."""
        for lock in (self._door, self._turn):
            if lock._is_owned():
                lock.release()


def at_any_time(method: _Call) -> _Call:
    """A learner's public method that waits for no turn."""
    method.takes_turns = False  # type: ignore[attr-defined]
    return method


def take_turns(cls: type) -> None:
    """Have the public methods and properties that a class itself defines take turns."""
    for name, member in list(vars(cls).items()):
        method = member.fget if isinstance(member, property) else member
        if not name.startswith("_") and inspect.isfunction(method) and not hasattr(method, "takes_turns"):
            call = in_turn(method)
            setattr(cls, name, property(call, doc=member.__doc__) if isinstance(member, property) else call)


def in_turn(method: _Call) -> _Call:
    """A learner's method as a call that takes turns."""

    @wraps(method)
    def call(self, *args, **kwargs):
        turns = self._turns
        if turns.taken:
            return method(self, *args, **kwargs)
        try:
            turns.take()
            found = method(self, *args, **kwargs)
            turns.give()
        except BaseException:
            turns.give()  # again, if Ctrl-C came while it was given
            raise
        return found

    call.takes_turns = True  # type: ignore[attr-defined]
    return cast(_Call, call)


_all: weakref.WeakSet = weakref.WeakSet()


def _begin_anew():
    """In a forked process: of the threads that may have had turns there is none."""
    for turns in list(_all):
        turns.__init__()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
