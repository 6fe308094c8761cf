"""A stream, the trees that learn it over a wire, and the trees that they should come to."""

import random

import numpy as np
from bregalad import EFDT, VFDT, BoardError, Geometry
from bregalad.boards.engine import Engine
from bregalad.boards.linked import LinkedBoard
from bregalad_sim.latency import GoldenBoard
from bregalad_sim.link import BoardEnd
from bregalad_sim.wire import SimulatedWire

GEOMETRY = Geometry(lanes=4, passes=1, bins=8, slots=300, naive_bayes=True, nodes=512)
TREES = {
    "vfdt": (VFDT, {"delta": 1e-3, "grace": 100}),
    "vfdt nba": (VFDT, {"delta": 1e-3, "grace": 100, "leaf_prediction": "nba"}),
    "efdt": (EFDT, {"grace": 100, "inner_grace": 300}),
}
CLASSES = [False, True]


def stream(seed, count=3000):
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    X = rng.random((count, 3))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.7) ^ (rng.random(count) < 0.1)
    y[count // 2 :] ^= X[count // 2 :, 2] > 0.6
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def chunks(count, seed):
    rng = random.Random(seed)
    at = 0
    while at < count:
        size = rng.choice((1, 30, 400, 2000))
        yield slice(at, at + size)
        at += size


def expected(tree, X, y):
    kind, options = TREES[tree]
    tree = kind(board=Engine(GEOMETRY), **options)
    return tree, tree.test_then_train(X, y, CLASSES)


def linked(tree, seed, faults=None, *, memory=1 << 12, **options):
    rng = random.Random(seed)
    end = BoardEnd(
        lambda: GoldenBoard(GEOMETRY, memory),
        rng=rng,
        ring_words=rng.choice((130, 400, 2000)),
        up_frame_bytes=rng.choice((64, 256)),
        up_frames=rng.choice((1, 4)),
    )
    wire = SimulatedWire(end, rng, faults)
    board = LinkedBoard(wire, timeout=options.pop("timeout", 60.0))
    kind, chosen = TREES[tree]
    return kind(board=board, **chosen, **options), wire, end


def learn(tree, X, y, seed, on_error=None):
    """Learn in chunks; predictions. What a call that failed was given is used for something else meanwhile."""
    got = []
    for part in chunks(len(X), seed):
        found = None
        while found is None:
            rows, labels = X[part].copy(), y[part].copy()
            try:
                found = tree.test_then_train(rows, labels, CLASSES)
            except BoardError as error:
                if on_error is None:
                    raise
                rows[:], labels[:] = 0, False
                found = on_error(error)
        got.append(found)
    return np.concatenate(got)


def check(tree, predictions, whole, wanted):
    assert tree.difference(whole) is None
    assert (predictions == wanted).all()
    mine, theirs = tree.report(), whole.report()
    assert mine.pop("attempts") <= theirs.pop("attempts")  # the board tells of those alone that may change the tree
    assert mine == theirs
