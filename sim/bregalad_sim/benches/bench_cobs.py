"""COBS in hardware against the functions of protocol/link.py, bytes of any kind, stalls."""

import random

import cocotb
from bregalad.protocol.link import decode_cobs, encode_cobs
from bregalad_hw.link.words import frame_layout
from bregalad_hw.mcmu.report import word_layout
from cocotb.triggers import ReadOnly, RisingEdge

from bregalad_sim.runner import parameters
from bregalad_sim.streams import Sink, Source, reset


def words(rng):
    """Bytes of some words: with runs around the longest block's length, and zeros."""
    size = 4 * rng.choice([1, 2, rng.randint(1, 20), rng.randint(60, 68), rng.randint(120, 200)])
    zeros = rng.choice([0, 0, 0.004, 0.1, 0.9])
    return bytes(0 if rng.random() < zeros else rng.randrange(1, 256) for _ in range(size))


async def move(dut, source, sink, until, limit):
    """Let both ends run until ``until(got)``; what came."""
    got = []
    for _ in range(limit):
        source.drive()
        sink.drive()
        await ReadOnly()
        source.settle()
        item = sink.settle()
        if item is not None:
            got.append(item)
        await RisingEdge(dut.clk)
        if not source.items and until(got):
            return got
    raise AssertionError(f"no end after {len(got)} items")


@cocotb.test(timeout_time=200, timeout_unit="ms", skip="decoder" != parameters().get("end"))
@cocotb.parametrize(stalls=[(0.0, 0.0), (0.0, 0.7), (0.8, 0.0), (0.4, 0.4)])
async def decodes(dut, stalls):
    """Frames, damaged frames and noise: the words of what decode_cobs gives, or bad at the end."""
    rng = random.Random(cocotb.RANDOM_SEED)
    await reset(dut)
    source, sink = Source(dut, "i", 8, rng), Sink(dut, "o", frame_layout(), rng)
    source.stall, sink.stall = stalls
    stream, want = b"", []
    for _ in range(parameters()["count"]):
        encoded = bytearray(encode_cobs(words(rng)))
        match rng.choices(["keep", "flip", "cut", "noise", "empty"], [8, 1, 1, 1, 1])[0]:
            case "flip":
                encoded[rng.randrange(len(encoded))] ^= rng.randrange(1, 256)
            case "cut":
                del encoded[rng.randrange(len(encoded)) :]
            case "noise":
                encoded = rng.randbytes(rng.randint(1, 40))
            case "empty":
                encoded = b""
        stream += encoded + b"\0"
    *frames, _ = stream.split(b"\0")
    for encoded in frames:
        if encoded:
            data = decode_cobs(bytes(encoded))
            want.append(data if data and len(data) % 4 == 0 else None)
    source.items.extend(stream)
    got = await move(dut, source, sink, lambda got: sum(w["last"] for w in got) == len(want), 40 * len(stream) + 100)
    frame = b""
    for word in got:
        frame += word["data"].to_bytes(4, "little")
        if word["last"]:
            expected = want.pop(0)
            assert word["bad"] == (expected is None)
            assert expected is None or frame == expected
            frame = b""


@cocotb.test(timeout_time=200, timeout_unit="ms", skip="encoder" != parameters().get("end"))
@cocotb.parametrize(stalls=[(0.0, 0.0), (0.0, 0.7), (0.8, 0.0), (0.4, 0.4)])
async def encodes(dut, stalls):
    """Byte for byte what encode_cobs gives."""
    rng = random.Random(cocotb.RANDOM_SEED)
    await reset(dut)
    source, sink = Source(dut, "i", word_layout(), rng), Sink(dut, "o", 8, rng)
    source.stall, sink.stall = stalls
    want = b""
    for _ in range(parameters()["count"]):
        data = words(rng)
        want += encode_cobs(data) + b"\0"
        source.items.extend(
            {"data": int.from_bytes(data[at : at + 4], "little"), "last": at + 4 == len(data)}
            for at in range(0, len(data), 4)
        )
    got = await move(dut, source, sink, lambda got: len(got) >= len(want), 40 * len(want) + 1000)
    assert bytes(got) == want
