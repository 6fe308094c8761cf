"""Boards with memory: what stands before it."""

from bregalad_hw.boards.memory import MemoryGate
from bregalad_sim.runner import run


def test_gate(tmp_path):
    run(MemoryGate(64, 1 << 12), "dut", "bench_gate", tmp_path, width=64, size=1 << 12)
