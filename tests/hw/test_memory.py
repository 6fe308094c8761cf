"""Boards with memory: what stands before it."""

import numpy as np
import pytest
from bregalad import Geometry
from bregalad.boards import open_board
from bregalad.boards.linked import LinkedBoard
from bregalad.trees.policy.policy import SplitPolicy
from bregalad.trees.structure.cells import CellMap
from bregalad.trees.training.trainer import Trainer
from bregalad_hw.boards import BOARDS
from bregalad_hw.boards.memory import MemoryGate
from bregalad_sim.runner import run
from bregalad_sim.virtual import LineWire, VirtualBoard


def test_gate(tmp_path):
    run(MemoryGate(64, 1 << 12), "dut", "bench_gate", tmp_path, width=64, size=1 << 12)


@pytest.mark.slow
def test_a_board_with_memory_walks_records():
    """The top level at its pins, a serial line, and the chip's model: rows by LOAD, the emulated board's tree."""
    geometry = Geometry(lanes=4, passes=1, bins=8, slots=32, count_width=16, bus_width=64)
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 255, (800, 4)).astype(np.uint8)
    labels = ((codes[:, 0] > 100) ^ (codes[:, 1] > 180)).astype(np.int32)
    cells = CellMap.build([0] * 4, geometry.bins, "multiway")
    policy = SplitPolicy(delta=1e-2, grace=60, delay=40)
    board = VirtualBoard(BOARDS["ulx3s-85f-sdram"], geometry.replace(nodes=128))
    trainers = [
        Trainer(end, cells, policy, 2)
        for end in (open_board("emulated", geometry), LinkedBoard(LineWire(board), timeout=5))
    ]
    expected, predictions = (trainer.learn(codes, labels) for trainer in trainers)
    assert (predictions == expected).all()
    assert trainers[1].nodes.difference(trainers[0].nodes) is None and trainers[0].tally.splits > 1
