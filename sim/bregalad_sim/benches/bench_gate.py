"""The gate before a memory: bursts and writes of a manager that is reset at any time, against a model of both."""

import random
from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from cocotbext.axi import AxiBus, AxiRam

from bregalad_sim.benches.models import pause, quiet
from bregalad_sim.runner import parameters
from bregalad_sim.streams import reset


class Manager:
    """One that asks for bursts, writes words and is reset at any time; it knows what has to come."""

    def __init__(self, dut, rng, word, size):
        self.dut, self.rng, self.word, self.size = dut, rng, word, size
        self.content = bytearray(rng.randbytes(size))  # of the lower half bursts read, of the upper one writes change
        self.left = 0  # clocks of reset
        self.forget()
        self.seen = dict.fromkeys(("words", "outside", "writes", "resets", "lost bursts", "lost writes"), 0)

    def forget(self):
        self.bursts, self.answers = deque(), 0  # words that are to come; writes that are not answered
        self.asked = self.offered = None

    def drive(self, more):
        """Drive a clock, with a reset now and then; else, if there are to be more, with a new burst and write."""
        rng, word, size = self.rng, self.word, self.size
        if self.left:
            self.left -= 1
            self.forget()
        elif rng.random() < 0.005:
            self.left = rng.choice([1, 8, 64])
            self.seen["resets"] += 1
            self.seen["lost bursts"] += bool(self.bursts)
            self.seen["lost writes"] += bool(self.answers)
        elif more:
            if self.asked is None and rng.random() < 0.3:
                count = 1 << rng.randrange(5)
                base = rng.choice([0, 0, 0, size, rng.getrandbits(30) * size])
                self.asked = base + rng.randrange(size // 2 // word // count) * count * word, count
            if self.offered is None and rng.random() < 0.3:
                at = size // 2 + rng.randrange(size // 2 // word) * word
                self.offered = at, rng.randbytes(word), rng.getrandbits(word)
        dut, resets = self.dut, bool(self.left)
        dut.reset.value = resets
        dut.i__arvalid.value = self.asked is not None and not resets
        if self.asked:
            dut.i__araddr.value, dut.i__arlen.value = self.asked[0], self.asked[1] - 1
        shown = self.offered is not None and not resets
        dut.i__awvalid.value = shown
        dut.i__wvalid.value = shown and self.rng.random() < 0.8
        if self.offered:
            dut.i__awaddr.value, dut.i__wstrb.value = self.offered[0], self.offered[2]
            dut.i__wdata.value = int.from_bytes(self.offered[1], "little")
        dut.i__rready.value = self.rng.random() < 0.8
        dut.i__bready.value = 1

    def settle(self):
        """Check what comes in a clock, and see what is taken."""
        dut, content, word = self.dut, self.content, self.word
        assert not (self.left and (int(dut.i__arready.value) or int(dut.i__awready.value))), "taken in a reset"
        if int(dut.i__rvalid.value):
            assert self.bursts, "a word that nobody has asked for"
            if int(dut.i__rready.value):
                address, last = self.bursts.popleft()
                outside = address >= self.size
                assert int(dut.i__rlast.value) == last
                assert int(dut.i__rresp.value) == (3 if outside else 0)
                want = int.from_bytes(content[address : address + word], "little")
                assert outside or int(dut.i__rdata.value) == want, f"{address:#x}"
                self.seen["outside" if outside else "words"] += 1
        if int(dut.i__bvalid.value):
            assert self.answers, "an answer to no write"
            self.answers -= 1
        if int(dut.i__arvalid.value) and int(dut.i__arready.value):
            at, count = self.asked
            self.bursts += [(at + index * word, index == count - 1) for index in range(count)]
            self.asked = None
        assert int(dut.i__awready.value) == int(dut.i__wready.value)
        if int(dut.i__awvalid.value) and int(dut.i__awready.value):
            at, data, strobe = self.offered
            content[at : at + word] = [new if strobe >> i & 1 else content[at + i] for i, new in enumerate(data)]
            self.answers += 1
            self.seen["writes"] += 1
            self.offered = None


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

    manager = Manager(dut, rng, word, size)
    ram.write(0, bytes(manager.content))
    dut.open.value = 1
    for clock in range(12_000):
        manager.drive(clock < 11_000)
        await ReadOnly()
        manager.settle()
        await RisingEdge(dut.clk)
    assert not (manager.bursts or manager.answers or manager.asked or manager.offered), "not all was answered"
    assert ram.read(0, size) == manager.content, "the memory's content"
    dut._log.info("%s", manager.seen)
    assert all(manager.seen.values()), manager.seen
