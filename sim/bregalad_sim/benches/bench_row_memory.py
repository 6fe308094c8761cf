"""The row memory under cocotbext-axi's manager: bursts and writes of a word beside each other, pauses everywhere."""

import random

import cocotb
from cocotbext.axi import AxiBus, AxiMaster, AxiResp

from bregalad_sim.benches.models import pause, quiet
from bregalad_sim.runner import parameters
from bregalad_sim.streams import reset


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def anything(dut):
    """Every byte that was written is read; behind the end there is DECERR."""
    rng = random.Random(cocotb.RANDOM_SEED)
    word, size = parameters()["width"] // 8, parameters()["size"]
    quiet(dut, "i_")
    await reset(dut)
    manager = AxiMaster(AxiBus.from_prefix(dut, "i_"), dut.clk, dut.rst)
    pause(rng, 0.3, manager.read_if, manager.write_if)
    content, half = bytearray(size), size // 2
    for at in range(0, size, word):
        content[at : at + word] = rng.randbytes(word)
        await manager.write(at, bytes(content[at : at + word]))

    async def write_some(base):
        for _ in range(300):
            at = base + rng.randrange(half)
            data = rng.randbytes(rng.randint(1, word - at % word))
            content[at : at + len(data)] = data
            assert (await manager.write(at, data)).resp == AxiResp.OKAY

    async def read_some(base):
        for _ in range(100):
            at = base + rng.randrange(half)
            count = rng.randint(1, half - (at - base))
            answer = await manager.read(at, count)
            assert answer.resp == AxiResp.OKAY and answer.data == content[at : at + count], f"{count} at {at:#x}"

    for written in (0, half):
        writes = cocotb.start_soon(write_some(written))
        await read_some(half - written)
        await writes
    assert (await manager.read(0, size)).data == content
    outside = size * rng.randint(1, 1 << 20) + rng.randrange(size // word) * word
    assert (await manager.read(outside, word)).resp == AxiResp.DECERR
