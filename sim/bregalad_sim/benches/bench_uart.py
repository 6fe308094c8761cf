"""The serial line's two ends, each with cocotbext-uart on the other."""

import random

import cocotb
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge, Timer
from cocotbext.uart import UartSink, UartSource

from bregalad_sim.benches.models import quiet
from bregalad_sim.runner import parameters
from bregalad_sim.streams import Sink, Source, reset


def any_bytes(rng):
    """Every byte, or a part of them where each takes long, in any order."""
    return bytes(rng.sample(range(256), min(256, 2000 // parameters()["ratio"])))


def line_baud(share=1.0):
    """Bits per second of the other end, which may be off by a share."""
    return parameters()["baud"] * share


@cocotb.test(timeout_time=20, timeout_unit="ms", skip="receiver" != parameters().get("end"))
@cocotb.parametrize(share=[1.0, 0.975, 1.025])
async def receives(dut, share):
    """Any bytes, with and without gaps, from a sender that is a little slow or fast."""
    rng = random.Random(cocotb.RANDOM_SEED)
    if parameters()["ratio"] < 8:
        share = 1
    dut.rx.value = 1
    await reset(dut)
    source = UartSource(dut.rx, baud=line_baud(share))
    quiet(dut, "rx")
    sink = Sink(dut, "o", 8, rng)
    data = any_bytes(rng)
    cocotb.start_soon(offer(source, data, rng))
    got = bytearray()
    for _ in range(40 * len(data) * parameters()["ratio"] + 4000):
        sink.stall = rng.choice([0, 0.9])
        sink.drive()
        await ReadOnly()
        byte = sink.settle()
        assert not int(dut.lost.value)
        if byte is not None:
            got.append(byte)
        await RisingEdge(dut.clk)
        if len(got) == len(data):
            break
    assert got == data


async def offer(source, data, rng):
    at = 0
    while at < len(data):
        size = rng.choice([1, 2, 40])
        await source.write(data[at : at + size])
        await source.wait()
        at += size
        await Timer(rng.randrange(1, 5000), unit="ns")


@cocotb.test(timeout_time=20, timeout_unit="ms", skip="receiver" != parameters().get("end"))
async def survives(dut):
    """Glitches make no byte; a break and a byte without room are told, the next one is heard."""
    rng = random.Random(cocotb.RANDOM_SEED)
    ratio = parameters()["ratio"]
    dut.rx.value = 1
    await reset(dut, dut.o__ready)
    await ClockCycles(dut.clk, 20)
    if ratio >= 16:
        for _ in range(20):
            dut.rx.value = 0
            await ClockCycles(dut.clk, rng.choice([1, ratio // 4]))
            dut.rx.value = 1
            await ClockCycles(dut.clk, 12 * ratio)
            assert not int(dut.o__valid.value) and not int(dut.lost.value)
    lost = cocotb.start_soon(count(dut, dut.lost))
    dut.rx.value = 0
    await ClockCycles(dut.clk, 40 * ratio)
    dut.rx.value = 1
    await ClockCycles(dut.clk, 2 * ratio)
    assert not int(dut.o__valid.value)
    source = UartSource(dut.rx, baud=line_baud())
    quiet(dut, "rx")
    await source.write(b"\x5a\xa5")
    await source.wait()
    await ClockCycles(dut.clk, 2 * ratio)
    assert int(dut.o__valid.value) and int(dut.o__payload.value) == 0x5A
    lost.cancel()
    assert lost_bytes[0] == 2, "the break and the byte without room"
    dut.o__ready.value = 1
    await RisingEdge(dut.clk)
    dut.o__ready.value = 0
    await source.write(b"\x33")
    await source.wait()
    await ClockCycles(dut.clk, 2 * ratio)
    assert int(dut.o__valid.value) and int(dut.o__payload.value) == 0x33


lost_bytes = [0]


async def count(dut, signal):
    lost_bytes[0] = 0
    while True:
        await ReadOnly()
        lost_bytes[0] += int(signal.value)
        await RisingEdge(dut.clk)


@cocotb.test(timeout_time=20, timeout_unit="ms", skip="transmitter" != parameters().get("end"))
@cocotb.parametrize(stall=[0.0, 0.98])
async def transmits(dut, stall):
    """Any bytes, without gaps at 10 bits and 4 clocks each."""
    rng = random.Random(cocotb.RANDOM_SEED)
    await reset(dut)
    sink = UartSink(dut.tx, baud=line_baud())
    quiet(dut, "tx")
    source = Source(dut, "i", 8, rng)
    source.stall = stall
    data = any_bytes(rng)
    source.items.extend(data)
    clocks = 0
    while sink.count() < len(data):
        source.drive()
        await ReadOnly()
        source.settle()
        await RisingEdge(dut.clk)
        clocks += 1
        assert clocks < 100 * len(data) * parameters()["ratio"], "no end"
    assert sink.read_nowait(len(data)) == data
    if not stall:
        assert clocks <= len(data) * (10 * parameters()["ratio"] + 4) + 20
