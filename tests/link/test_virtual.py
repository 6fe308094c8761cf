"""The virtual board: the bitstream's own RTL, pin by pin, under the unmodified driver."""

import pytest
from bregalad import VFDT
from bregalad.boards.emulated import EmulatedBoard
from bregalad.boards.linked import LinkedBoard
from bregalad.geometry import PRESETS
from bregalad.sim.virtual import VirtualBoard, VirtualWire
from streams import elec, needs

GEOMETRY = PRESETS["small"]


@pytest.fixture
def board():
    with VirtualBoard(GEOMETRY, ratio=8) as virtual:
        yield virtual


@needs("elec")
@pytest.mark.parametrize("count", [2000, pytest.param(45_312, marks=pytest.mark.slow)])
def test_tree_is_the_emulated_boards(count, board):
    X, y, schema = elec()
    X, y = X[:count], y[:count]
    trees, found = [], []
    for kind in (EmulatedBoard(GEOMETRY), LinkedBoard(VirtualWire(board))):
        tree = VFDT(board=kind, schema=schema, delta=1e-3, grace=100)
        found.append(tree.test_then_train(X, y))
        trees.append(tree)
    assert trees[1].difference(trees[0]) is None
    assert (found[0] == found[1]).all()
    print(f"{count} instances, {board.clocks} clocks, {kind.statistics()}")


@pytest.mark.parametrize("ratio", [3, 8.0])
def test_refuses(ratio):
    with pytest.raises(ValueError, match="ratio must be at least 4 clocks per bit, not"):
        VirtualBoard("tiny", ratio=ratio)
