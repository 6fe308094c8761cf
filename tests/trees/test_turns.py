"""Turns that calls take at a tree: in what order, and what Ctrl-C leaves of them."""

import itertools
import threading

import pytest
from at_once import PATIENCE, switching_often, waited_for  # noqa: F401 (a fixture for all tests)
from bregalad.estimator import turns as turns_module
from bregalad.estimator.turns import Turns, in_turn
from bregalad_sim.ctrl_c import interrupted


def in_line(turns, thread):
    """Begin a thread that asks for a turn which somebody has, and wait until it is in line."""
    thread.start()
    while not waited_for(turns):
        assert thread.is_alive()
        thread.join(0.001)


@pytest.mark.parametrize("others", range(1, 5))
def test_who_waits_comes_before_who_asks_again(others):
    turns, order = Turns(), []

    def call():
        turns.take()
        order.append("waiting")
        turns.give()

    turns.take()
    threads = [threading.Thread(target=call, daemon=True) for _ in range(others)]
    in_line(turns, threads[0])
    for thread in threads[1:]:
        thread.start()
    turns.give()
    turns.take()
    order.append("again")
    turns.give()
    assert order[0] == "waiting"
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(order) == ["again", *["waiting"] * others]


def test_whose_turn_it_is():
    turns, found = Turns(), []
    turns.take()
    assert turns.taken
    thread = threading.Thread(target=lambda: (found.append(turns.taken), turns.give()))
    thread.start()
    thread.join(PATIENCE)
    assert found == [False] and turns.taken  # another one gives nothing
    turns.give()
    turns.give()
    assert not turns.taken


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


@pytest.mark.parametrize("meanwhile", [False, True])
def test_ctrl_c_leaves_no_turn_behind(meanwhile):
    """Wherever it comes in a call's turn, with or without another thread in line."""

    def ask():
        threads.append(threading.Thread(target=thing.inner, daemon=True))
        in_line(thing._turns, threads[-1])

    for at in itertools.count(1):
        thing, threads = _Thing(ask if meanwhile else lambda: None), []
        came = interrupted(thing.outer, at, turns_module)
        assert not thing._turns.taken
        threads.append(threading.Thread(target=thing.inner, daemon=True))
        threads[-1].start()
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), f"Ctrl-C before line {at}"
        if not came:
            break
    assert at > 20
