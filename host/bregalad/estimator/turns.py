"""Calls of several threads on one tree take turns."""

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from functools import wraps
from threading import get_ident
from typing import Any, TypeVar, cast

from ..interrupt import deferred_interrupt

_OWNER = "owner"
_Call = TypeVar("_Call", bound=Callable[..., Any])


class Turns:
    """A lock that a tree's calls take in the order in which they come.

    Python's own go to whoever is quickest: a thread that predicts in a loop would keep out one
    that learns. A thread that has the lock may take it again.

    Ctrl-C may come between any two steps of Python. So one operation of a dict both takes the lock and says whose it
    is, and `give` may be called again, or by a thread whose turn it is not.
    """

    def __init__(self):
        self._turn = {}  # the thread whose turn it is by _OWNER; empty: nobody's
        self._depth = 0  # how often it has taken it
        self._waiting = deque()  # (thread, lock that it waits for)
        self._mutex = threading.Lock()  # for who is next; nobody keeps it
        _all.add(self)

    @property
    def depth(self):
        """How often the calling thread has taken its turn; 0: it has none."""
        return self._depth if self._turn.get(_OWNER) == get_ident() else 0

    def take(self):
        """Wait for a turn, which ends with `give`, whether or not this comes to its end."""
        me = get_ident()
        if self._turn.get(_OWNER) == me:
            self._depth += 1
            return
        if not self._waiting and self._turn.setdefault(_OWNER, me) == me:
            self._depth = 1
            return
        turn = threading.Lock()
        turn.acquire()
        place = me, turn
        try:
            self._waiting.append(place)
            self._pass_on()  # it may have become free meanwhile
            turn.acquire()
        except BaseException:  # Ctrl-C
            with self._mutex:
                if place in self._waiting:
                    self._waiting.remove(place)
            raise

    def give(self, depth=0):
        """End a turn, or what has been taken of it beyond the ``depth`` that it had before."""
        if self._turn.get(_OWNER) == get_ident():
            if depth:
                self._depth = depth
                return
            if self._waiting:
                with deferred_interrupt(), self._mutex:  # or nobody would have the next turn
                    self._hand_on()
                return
            self._turn.clear()
        if self._waiting:  # since a moment ago
            self._pass_on()

    def _pass_on(self):
        with deferred_interrupt(), self._mutex:
            me = get_ident()
            # It may have been handed on to the caller just now, who keeps it then.
            if self._waiting and not self._turn and self._turn.setdefault(_OWNER, me) == me:
                self._hand_on()

    def _hand_on(self):
        """Give the turn, which the caller has, to who is next."""
        if self._waiting:
            self._turn[_OWNER], turn = self._waiting.popleft()
            self._depth = 1
            turn.release()
        else:
            self._turn.clear()


def in_turn(method: _Call) -> _Call:
    """A tree's method as a call that takes turns."""

    @wraps(method)
    def call(self, *args, **kwargs):
        turns = self._turns
        depth = turns.depth if turns._turn else 0  # mostly it is nobody's
        try:
            turns.take()
            found = method(self, *args, **kwargs)
            turns.give(depth)
        except BaseException:
            turns.give(depth)  # again, if Ctrl-C came while it was given
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
