"""Boards with memory: what stands before it."""

import numpy as np
import pytest
from bregalad import Geometry
from bregalad.boards import open_board
from bregalad.boards.linked import LinkedBoard
from bregalad.driver.trainer import Trainer
from bregalad.policy.split_policy import SplitPolicy
from bregalad.protocol.pages import page_bytes
from bregalad.tree.cells import CellMap
from bregalad_hw.boards import BOARDS
from bregalad_sim.virtual import CableWire, LineWire, VirtualBoard


@pytest.mark.slow
@pytest.mark.parametrize("name, wire, resident", [("ulx3s-85f-sdram", LineWire, 4), ("ecpix5-85f-ddr3", CableWire, 0)])
def test_a_board_with_memory_walks_records(name, wire, resident):
    """The top level, its line or cable, and the chip's model, which watches its timing: the emulated board's tree.

    Rows lie in memory, and statistics of all leaves but the resident ones.
    """
    geometry = Geometry(lanes=4, passes=1, bins=8, slots=32, count_width=16, bus_width=128)
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 255, (800, 4)).astype(np.uint8)
    labels = ((codes[:, 0] > 100) ^ (codes[:, 1] > 180)).astype(np.int32)
    cells = CellMap.build([0] * 4, geometry.bins, "multiway")
    policy, held = SplitPolicy(delta=1e-2, grace=60), geometry.replace(nodes=128, resident=resident)
    with VirtualBoard(BOARDS[name], held) as virtual, LinkedBoard(wire(virtual), timeout=5) as linked:
        trainers = [Trainer(end, cells, policy, 2) for end in (open_board("emulated", geometry), linked)]
        expected, predictions = (trainer.learn(codes, labels) for trainer in trainers)
        assert (predictions == expected).all()
        assert trainers[1].nodes.difference(trainers[0].nodes) is None and trainers[0].event_counts.splits > 1
        counters, size = linked.counters(), linked.memory_size
        assert counters["dma_bytes"] > 800 * 4 and bool(counters["page_bytes"]) == bool(resident)
        assert not resident or size == (1 << 25) - page_bytes(held)
        with pytest.raises(ValueError, match=f"2 bytes at {size - 1:#x} do not fit the board's memory of {size} bytes"):
            linked.load(size - 1, b"xy")
