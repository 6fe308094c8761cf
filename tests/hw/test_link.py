"""The board's end of the link, each block under its own bench, and the whole behind a UART."""

import pytest
from bregalad.geometry import PRESETS
from bregalad.hw.link.intake import Intake
from bregalad.hw.link.linked import LinkedAccelerator
from bregalad.sim.runner import run

CLOCK, BAUD = 1_000_000, 125_000


@pytest.mark.parametrize("count", [3000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_intake(count, tmp_path):
    run(Intake(64, 64, peer_width=3), "dut", "bench_intake", tmp_path, simulator="verilator",
        count=count, ring_words=64, frame_bytes=64)


def test_linked(tmp_path):
    geometry = PRESETS["tiny"]
    dut = LinkedAccelerator(geometry, clock_hz=CLOCK, baud=BAUD, ring_words=256, frame_bytes=256,
                            up_frames=4, up_frame_bytes=64, timeout=20)
    run(dut, "dut", "bench_linked", tmp_path, simulator="verilator", clock_hz=CLOCK, baud=BAUD,
        geometry=geometry.as_dict(), rounds=4)
