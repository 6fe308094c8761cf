"""The board's end of the link, each block under its own bench, and the whole behind a UART."""

import pytest
from bregalad.geometry import PRESETS
from bregalad.hw.link.cobs import CobsDecoder, CobsEncoder
from bregalad.hw.link.intake import Intake
from bregalad.hw.link.linked import LinkedAccelerator
from bregalad.hw.link.uart import UartReceiver, UartTransmitter
from bregalad.hw.link.window import Window
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


@pytest.mark.parametrize("end, kind", [("receiver", UartReceiver), ("transmitter", UartTransmitter)])
@pytest.mark.parametrize("ratio, baud", [(5, 20_000_000), (8, 12_500_000), (34, 3_000_000)])
def test_uart(end, kind, ratio, baud, tmp_path):
    """At most ``ratio`` clocks of 10 ns for a bit, whole or not."""
    run(kind(100_000_000, baud), "dut", "bench_uart", tmp_path, end=end, ratio=ratio, baud=baud)


@pytest.mark.parametrize("end, kind", [("decoder", CobsDecoder), ("encoder", CobsEncoder)])
def test_cobs(end, kind, tmp_path):
    run(kind(), "dut", "bench_cobs", tmp_path, end=end, count=30)


def test_window(tmp_path):
    run(Window(4, 32, timeout=100), "dut", "bench_window", tmp_path, rounds=20, frames=4,
        frame_bytes=32)
