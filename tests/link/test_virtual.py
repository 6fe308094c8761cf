"""Virtual boards: what the bitstream is built of, pin by pin, under the unmodified driver."""

import queue
import threading

import numpy as np
import pytest
from bregalad import VFDT, open_board
from bregalad.boards.emulated import EmulatedBoard
from bregalad.boards.linked import LinkedBoard
from bregalad.geometry import PRESETS
from bregalad.hw.boards import BOARDS
from bregalad.sim.virtual import LineWire, VirtualBoard, serve
from streams import elec, needs, nominal

GEOMETRY = PRESETS["small"]


@pytest.fixture
def board():
    with VirtualBoard(BOARDS["ulx3s-85f"], GEOMETRY) as virtual:
        yield virtual


@needs("elec")
@pytest.mark.parametrize("count", [2000, pytest.param(45_312, marks=pytest.mark.slow)])
def test_tree_is_the_emulated_boards(count, board):
    X, y, schema = elec()
    trees, found = [], []
    linked = LinkedBoard(LineWire(board))
    for kind in (EmulatedBoard(GEOMETRY), linked):
        tree = VFDT(board=kind, nominal=nominal(X, schema), delta=1e-3, grace=100)
        found.append(tree.test_then_train(X[:count], np.asarray(y)[:count], np.unique(y)))
        trees.append(tree)
    assert trees[0].report()["nodes"] > 1
    assert trees[1].difference(trees[0]) is None
    assert (found[0] == found[1]).all()
    print(f"{count} instances, {board.clocks} clocks, {linked.statistics()}")


@pytest.mark.parametrize("ratio", [3, 8.0, True])
def test_refuses(ratio):
    with pytest.raises(ValueError, match="ratio must be a whole number, at least 4 clocks per bit"):
        VirtualBoard(BOARDS["ulx3s-85f"], "tiny", ratio=ratio)


@pytest.fixture
def served(board):
    """What `open_board` calls the virtual board."""
    path, done = queue.Queue(), threading.Event()
    server = threading.Thread(target=serve, args=(board, path.put, done.is_set))
    server.start()
    yield path.get(timeout=60)
    done.set()
    server.join(timeout=60)
    assert not server.is_alive()


@needs("elec")
def test_serial_port(served):
    """What a user does: the port's path is all that the driver knows."""
    X, y, schema = elec()
    X, labels, classes = X[:1200], np.asarray(y)[:1200], np.unique(y)
    options = {"nominal": nominal(X, schema), "delta": 1e-3, "grace": 100}
    emulated = VFDT(board=EmulatedBoard(GEOMETRY), **options)
    expected = emulated.test_then_train(X, labels, classes)
    with open_board(served, timeout=60) as board:
        assert board.geometry == GEOMETRY
        tree = VFDT(board=board, **options)
        assert (tree.test_then_train(X, labels, classes) == expected).all()
        assert emulated.report()["nodes"] > 1
        assert tree.difference(emulated) is None
