"""Turns that calls take at a tree: in what order, and what Ctrl-C leaves of them."""

import itertools
import signal
import threading
from collections import deque

import pytest
from at_once import PATIENCE, all_at_once, switching_often  # noqa: F401 (a fixture for all tests)
from bregalad import VFDT
from bregalad.estimator import turns as turns_module
from bregalad.estimator.turns import Turns, in_turn
from bregalad_sim.ctrl_c import interrupted, interruptible
from noisy import stream


class _Line(deque):
    """Those that wait for a turn; tells when there is another."""

    def __init__(self, tell):
        super().__init__()
        self.tell = tell

    def append(self, place):
        super().append(place)
        self.tell()


def test_turns_are_taken_in_the_order_of_asking():
    turns, order, asked = Turns(), [], threading.Semaphore(0)
    turns._waiting = _Line(asked.release)

    def call(number):
        def run():
            turns.take()
            turns.take()
            order.append(number)
            turns.give(1)
            turns.give()

        return threading.Thread(target=run, daemon=True)

    turns.take()
    threads = [call(number) for number in range(8)]
    for thread in threads:
        thread.start()
        assert asked.acquire(timeout=PATIENCE)  # in line
    turns.give()
    for thread in threads:
        thread.join(PATIENCE)
    assert order == list(range(8))
    turns.take()
    turns.give()


def test_a_turn_that_is_handed_on_before_its_thread_waits_stays_its_own():
    turns, asked, handed, depths = Turns(), threading.Semaphore(0), threading.Event(), []

    def tell():
        asked.release()
        assert handed.wait(PATIENCE)

    def call():
        turns.take()
        depths.append(turns.depth)
        turns.give()

    turns._waiting = _Line(tell)
    turns.take()
    threads = [threading.Thread(target=call, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
        assert asked.acquire(timeout=PATIENCE)  # in line
    turns.give()
    handed.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert depths == [1, 1]


def test_ctrl_c_while_waiting_for_a_turn():
    X, y = stream(1000)
    tree = VFDT().fit(X, y)
    taken, waiting, came, give = (threading.Event() for _ in range(4))
    tree._turns._waiting = _Line(waiting.set)

    def keep():
        tree._turns.take()
        taken.set()
        assert waiting.wait(PATIENCE)
        while not came.wait(0.01):  # one that comes just before Python waits is not looked at
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        assert give.wait(PATIENCE)
        tree._turns.give()

    thread = threading.Thread(target=keep, daemon=True)
    with interruptible():
        thread.start()
        assert taken.wait(PATIENCE)
        try:
            with pytest.raises(KeyboardInterrupt):
                tree.predict(X)
            came.set()
            give.set()
        except KeyboardInterrupt:  # another one
            came.set()
    thread.join(PATIENCE)
    assert not tree._turns._waiting
    all_at_once(lambda: tree.predict(X), lambda: tree.partial_fit(X, y))


class _Thing:
    """Whose calls take turns, one within the other."""

    def __init__(self, between):
        self._turns, self.between = Turns(), between

    @in_turn
    def outer(self):
        self.between()
        return self.inner()

    @in_turn
    def inner(self):
        return 1


@pytest.mark.parametrize("in_line", [False, True])
def test_ctrl_c_leaves_no_turn_behind(in_line):
    """Wherever it comes in a call's turn, with or without another thread in line."""

    def ask_meanwhile():
        """Another thread asks for a turn, and is in line."""
        asked = threading.Semaphore(0)
        thing._turns._waiting = _Line(asked.release)
        threads.append(threading.Thread(target=thing.inner, daemon=True))
        threads[-1].start()
        assert asked.acquire(timeout=PATIENCE)

    for at in itertools.count(1):
        thing, threads = _Thing(ask_meanwhile if in_line else lambda: None), []
        came = interrupted(thing.outer, at, turns_module)
        assert not thing._turns.depth
        threads.append(threading.Thread(target=thing.inner, daemon=True))
        threads[-1].start()
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), f"Ctrl-C before line {at}"
        if not came:
            break
    assert at > 20
