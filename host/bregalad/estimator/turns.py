"""Calls of several threads on one tree take turns."""

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager
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

    A call that learns may `pause` where the tree agrees with its board: calls that only read, and
    wait, have their turns then. Those that change the tree wait until it has ended.

    Ctrl-C may come between any two steps of Python. So one operation of a dict both takes the lock and says whose it
    is, and `give` may be called again, or by a thread whose turn it is not.
    """

    def __init__(self):
        self._turn = {}  # the thread whose turn it is by _OWNER; empty: nobody's
        self._depth = 0  # how often it has taken it
        self._paused = None  # the thread whose call lets others in
        self._waiting = deque()  # (thread, whether it changes the tree, lock that it waits for)
        self._mutex = threading.Lock()  # for who is next; nobody keeps it
        with _listing:
            _all.add(self)

    @property
    def depth(self):
        """How often the calling thread has taken its turn; 0: it has none."""
        return self._depth if self._turn.get(_OWNER) == get_ident() else 0

    def take(self, changing):
        """Wait for a turn, which ends with `give`, whether or not this comes to its end.

        Parameters
        ----------
        changing : bool
            Whether the call may change the tree.
        """
        me = get_ident()
        if self._turn.get(_OWNER) == me:
            self._depth += 1
            return
        if not self._waiting and self._turn.setdefault(_OWNER, me) == me:
            self._depth = 1
            return
        place = _place(me, changing)
        try:
            self._waiting.append(place)
            self._pass_on()  # it may have become free meanwhile
            place[-1].acquire()
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

    def pause(self):
        """Let those in that wait to read, unless the call is a part of another one."""
        if self._depth != 1 or not self._waiting:
            return
        me = get_ident()
        with self._mutex:
            if all(changing for _, changing, _ in list(self._waiting)):
                return
            self._paused = me
            place = _place(me, True)
            self._waiting.append(place)
            self._hand_on()
        interrupt = None
        while self._turn.get(_OWNER) != me:
            try:
                place[-1].acquire()
            except BaseException as error:  # raised once it is this call's turn again
                interrupt = error
        self._paused = None
        if interrupt is not None:
            raise interrupt

    def _hand_on(self):
        """Give the turn, which the caller has, to who is next."""
        for place in list(self._waiting):  # others may come meanwhile
            thread, changing, turn = place
            if self._paused in (None, thread) or not changing:
                self._waiting.remove(place)
                self._turn[_OWNER], self._depth = thread, 1
                turn.release()
                return
        self._turn.clear()

    def forget_others(self):
        """In a forked process: there is no other thread."""
        if not self.depth:
            self._turn.clear()
        self._mutex = threading.Lock()
        self._waiting.clear()
        self._paused = None


def _place(thread, changing):
    turn = threading.Lock()
    turn.acquire()
    return thread, changing, turn


def _in_turn(method: _Call, changing: bool) -> _Call:
    @wraps(method)
    def call(self, *args, **kwargs):
        turns = self._turns
        depth = turns.depth if turns._turn else 0  # mostly it is nobody's
        try:
            turns.take(changing)
            found = method(self, *args, **kwargs)
            turns.give(depth)
        except BaseException:
            turns.give(depth)  # again, if Ctrl-C came while it was given
            raise
        return found

    call.takes_turns = True  # type: ignore[attr-defined]
    return cast(_Call, call)


def reading(method: _Call) -> _Call:
    """A tree's method that leaves it as it is, as a call that takes turns."""
    return _in_turn(method, False)


def changing(method: _Call) -> _Call:
    """A tree's method that may change it, as a call that takes turns."""
    return _in_turn(method, True)


@contextmanager
def together(*trees):
    """Read several trees at the same time."""
    taken = []
    try:
        # Two threads that took them in different orders would wait for each other.
        for turns in sorted({tree._turns for tree in trees}, key=id):
            taken.append((turns, turns.depth))
            turns.take(False)
        yield
    finally:
        for turns, depth in taken:
            turns.give(depth)


# A process that is forked has the memory as it is, but of the threads only the one that forks. So
# it forks in a turn at every tree: none is half changed, and no lock belongs to a thread not there.
# Trees that begin meanwhile do not wait: a call may copy the tree at which it has its turn.

_all: weakref.WeakSet = weakref.WeakSet()
_listing = threading.Lock()
_forks = threading.Lock()  # whose turns are in `_forking`
_forking: list = []


def _before_fork():
    _forks.acquire()
    with _listing:
        found = sorted(_all, key=id)
    for turns in found:
        _forking.append((turns, turns.depth))
        turns.take(False)


def _after_fork_in_parent():
    while _forking:
        turns, depth = _forking.pop()
        turns.give(depth)
    _forks.release()


def _after_fork_in_child():
    global _listing, _forks
    _listing, _forks = threading.Lock(), threading.Lock()
    for turns in _all:
        turns.forget_others()
    while _forking:
        turns, depth = _forking.pop()
        turns.give(depth)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
