"""The core for a system on chip: its blocks, each under its own bench, and the whole."""

import pytest
from bregalad.geometry import PRESETS
from bregalad.protocol.registers import Access, Field, Register
from bregalad_hw.soc.commands import CommandRing
from bregalad_hw.soc.lite import RegisterPort
from bregalad_hw.soc.reports import ReportRing
from bregalad_hw.soc.saves import SaveFilter
from bregalad_hw.soc.shared import SharedReads, SharedWrites
from bregalad_hw.soc.top import AxiTop, StreamTop
from bregalad_sim.runner import run


@pytest.mark.parametrize("width", [32, *(pytest.param(width, marks=pytest.mark.slow) for width in (128, 512))])
def test_reports(width, tmp_path):
    dut = ReportRing(width, burst=16)
    run(dut, "dut", "bench_reports", tmp_path, width=width, latency=dut.latency)


@pytest.mark.parametrize("width", [*(pytest.param(width, marks=pytest.mark.slow) for width in (32, 128)), 512])
def test_commands(width, tmp_path):
    dut = CommandRing(width)
    run(dut, "dut", "bench_commands", tmp_path, width=width, latency=dut.latency)


@pytest.mark.parametrize("width", [32, pytest.param(256, marks=pytest.mark.slow)])
def test_saves(width, tmp_path):
    run(SaveFilter(width), "dut", "bench_saves", tmp_path, width=width)


def test_registers(tmp_path):
    accelerator = [Register(f"a{at}", at, (Field("value", 32, Access.RW, ""),)) for at in (0, 0x18, 0x3FC)]
    accelerator.append(Register("told", 0x40, (Field("value", 32, Access.RO, ""),)))
    core = [Register(f"c{at}", at, (Field("value", 32, Access.RW, ""),)) for at in (0, 4, 0x20)]
    dut = RegisterPort(accelerator, core, stopped=("c4",), patience=60)
    run(
        dut,
        "dut",
        "bench_lite",
        tmp_path,
        accelerator=[0, 0x18, 0x3FC],
        read_only=[0x40],
        core=[0, 4, 0x20],
        stopped=[4],
        latency=dut.latency,
    )


@pytest.mark.parametrize("width, managers, kind, way", [(32, 3, SharedReads, "r"), (128, 2, SharedWrites, "w")])
def test_shared(width, managers, kind, way, tmp_path):
    run(kind(width, managers), "dut", "bench_shared", tmp_path, width=width, managers=managers, way=way)


@pytest.mark.parametrize("clocks", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_stream(clocks, tmp_path):
    geometry = PRESETS["tiny"].replace(count_width=12)
    run(StreamTop(geometry, clocks), "bregalad", "bench_stream", tmp_path, geometry=geometry.as_dict())


def test_refuses():
    with pytest.raises(ValueError, match="nodes must be 0, not 64"):
        StreamTop(PRESETS["tiny"].replace(nodes=64))
    with pytest.raises(ValueError, match="clocks must be 1 or 2, not 3"):
        AxiTop(PRESETS["tiny"], clocks=3)
