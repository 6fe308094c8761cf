"""Calls from many threads at the same time, and from forked processes."""

import copy
import multiprocessing
import pickle
import random
import threading

import pytest
from at_once import PATIENCE, all_at_once, switching_often, waited_for  # noqa: F401 (a fixture for all tests)
from bregalad import EFDT, TREES, VFDT, Geometry, open_board
from bregalad.data.quantiser import Quantiser
from bregalad.estimator.tree import StreamTree
from bregalad_sim.latency import GoldenBoard, LateBoard
from marks import nightly
from noisy import stream
from sklearn.base import clone

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


def options_of(kind, prediction):
    return {"leaf_prediction": prediction, "grace": 50, **({"inner_grace": 200, "delta": 0.2} if kind is EFDT else {})}


def test_every_public_method_takes_its_turn():
    for name in dir(StreamTree):
        origin = next(cls for cls in StreamTree.__mro__ if name in vars(cls))
        if name.startswith(("_", "set_")) or not origin.__module__.startswith("bregalad"):
            continue
        if name not in _WITHOUT and name not in VFDT._options:
            method = getattr(StreamTree, name)
            assert getattr(getattr(method, "fget", method), "takes_turns", False), name
    assert StreamTree.__getstate__.takes_turns


@pytest.mark.parametrize(
    "kind, prediction",
    [
        *((kind, "nba") for kind in TREES.values()),
        *nightly(*((kind, leaf) for kind in TREES.values() for leaf in ("mc", "nb"))),
    ],
)
def test_many_predict_while_one_learns(kind, prediction):
    """Each prediction is that of the tree between two calls; it is as learnt alone."""
    X, y = stream(6000)
    y, probe = y.astype(int), X[-200:]
    options = options_of(kind, prediction)
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


def test_boards_whose_reports_come_late(seed):
    X, y = stream(1500)
    y, over = y.astype(int), threading.Event()
    geometry = Geometry(lanes=3, passes=1, bins=8, slots=64, naive_bayes=True)
    options = {"leaf_prediction": "nba", "grace": 50, "review_period": 300}
    late = LateBoard(GoldenBoard(geometry.replace(nodes=256)), random.Random(seed))
    tree = VFDT(board=late, **options).partial_fit(X[:600], y[:600], classes=[0, 1])

    def learn():
        try:
            tree.partial_fit(X[600:], y[600:])
        finally:
            over.set()

    all_at_once(learn, *[reading(tree, X[:50], lambda shares: None, over) for _ in range(3)])
    whole = VFDT(geometry=geometry, **options).partial_fit(X, y, classes=[0, 1])
    assert tree.difference(whole) is None


def test_who_learns_at_the_same_time_learns_one_after_the_other(monkeypatch):
    X, y = stream(8000, missing=0)
    y, order = y.astype(int), []
    begin = Quantiser.begin
    monkeypatch.setattr(
        Quantiser,
        "begin",
        lambda quantiser, X, *args, **kwargs: (order.append(len(X)), begin(quantiser, X, *args, **kwargs))[1],
    )
    options = {"review_period": 100, "grace": 50}
    tree = VFDT(**options).partial_fit(X[:500], y[:500], classes=[0, 1])
    order.clear()

    def part(size):  # known by its size
        return slice(500 + 2 * size, 500 + 3 * size)

    sizes = [[100 + 8 * i + thread for i in range(20)] for thread in range(8)]

    def learner(own):
        def learn():
            for size in own:
                tree.partial_fit(X[part(size)], y[part(size)])

        return learn

    all_at_once(*map(learner, sizes))
    assert sorted(order) == sorted(sum(sizes, []))
    came = tuple(order)
    assert came != tuple(sum(sizes, []))  # they did meet
    alone = VFDT(**options).partial_fit(X[:500], y[:500], classes=[0, 1])
    for size in came:
        alone.partial_fit(X[part(size)], y[part(size)])
    assert tree.difference(alone) is None


def test_copies_and_saves_while_a_tree_learns(tmp_path):
    X, y = stream(6000)
    y, over, copies = y.astype(int), threading.Event(), []
    options = {"leaf_prediction": "nba", "grace": 50, "review_period": 500}
    tree = VFDT(**options).partial_fit(X[:600], y[:600], classes=[0, 1])

    def learn():
        try:
            tree.partial_fit(X[600:5000], y[600:5000])
        finally:
            over.set()

    def take():
        while not over.is_set():
            copies.append(copy.deepcopy(tree))
            copies.append(pickle.loads(pickle.dumps(tree)))
            clone(tree)
        tree.save(tmp_path / "tree")

    all_at_once(learn, take)
    for each in (*copies, VFDT.load(tmp_path / "tree")):
        seen = each.report()["instances"]
        each.partial_fit(X[seen:], y[seen:])
        whole = VFDT(**options).partial_fit(X, y, classes=[0, 1])
        assert each.difference(whole) is None


def test_two_trees_compared_in_both_orders():
    X, y = stream(2000)
    one, other = VFDT().fit(X, y), VFDT().fit(X, y)

    def compare(a, b):
        return lambda: [a.difference(b) for _ in range(200)]

    all_at_once(compare(one, other), compare(other, one), compare(one, one))


def test_trees_that_use_one_board_in_turn():
    X, y = stream(1500)
    board, free = open_board("emulated", Geometry(lanes=3, passes=1)), threading.Lock()

    def use():
        for _ in range(5):
            with free:
                tree = VFDT(board=board).fit(X, y)
                tree.close()

    all_at_once(use, use, use)


@pytest.mark.parametrize("prediction", ["mc", "nba"])
def test_a_forked_process_predicts_and_learns_on(prediction):
    """Though it is forked in a call, and another thread waits for its turn."""
    X, y = stream(2000, missing=0)
    y, context = y.astype(int), multiprocessing.get_context("fork")
    options = {"leaf_prediction": prediction, "grace": 50}
    tree = VFDT(**options).partial_fit(X[:1000], y[:1000], classes=[0, 1])
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
