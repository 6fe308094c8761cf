"""COBS in hardware against the functions of protocol/link.py, bytes of any kind, stalls."""

import cocotb
from bregalad.protocol.link import decode_cobs, encode_cobs
from bregalad_hw.link.cobs import CobsDecoder, CobsEncoder
from cocotb.triggers import RisingEdge

from bregalad_sim.bits import words_of
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench


def words(rng):
    """Bytes of some words: with runs around the longest block's length, and zeros."""
    size = 4 * rng.choice([1, 2, rng.randint(1, 20), rng.randint(60, 68), rng.randint(120, 200)])
    zeros = rng.choice([0, 0, 0.004, 0.1, 0.9])
    return bytes(0 if rng.random() < zeros else rng.randrange(1, 256) for _ in range(size))


async def begin(dut, block, stalls):
    """The bench; its streams stall so often."""
    bench = BlockBench(dut, block)
    await bench.start()
    bench.ends["i"].stall, bench.ends["o"].stall = stalls
    return bench


async def move(bench, items, until, limit):
    """Let the items through until ``until(got)``; what came."""
    got = []
    bench.ends["i"].items += items
    for _ in range(limit):
        bench.drive()
        item = (await bench.settle())["o"]
        if item is not None:
            got.append(item)
        await RisingEdge(bench.dut.clk)
        if not bench.ends["i"].items and until(got):
            return got
    raise AssertionError(f"no end after {len(got)} items")


@cocotb.test(timeout_time=200, timeout_unit="ms", skip="decoder" != parameters().get("end"))
@cocotb.parametrize(stalls=[(0.0, 0.0), (0.0, 0.7), (0.8, 0.0), (0.4, 0.4)])
async def decodes(dut, stalls):
    """Frames, damaged frames and noise: the words of what decode_cobs gives, or bad at the end."""
    bench = await begin(dut, CobsDecoder(), stalls)
    rng = bench.rng
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
    got = await move(bench, stream, lambda got: sum(w["last"] for w in got) == len(want), 40 * len(stream) + 100)
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
    bench = await begin(dut, CobsEncoder(), stalls)
    items, want = [], b""
    for _ in range(parameters()["count"]):
        data = words(bench.rng)
        want += encode_cobs(data) + b"\0"
        items += [{"data": word, "last": 4 * at == len(data)} for at, word in enumerate(words_of(data, 4), 1)]
    got = await move(bench, items, lambda got: len(got) >= len(want), 40 * len(want) + 1000)
    assert bytes(got) == want
