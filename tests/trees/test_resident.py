"""Instances that lie in a board's memory: encoded and walked there, as often as asked, by any tree."""

import numpy as np
import pytest
from bregalad import EFDT, VFDT, Geometry, Resident
from bregalad.boards import open_board
from bregalad_sim.latency import GoldenBoard

GEOMETRY = Geometry(lanes=4, passes=1, slots=32, bins=8, bus_width=64, nodes=128)


def rows(seed, dtype, count=1500):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.6, "yes", "no")
    if dtype != np.float32:
        return np.clip(100 + 30 * X, 0, 250).astype(dtype), y
    X = X.astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


@pytest.mark.parametrize(
    "dtype", [np.float32, np.uint8, *(pytest.param(dtype, marks=pytest.mark.slow) for dtype in (np.uint16, np.int32))]
)
@pytest.mark.parametrize("learner", [VFDT, EFDT])
@pytest.mark.parametrize("kind", ["golden", "emulated"])
def test_learnt_again_and_again(learner, dtype, kind, seed):
    """The trees of codes that the host has made, by the same books, on a board that is routed for."""
    X, y = rows(seed, dtype)
    board = GoldenBoard(GEOMETRY, 1 << 16) if kind == "golden" else open_board(kind, GEOMETRY, memory_size=1 << 16)
    held = Resident(board, X, y, address=5)
    assert len(held) == len(X)
    options = {"delta": 1e-2, "grace": 60, "delay": 30, "leaf_prediction": "mc"}
    for _ in range(2):  # trees, one after the other
        tree = learner(board=board, **options)
        other = learner(geometry=GEOMETRY.replace(nodes=0), **options)
        labels = np.searchsorted(held.classes, y)
        for turn in range(2):
            share = tree.learn_resident(held)
            if not turn:
                other.declare(X.astype(np.float64), held.classes)
                for book, edges in zip(other._quantiser.books, held.edges, strict=True):
                    book.edges = edges
            codes = other._quantiser.encode(X.astype(np.float64), read_only=True)
            assert share == (other.learn_codes(codes, labels) == labels).mean()
        assert tree.difference(other) is None and tree.report()["splits"] > 0
        assert (tree.predict(X[:200]) == other.predict(X[:200].astype(np.float64))).all()
        tree.close()


@pytest.mark.slow
def test_rtl_encodes_and_walks(seed):
    X, y = rows(seed, np.float32)
    shares = []
    for board in (
        GoldenBoard(GEOMETRY, 1 << 16),
        open_board("simulated", GEOMETRY, memory_size=1 << 16, stall=0.1, seed=seed),
    ):
        tree = VFDT(board=board, delta=1e-2, grace=60, delay=30, leaf_prediction="mc")
        shares += [tree.learn_resident(Resident(board, X, y)), len(tree._nodes)]
        board.close()
    assert shares[:2] == shares[2:]


def test_bad_input(seed):
    X, y = rows(seed, np.float32, 100)
    board = GoldenBoard(GEOMETRY, 1 << 12)
    for change, message in (
        ({"board": "simulated"}, "board must be an open board, not 'simulated'"),
        (
            {"board": open_board("emulated", GEOMETRY.replace(nodes=0))},
            "does not walk records: open",
        ),
        ({"X": X.astype(np.float64)}, "float32, uint8, uint16 or int32, not of shape .* and float64"),
        ({"X": np.full_like(X, np.inf)}, "X has infinite values"),
        ({"X": np.zeros((100, 5), np.float32)}, "X has 5 columns, but the board has 4 cells"),
        ({"X": np.zeros((300, 4), np.float32), "y": np.arange(300) % 2}, "do not lie in the 4096 bytes"),
        ({"y": np.arange(100)}, "there are 100 classes, but the board has counters for 2"),
        ({"address": -1}, "do not lie in the 4096 bytes"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            Resident(**{"board": board, "X": X, "y": y, **change})
    held = Resident(board, X, y)
    with pytest.raises(ValueError, match="lie in another board's memory"):
        VFDT().learn_resident(held)
    tree = VFDT(board=board, leaf_prediction="mc")
    tree.learn_resident(held)
    with pytest.raises(ValueError, match="has learnt with other code books or classes"):
        tree.learn_resident(Resident(board, X + 1, y))
