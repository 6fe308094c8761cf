"""Boards with memory: what stands before it."""

import numpy as np
import pytest
from bregalad import VFDT, Geometry
from bregalad.boards import open_board
from bregalad.boards.engine import Engine
from bregalad.boards.linked import LinkedBoard
from bregalad.driver.trainer import Trainer
from bregalad.geometry import PRESETS
from bregalad.policy.split_policy import SplitPolicy
from bregalad.protocol.pages import page_bytes
from bregalad.tree.cells import CellMap
from bregalad_hw.boards import BOARDS
from bregalad_sim.virtual import CableWire, LineWire, VirtualBoard
from streams import elec, needs, nominal

GEOMETRY = PRESETS["tiny"].replace(passes=4, slots=64, resident=4, bus_width=64)


@pytest.mark.slow
@pytest.mark.parametrize("name, wire", [("ulx3s-85f-sdram", LineWire), ("ecpix5-85f-ddr3", CableWire)])
def test_a_board_with_memory_walks_records(name, wire):
    """The top level, its line or cable, and the chip's model: rows by LOAD, the emulated board's tree."""
    geometry = Geometry(lanes=4, passes=1, bins=8, slots=32, count_width=16, bus_width=128)
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 255, (800, 4)).astype(np.uint8)
    labels = ((codes[:, 0] > 100) ^ (codes[:, 1] > 180)).astype(np.int32)
    cells = CellMap.build([0] * 4, geometry.bins, "multiway")
    policy = SplitPolicy(delta=1e-2, grace=60)
    board = VirtualBoard(BOARDS[name], geometry.replace(nodes=128))
    trainers = [
        Trainer(end, cells, policy, 2)
        for end in (open_board("emulated", geometry), LinkedBoard(wire(board), timeout=5))
    ]
    expected, predictions = (trainer.learn(codes, labels) for trainer in trainers)
    assert (predictions == expected).all()
    assert trainers[1].nodes.difference(trainers[0].nodes) is None and trainers[0].event_counts.splits > 1


@pytest.fixture(scope="module")
def linked():
    """The board's own top level and LiteDRAM's controller, with a model of the chip that watches its timing."""
    with VirtualBoard(BOARDS["ulx3s-85f-sdram"], GEOMETRY) as virtual, LinkedBoard(LineWire(virtual)) as board:
        yield board


@pytest.mark.slow
@needs("elec")
def test_learns_from_sdram(linked):
    """Rows lie there, and statistics of all leaves but four."""
    X, y, schema = elec()
    X, labels, classes = X[:1500], np.asarray(y)[:1500], np.unique(y)
    trees, found = [], []
    for board in (Engine(GEOMETRY), linked):
        tree = VFDT(board=board, nominal=nominal(X, schema), delta=1e-3, grace=100)
        found.append(tree.test_then_train(X, labels, classes))
        trees.append(tree)
    assert trees[0].report()["nodes"] > 1
    assert trees[1].difference(trees[0]) is None
    assert (found[0] == found[1]).all()
    counters = linked.counters()
    assert counters["dma_bytes"] > 1500 * 8 and counters["page_bytes"]


@pytest.mark.slow
def test_refuses_what_is_outside(linked):
    size = linked.memory_size
    assert size == (1 << 25) - page_bytes(GEOMETRY)
    with pytest.raises(ValueError, match=f"2 bytes at {size - 1:#x} do not fit the board's memory of {size} bytes"):
        linked.load(size - 1, b"xy")
