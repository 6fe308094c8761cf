"""Trees learnt over a bad wire: always the tree of the board without a wire."""

import random

import numpy as np
import pytest
from bregalad import EFDT, VFDT, BoardError, Geometry
from bregalad.boards.emulated import EmulatedBoard
from bregalad.boards.linked import LinkedBoard
from bregalad.sim.link import BoardEnd
from bregalad.sim.wire import Faults, SimulatedWire

GEOMETRY = Geometry(lanes=3, passes=1, bins=8, slots=300, naive_bayes=True)
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
    y[count // 2:] ^= X[count // 2:, 2] > 0.6
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
    tree = kind(board=EmulatedBoard(GEOMETRY), **options)
    return tree, tree.test_then_train(X, y, CLASSES)


def linked(tree, seed, faults=None, **options):
    rng = random.Random(seed)
    end = BoardEnd(lambda: EmulatedBoard(GEOMETRY), rng=rng,
                   ring_words=rng.choice((130, 400, 2000)),
                   up_frame_bytes=rng.choice((64, 256)), up_frames=rng.choice((1, 4)))
    wire = SimulatedWire(end, rng, faults)
    board = LinkedBoard(wire, **{"timeout": 60.0, **options})
    kind, options = TREES[tree]
    return kind(board=board, **options), wire, end


def learn(tree, X, y, seed, on_error=None):
    """Learn in chunks; predictions."""
    got = []
    for part in chunks(len(X), seed):
        try:
            got.append(tree.test_then_train(X[part], y[part], CLASSES))
        except BoardError as error:
            if on_error is None:
                raise
            found = on_error(error)
            got.append(tree.test_then_train(X[part], y[part], CLASSES) if found is None else found)
    return np.concatenate(got)


def check(tree, predictions, whole, wanted):
    assert tree.difference(whole) is None
    assert (predictions == wanted).all()
    assert tree.report() == whole.report()


def same_tree_over_bad_wire(tree, share, seed):
    X, y = stream(seed)
    whole, wanted = expected(tree, X, y)
    assert whole.report()["splits"] > 3
    one, wire, end = linked(tree, seed, Faults.all(share))
    check(one, learn(one, X, y, seed), whole, wanted)
    assert one.counters()["records"] == whole.counters()["records"]
    assert one.board.statistics().frames_resent


@pytest.mark.parametrize("share", [0.01, 0.2])
@pytest.mark.parametrize("tree", TREES)
def test_same_tree_over_bad_wire(tree, share):
    for seed in range(2):
        same_tree_over_bad_wire(tree, share, seed)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.01, 0.03, 0.1, 0.2])
@pytest.mark.parametrize("tree", TREES)
def test_same_tree_over_bad_wire_100_seeds(tree, share):
    for seed in range(100):
        same_tree_over_bad_wire(tree, share, seed)


def same_tree_after_cuts(tree, seed, share):
    """The cable is cut at random times, for longer than the time-out."""
    X, y = stream(seed)
    whole, wanted = expected(tree, X, y)
    dry, wire, _ = linked(tree, seed, Faults.all(share))
    learn(dry, X, y, seed)
    one, wire, _ = linked(tree, seed, Faults.all(share), timeout=3.0)
    rng = random.Random(seed)
    wire.cuts = sorted((rng.uniform(0, wire.time + 0.5), float("inf")) for _ in range(3))
    errors = []

    def on_error(error):
        cut_at, _ = wire.cuts.pop(0)
        assert "no sign of life" in str(error)
        assert "resume()" in str(error)
        errors.append(error)
        for _ in range(rng.choice((0, 2))):  # too early
            wire.cuts.insert(0, (0, float("inf")))
            start = wire.time
            with pytest.raises(BoardError, match="no sign of life"):
                one.resume()
            assert 3.0 <= wire.time - start < 5
            with pytest.raises(BoardError, match="resume"):
                one.test_then_train(X[:1], y[:1])
            wire.cuts.pop(0)
        wire.cuts = [(max(start, wire.time + 0.1), stop) for start, stop in wire.cuts]
        try:
            return one.resume()
        except BoardError as again:  # cut anew
            return on_error(again)

    check(one, learn(one, X, y, seed, on_error), whole, wanted)
    return len(errors)


@pytest.mark.parametrize("tree", TREES)
def test_same_tree_after_cuts(tree):
    errors = sum(same_tree_after_cuts(tree, seed, 0.02 * (seed % 2)) for seed in range(6))
    assert errors >= 6


@pytest.mark.slow
@pytest.mark.parametrize("tree", TREES)
def test_same_tree_after_cuts_100_seeds(tree):
    for seed in range(100):
        same_tree_after_cuts(tree, seed, 0.02 * (seed % 5))
