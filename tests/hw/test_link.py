"""The board's end of the link, each block under its own bench; tests/link/test_virtual.py has the whole."""

import pytest
from bregalad_hw.link.cobs import CobsDecoder, CobsEncoder
from bregalad_hw.link.intake import Intake
from bregalad_hw.link.session import Session
from bregalad_hw.link.uart import UartReceiver, UartTransmitter
from bregalad_hw.link.window import Window
from bregalad_sim.runner import run


# Short runs are over in Icarus before Verilator's compiler is.
@pytest.mark.parametrize(
    "count, simulator", [(600, "icarus"), pytest.param(100_000, "verilator", marks=pytest.mark.slow)]
)
def test_intake(count, simulator, tmp_path):
    run(
        Intake(64, 64, peer_width=3),
        "dut",
        "bench_intake",
        tmp_path,
        simulator=simulator,
        count=count,
        ring_words=64,
        frame_bytes=64,
    )


@pytest.mark.parametrize("end, kind", [("receiver", UartReceiver), ("transmitter", UartTransmitter)])
@pytest.mark.parametrize(
    "ratio, baud",
    [*(pytest.param(*each, marks=pytest.mark.slow) for each in ((5, 20_000_000), (8, 12_500_000))), (34, 3_000_000)],
)
def test_uart(end, kind, ratio, baud, tmp_path):
    """At most ``ratio`` clocks of 10 ns for a bit, whole or not."""
    run(kind(100_000_000, baud), "dut", "bench_uart", tmp_path, end=end, ratio=ratio, baud=baud)


@pytest.mark.parametrize("end, kind", [("decoder", CobsDecoder), ("encoder", CobsEncoder)])
def test_cobs(end, kind, tmp_path):
    run(kind(), "dut", "bench_cobs", tmp_path, end=end, count=30)


def test_window(tmp_path):
    run(Window(4, 32, timeout=100), "dut", "bench_window", tmp_path, rounds=20, frames=4, frame_bytes=32)


def test_session(tmp_path):
    run(Session(4), "dut", "bench_session", tmp_path, count=150)
