"""Instances that lie in a board's memory: encoded and walked there, as often as asked, by any tree."""

import gc
import itertools
import signal

import numpy as np
import pytest
from bregalad import EFDT, VFDT, Geometry, Resident, load_tree
from bregalad.boards import open_board
from bregalad.driver import steps
from bregalad.driver.devices import rows as row_driver
from bregalad.interrupt import check_interrupt
from bregalad_sim.latency import GoldenBoard

GEOMETRY = Geometry(lanes=4, passes=1, slots=32, bins=8, bus_width=64, nodes=128)
OPTIONS = {"delta": 1e-2, "grace": 60, "leaf_prediction": "mc"}


def rows(seed, dtype, count=1500):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.6, "yes", "no")
    if dtype != np.float32:
        return np.clip(100 + 30 * X, 0, 250).astype(dtype), y
    X = X.astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def of_codes(learner, held, X):
    """A tree on the emulated board that takes codes by the books of what is held."""
    tree = learner(geometry=GEOMETRY.replace(nodes=0), **OPTIONS).declare(X.astype(np.float64), held.classes)
    for book, edges in zip(tree._quantiser.books, held.edges, strict=True):
        book.edges = edges
    return tree


@pytest.mark.parametrize(
    "dtype", [np.float32, np.uint8, *(pytest.param(dtype, marks=pytest.mark.slow) for dtype in (np.uint16, np.int32))]
)
@pytest.mark.parametrize("learner", [VFDT, EFDT])
def test_learnt_again_and_again(learner, dtype, seed, tmp_path):
    """The trees of codes that the host has made, by the same books, on a board that is routed for; saved, too."""
    X, y = rows(seed, dtype)
    board = GoldenBoard(GEOMETRY, 1 << 16)
    held = Resident(board, X, y, address=5)
    assert len(held) == len(X)
    for saved in (False, True):  # trees, one after the other
        tree, other = learner(board=board, **OPTIONS), of_codes(learner, held, X)
        labels = np.searchsorted(held.classes, y)
        for turn in range(2):
            if saved and turn:
                tree.save(tmp_path / "tree.npz")
                tree.close()
                tree = load_tree(tmp_path / "tree.npz", board=board)
            share = tree.learn_resident(held)
            codes = other._quantiser.encode(X.astype(np.float64), read_only=True)
            assert share == (other.learn_codes(codes, labels) == labels).mean()
        assert tree.difference(other) is None and tree.report()["splits"] > 0
        assert (tree.predict(X[:200]) == other.predict(X[:200].astype(np.float64))).all()
        tree.close()


def interrupt_at(number, monkeypatch):
    """Have Ctrl-C come where it is looked for the ``number``th time."""
    looks = itertools.count(1)

    def look():
        if next(looks) == number:
            signal.raise_signal(signal.SIGINT)
        check_interrupt()

    monkeypatch.setattr(steps, "check_interrupt", look)


def test_rows_are_learnt_in_parts_between_which_ctrl_c_comes(seed, monkeypatch, ctrl_c):
    """What was learnt by then is whole."""
    monkeypatch.setattr(row_driver, "_PART", 300)
    X, y = rows(seed, np.float32)
    board = GoldenBoard(GEOMETRY, 1 << 16)
    held = Resident(board, X, y)
    whole = VFDT(board=board, **OPTIONS)
    whole.learn_resident(held)
    codes, labels = whole.encode(X), np.searchsorted(held.classes, y)
    whole.close()
    for stop in (1, 2, 3):
        tree, learnt = VFDT(board=board, **OPTIONS), 300 * stop
        interrupt_at(stop + 2, monkeypatch)  # before that it is looked for twice
        with pytest.raises(KeyboardInterrupt):
            tree.learn_resident(held)
        other = of_codes(VFDT, held, X)
        other.learn_codes(codes[:learnt], labels[:learnt])
        assert tree.report()["instances"] == learnt and tree.difference(other) is None
        expected = other.learn_codes(codes, labels) == labels
        assert tree.learn_resident(held) == expected.mean() and tree.difference(other) is None
        tree.close()


@pytest.mark.slow
def test_rtl_encodes_and_walks(seed):
    X, y = rows(seed, np.float32)
    shares = []
    for board in (
        GoldenBoard(GEOMETRY, 1 << 16),
        open_board("simulated", GEOMETRY, memory_size=1 << 16, stall=0.1, seed=seed),
    ):
        tree = VFDT(board=board, **OPTIONS)
        shares += [tree.learn_resident(Resident(board, X, y)), len(tree._nodes)]
        board.close()
    assert shares[:2] == shares[2:]


