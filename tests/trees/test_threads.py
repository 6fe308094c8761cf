"""Calls from many threads at the same time, and from forked processes; `test_turns.py` has how they take turns."""

import copy
import multiprocessing
import threading

import pytest
from at_once import PATIENCE, all_at_once, switching_often, waited_for  # noqa: F401 (a fixture for all tests)
from bregalad import EFDT, TREES, VFDT
from bregalad.estimator.tree import StreamTree
from marks import nightly
from noisy import stream

_READERS = 8
# What needs no turn: made of calls that take theirs, or no call on what is learnt.
_WITHOUT = {"difference", "load", "unfinished", "learn_stream"}  # of the last each of its parts does


def reading(tree, X, see, until):
    """A call for a thread: look at a tree in all ways in turn, until an event comes."""
    rows = [dict(zip(("x0", "x1", "x2"), row, strict=True)) for row in X[:3].tolist()]

    def read():
        while True:
            over = until.is_set()
            see(tree.predict_proba(X))
            assert len(tree.predict(X)) == len(tree.apply(X)) == len(X)
            assert tree.predict_one(rows[0]) in (0, 1)
            assert tree.report()["leaves"] and tree.draw() and tree.to_graphviz()
            if over:
                return

    return read


def test_every_public_method_takes_its_turn():
    for name in dir(StreamTree):
        origin = next(cls for cls in StreamTree.__mro__ if name in vars(cls))
        if name.startswith(("_", "set_")) or not origin.__module__.startswith("bregalad"):
            continue
        if name not in _WITHOUT and name not in VFDT._options:
            method = getattr(StreamTree, name)
            assert getattr(getattr(method, "fget", method), "takes_turns", False), name
    assert StreamTree.__getstate__.takes_turns


@pytest.mark.parametrize("kind", [VFDT, *nightly(*(kind for kind in TREES.values() if kind is not VFDT))])
def test_many_predict_while_one_learns(kind):
    """Each prediction is that of the tree between two calls; it is as learnt alone."""
    X, y = stream(6000)
    y, probe = y.astype(int), X[-200:]
    options = {"grace": 50, **({"inner_grace": 200, "delta": 0.2} if kind is EFDT else {})}
    alone = kind(**options).partial_fit(X[:1000], y[:1000], classes=[0, 1])
    tree, parts = copy.deepcopy(alone), range(1000, 6000, 250)
    allowed, found = {alone.predict_proba(probe).tobytes()}, set()
    over, looked = threading.Event(), threading.Semaphore(0)
    for at in parts:
        alone.partial_fit(X[at : at + 250], y[at : at + 250])
        allowed.add(alone.predict_proba(probe).tobytes())

    def learn():
        try:
            for at in parts:
                assert looked.acquire(timeout=PATIENCE)
                tree.partial_fit(X[at : at + 250], y[at : at + 250])
        finally:
            over.set()

    def see(shares):
        found.add(shares.tobytes())
        looked.release()

    all_at_once(learn, *[reading(tree, probe, see, over) for _ in range(_READERS)])
    assert len(allowed) > 10 and len(found) > 2
    assert found <= allowed
    assert tree.difference(alone) is None and tree.report() == alone.report()


def test_two_trees_compared_in_both_orders():
    X, y = stream(2000)
    one, other = VFDT().fit(X, y), VFDT().fit(X, y)

    def compare(a, b):
        return lambda: [a.difference(b) for _ in range(200)]

    all_at_once(compare(one, other), compare(other, one), compare(one, one))


def test_a_forked_process_predicts_and_learns_on():
    """Though it is forked in a call, and another thread waits for its turn."""
    X, y = stream(2000, missing=0)
    y, context = y.astype(int), multiprocessing.get_context("fork")
    tree = VFDT(grace=50).partial_fit(X[:1000], y[:1000], classes=[0, 1])
    waiting = threading.Thread(target=tree.predict, args=[X[:5]])

    def child(end):
        end.send((tree._turns.taken, tree.partial_fit(X[1000:], y[1000:]).draw()))

    tree._turns.take()
    waiting.start()
    while not waited_for(tree._turns):
        waiting.join(0.001)
    ours, theirs = context.Pipe()
    process = context.Process(target=child, args=[theirs], daemon=True)
    process.start()
    tree._turns.give()
    waiting.join(PATIENCE)
    assert ours.poll(PATIENCE) and ours.recv() == (False, tree.partial_fit(X[1000:], y[1000:]).draw())
