"""The gate before a memory: bursts and writes of a manager that is reset at any time, against a model of both."""

import random
from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from cocotbext.axi import AxiBus, AxiRam

from bregalad_sim.benches.models import pause, quiet
from bregalad_sim.runner import parameters
from bregalad_sim.streams import reset


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def anything(dut):
    """Order, content, DECERR behind the end; after a reset nothing comes that was asked for before."""
    rng = random.Random(cocotb.RANDOM_SEED)
    word, size = parameters()["width"] // 8, parameters()["size"]
    quiet(dut, "o_")
    ram = AxiRam(AxiBus.from_prefix(dut, "o_"), dut.clk, dut.rst, size=size)
    inputs = ("arvalid", "araddr", "arlen", "rready", "awvalid", "awaddr", "wvalid", "wdata", "wstrb", "bready")
    await reset(dut, dut.reset, dut.open, *(getattr(dut, f"i__{name}") for name in inputs))
    for name in ("ar", "aw"):
        getattr(dut, f"i__{name}size").value = word.bit_length() - 1
        getattr(dut, f"i__{name}burst").value = 1
    dut.i__awlen.value, dut.i__arid.value, dut.i__awid.value, dut.i__wlast.value = 0, 0, 0, 1
    for name in ("cache", "prot"):
        getattr(dut, f"i__ar{name}").value = getattr(dut, f"i__aw{name}").value = 0
    pause(rng, 0.4, ram.read_if, ram.write_if)
    assert not int(dut.i__arready.value) and not int(dut.i__awready.value), "open before the memory is"

    content = bytearray(rng.randbytes(size))  # of the lower half bursts read, of the upper one writes change
    ram.write(0, bytes(content))
    dut.open.value = 1
    bursts, answers, left = deque(), 0, 0  # words that are to come; writes that are not answered; clocks of reset
    asked, offered = None, None
    seen = dict.fromkeys(("words", "outside", "writes", "resets", "lost bursts", "lost writes"), 0)
    for clock in range(12_000):
        if left:
            left -= 1
            bursts.clear()
            answers, asked, offered = 0, None, None
        elif rng.random() < 0.005:
            left = rng.choice([1, 8, 64])
            seen["resets"] += 1
            seen["lost bursts"] += bool(bursts)
            seen["lost writes"] += bool(answers)
        elif clock < 11_000:
            if asked is None and rng.random() < 0.3:
                count = 1 << rng.randrange(5)
                base = rng.choice([0, 0, 0, size, rng.getrandbits(30) * size])
                asked = base + rng.randrange(size // 2 // word // count) * count * word, count
            if offered is None and rng.random() < 0.3:
                at = size // 2 + rng.randrange(size // 2 // word) * word
                offered = [at, rng.randbytes(word), rng.getrandbits(word)]
        resets = bool(left)
        dut.reset.value = resets
        dut.i__arvalid.value = asked is not None and not resets
        if asked:
            dut.i__araddr.value, dut.i__arlen.value = asked[0], asked[1] - 1
        shown = offered is not None and not resets
        dut.i__awvalid.value = shown
        dut.i__wvalid.value = shown and rng.random() < 0.8
        if offered:
            dut.i__awaddr.value, dut.i__wstrb.value = offered[0], offered[2]
            dut.i__wdata.value = int.from_bytes(offered[1], "little")
        dut.i__rready.value = rng.random() < 0.8
        dut.i__bready.value = 1
        await ReadOnly()
        assert not (resets and (int(dut.i__arready.value) or int(dut.i__awready.value))), "taken in a reset"
        if int(dut.i__rvalid.value):
            assert bursts, "a word that nobody has asked for"
            if int(dut.i__rready.value):
                address, last = bursts.popleft()
                assert int(dut.i__rlast.value) == last
                if address >= size:
                    assert int(dut.i__rresp.value) == 3
                    seen["outside"] += 1
                else:
                    assert int(dut.i__rresp.value) == 0
                    want = int.from_bytes(content[address : address + word], "little")
                    assert int(dut.i__rdata.value) == want, f"{address:#x}"
                    seen["words"] += 1
        if int(dut.i__bvalid.value):
            assert answers, "an answer to no write"
            answers -= 1
        if int(dut.i__arvalid.value) and int(dut.i__arready.value):
            bursts += [(asked[0] + index * word, index == asked[1] - 1) for index in range(asked[1])]
            asked = None
        assert int(dut.i__awready.value) == int(dut.i__wready.value)
        if int(dut.i__awvalid.value) and int(dut.i__awready.value):
            at, data, strobe = offered
            for byte in range(word):
                if strobe >> byte & 1:
                    content[at + byte] = data[byte]
            answers += 1
            seen["writes"] += 1
            offered = None
        await RisingEdge(dut.clk)
    assert not bursts and not answers and asked is None and offered is None, "not all was answered"
    assert ram.read(0, size) == content, "the memory's content"
    dut._log.info("%s", seen)
    assert all(seen.values()), seen