def test_bad_input(seed):
    X, y = rows(seed, np.float32, 100)
    board = GoldenBoard(GEOMETRY, 1 << 12)
    for change, message in (
        ({"board": "simulated"}, "board must be an open board, not 'simulated'"),
        ({"board": open_board("emulated", GEOMETRY.replace(nodes=0))}, "does not walk records: open"),
        ({"X": X.astype(np.float64)}, "float32, uint8, uint16 or int32, not of shape .* and float64"),
        ({"X": np.full_like(X, np.inf)}, "X has infinite values"),
        ({"X": np.zeros((100, 5), np.float32)}, "5 attributes; the board is built for .* = 4"),
        ({"X": np.zeros((300, 4), np.float32), "y": np.arange(300) % 2}, "do not lie in the 4096 bytes"),
        ({"y": np.arange(100)}, "there are 100 classes, but the board has counters for 2"),
        ({"address": -1}, "do not lie in the 4096 bytes"),
        ({"address": 1.5}, "address must be an integer, not 1.5"),
        ({"X": X[:0], "y": y[:0]}, "there are no instances"),
        ({"X": np.ma.array(np.ones((2, 4), np.uint8), mask=[[True] * 4] * 2), "y": [0, 1]}, "masked values"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            Resident(**{"board": board, "X": X, "y": y, **change})
    codes_only = GoldenBoard(GEOMETRY.replace(searchers=0), 1 << 12)
    codes_only.load(0, b"kept")
    with pytest.raises(ValueError, match="attribute 'x0' is a number, and the board has no searchers"):
        Resident(codes_only, X, y)
    assert codes_only.model.memory.read(0, 4) == b"kept"
    held = Resident(board, X, y)
    with pytest.raises(ValueError, match="lie in another board's memory"):
        VFDT().learn_resident(held)
    for parameters in ({"class_weight": {"yes": 2}}, {"nominal": [0]}):
        with pytest.raises(ValueError, match=f"{next(iter(parameters))}=.* instances that the host encodes"):
            VFDT(board=board, leaf_prediction="mc", **parameters).learn_resident(held)
    tree = VFDT(board=board, leaf_prediction="mc")
    with pytest.raises(TypeError, match="resident must be a Resident, not 'held'"):
        tree.learn_resident("held")
    tree.learn_resident(held)
    with pytest.raises(ValueError, match="has learnt with other code books or classes"):
        tree.learn_resident(Resident(board, X + 1, y))


def test_more_classes_than_a_byte_tells():
    board = GoldenBoard(GEOMETRY.replace(classes=300, slots=2), 1 << 16)
    with pytest.raises(ValueError, match="300 classes, but a row's label is a byte: 256 at most"):
        Resident(board, np.zeros((300, 4), np.float32), np.arange(300))
    with pytest.raises(ValueError, match="whole bus words of 8 bytes, .* not 1001: choose 1008"):
        open_board("simulated", GEOMETRY, memory_size=1001)


def test_rows_that_others_have_taken_the_place_of_are_refused(seed):
    X, y = rows(seed, np.float32, 200)
    board = GoldenBoard(GEOMETRY, 1 << 14)
    options = {"board": board, "leaf_prediction": "mc"}
    held, beyond = Resident(board, X, y), Resident(board, X, y, address=1 << 12)
    VFDT(**options).partial_fit(X[:5], y[:5], classes=["no", "yes"])
    assert VFDT(**options).learn_resident(beyond) > 0
    for take_their_place in (lambda: None, lambda: Resident(board, X, y, address=beyond.address + beyond.bytes - 1)):
        take_their_place()
        with pytest.raises(ValueError, match="not in the board's memory any more, for others have been put there"):
            VFDT(**options).learn_resident(held)
        held = beyond


def test_a_board_is_free_as_soon_as_its_tree_is_gone(seed):
    """Without a garbage collector that looks for cycles."""
    X, y = rows(seed, np.float32, 300)
    board = GoldenBoard(GEOMETRY, 1 << 16)
    held = Resident(board, X, y)
    gc.collect()
    gc.disable()
    try:
        shares = [VFDT(board=board, grace=60, leaf_prediction="mc").learn_resident(held) for _ in range(2)]
    finally:
        gc.enable()
    assert shares[0] == shares[1]
