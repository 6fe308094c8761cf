"""Turns that calls take at a tree: in what order, what Ctrl-C leaves of them, and a fork's at all trees."""

import itertools
import multiprocessing
import signal
import threading
from collections import deque

import pytest
from at_once import PATIENCE, all_at_once, switching_often  # noqa: F401 (a fixture for all tests)
from bregalad import VFDT
from bregalad.estimator import turns as turns_module
from bregalad.estimator.turns import Turns, changing
from bregalad.estimator.turns import reading as reading_call
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


def test_a_process_is_forked_while_a_call_begins_another_tree():
    """Neither waits for the other, and the new tree, half made, is nobody's in the child."""
    tree, asked, began = VFDT(), threading.Event(), []
    tree._turns._waiting = _Line(asked.set)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def child():
        theirs.send([began[0]._turns.depth, began[0]._turns._turn, VFDT()._turns.depth])

    def begin():
        tree._turns.take(True)
        started.set()
        assert asked.wait(PATIENCE)
        began.append(VFDT())
        began[0]._turns.take(True)
        tree._turns.give()
        forked.wait(PATIENCE)
        began[0]._turns.give()

    def fork():
        started.wait(PATIENCE)
        process = context.Process(target=child)
        process.start()
        forked.set()
        process.join(PATIENCE)

    started, forked = threading.Event(), threading.Event()
    all_at_once(begin, fork)
    assert ours.poll(PATIENCE) and ours.recv() == [0, {}, 0]


def test_turns_are_taken_in_the_order_of_asking():
    turns, order, asked = Turns(), [], threading.Semaphore(0)
    turns._waiting = _Line(asked.release)

    def call(number, changing):
        def run():
            turns.take(changing)
            turns.take(changing)
            order.append(number)
            turns.give(1)
            turns.give()

        return threading.Thread(target=run, daemon=True)

    turns.take(True)
    threads = [call(number, number % 2 == 0) for number in range(8)]
    for thread in threads:
        thread.start()
        assert asked.acquire(timeout=PATIENCE)  # in line
    turns.pause()  # those that read; not those that came before them and change
    assert order == [1, 3, 5, 7]
    turns.pause()
    assert order == [1, 3, 5, 7]
    turns.give()
    for thread in threads:
        thread.join(PATIENCE)
    assert order == [1, 3, 5, 7, 0, 2, 4, 6]
    turns.take(True)
    turns.give()


def test_a_turn_that_is_handed_on_before_its_thread_waits_stays_its_own():
    turns, asked, handed, depths = Turns(), threading.Semaphore(0), threading.Event(), []

    def tell():
        asked.release()
        assert handed.wait(PATIENCE)

    def call():
        turns.take(True)
        depths.append(turns.depth)
        turns.give()

    turns._waiting = _Line(tell)
    turns.take(True)
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
        tree._turns.take(True)
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

    @changing
    def outer(self):
        self.between()
        return self.inner()

    @reading_call
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
