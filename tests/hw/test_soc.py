"""The core for a system on chip: its blocks, each under its own bench, and the whole."""

import random

import pytest
from amaranth.sim import Simulator
from bregalad.protocol.registers import Access, Field, Register
from bregalad_hw.mcmu.axi import write_signature
from bregalad_hw.soc.commands import CommandRing
from bregalad_hw.soc.crossing import AxiCrossing
from bregalad_hw.soc.lite import RegisterPort
from bregalad_hw.soc.reports import ReportRing
from bregalad_hw.soc.shared import SharedReads, SharedWrites
from bregalad_sim.runner import run


@pytest.mark.parametrize("width", [32, *(pytest.param(width, marks=pytest.mark.slow) for width in (128, 512))])
def test_reports(width, tmp_path):
    dut = ReportRing(width, burst=16)
    run(dut, "dut", "bench_reports", tmp_path, width=width, latency=dut.latency)


@pytest.mark.parametrize("width", [*(pytest.param(width, marks=pytest.mark.slow) for width in (32, 128)), 512])
def test_commands(width, tmp_path):
    dut = CommandRing(width)
    run(dut, "dut", "bench_commands", tmp_path, width=width, latency=dut.latency)


def test_registers(tmp_path):
    accelerator = [Register(f"a{at}", at, Field("value", 32, Access.RW, "")) for at in (0, 0x18, 0x3FC)]
    accelerator.append(Register("told", 0x40, Field("value", 32, Access.RO, "")))
    core = [Register(f"c{at}", at, Field("value", 32, Access.RW, "")) for at in (0, 4, 0x20)]
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


def test_crossing(seed):
    """Words of each channel come in order, whichever clock is faster, with pauses on both sides."""
    for periods in ((1.0, 2.7), (2.7, 1.0)):
        dut = AxiCrossing(write_signature(32), "near", "far")
        simulator = Simulator(dut)
        for domain, period in zip(("near", "far"), periods, strict=True):
            simulator.add_clock(period * 1e-6, domain=domain)

        def across(source, channel, payload, rng, target, simulator=simulator):
            words = [rng.getrandbits(2) for _ in range(200)]
            (one, here), (other, there) = source, target

            async def put(ctx):
                for word in words:
                    await ctx.tick(here).repeat(rng.choice([1, 1, 1, 5]))
                    ctx.set(getattr(one, payload), word)
                    ctx.set(getattr(one, f"{channel}valid"), 1)
                    await ctx.tick(here).until(getattr(one, f"{channel}ready"))
                    ctx.set(getattr(one, f"{channel}valid"), 0)

            async def get(ctx):
                for word in words:
                    await ctx.tick(there).repeat(rng.choice([1, 1, 1, 9]))
                    ctx.set(getattr(other, f"{channel}ready"), 1)
                    (came,) = (
                        await ctx.tick(there).sample(getattr(other, payload)).until(getattr(other, f"{channel}valid"))
                    )
                    assert came == word, channel
                    ctx.set(getattr(other, f"{channel}ready"), 0)

            simulator.add_testbench(put)
            simulator.add_testbench(get)

        near, far = (dut.i, "near"), (dut.o, "far")
        across(near, "aw", "awaddr", random.Random(seed), far)
        across(near, "w", "wdata", random.Random(seed + 1), far)
        across(far, "b", "bresp", random.Random(seed + 2), near)
        simulator.run()
