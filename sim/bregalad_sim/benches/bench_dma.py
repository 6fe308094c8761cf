"""The read DMA against memory that pauses and fails; bursts and order are watched."""

import cocotb
from bregalad_hw.mcmu.dma import ReadDMA
from cocotb.triggers import ReadOnly, RisingEdge
from cocotbext.axi import AxiReadBus, AxiSlaveRead

from bregalad_sim.benches.models import answer, pause, quiet
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

SIZE = 1 << 16
BOUNDARY = 4096


class Target:
    """Memory with faults; remembers the response of the word it gave last."""

    def __init__(self, rng):
        self.data = rng.randbytes(SIZE)
        self.faults = {}
        self.response = 0

    async def read(self, address, length):
        self.response = self.faults.get(address, 0)
        return bytes(length) if self.response else self.data[address : address + length]


class Bench(BlockBench):
    def __init__(self, dut):
        super().__init__(dut, ReadDMA(parameters()["width"]))
        self.size = parameters()["width"] // 8
        self.target = target = Target(self.rng)
        quiet(dut, "axi", "axi_")
        self.axi = AxiSlaveRead(AxiReadBus.from_prefix(dut, "axi_"), dut.clk, dut.rst, target)
        answer(self.axi.r_channel, "rresp", lambda: target.response)

    async def start(self):
        await super().start()
        cocotb.start_soon(self._watch())

    async def _watch(self):
        """No burst crosses 4 KiB, none is too long, a pending address stays."""
        dut, held, out = self.dut, None, 0
        while True:
            await ReadOnly()
            ask = None
            assert int(dut.axi__rready.value), "the bus was held up"
            if int(dut.axi__arvalid.value):
                ask = int(dut.axi__araddr.value), int(dut.axi__arlen.value)
                first, length = ask[0], (ask[1] + 1) * self.size
                assert first % self.size == 0
                assert first // BOUNDARY == (first + length - 1) // BOUNDARY, f"{first:#x} {length}"
                assert int(dut.axi__arburst.value) == 1
                assert 1 << int(dut.axi__arsize.value) == self.size
            assert held is None or ask == held, "address moved before transfer"
            if ask is not None and int(dut.axi__arready.value):
                out += 1
                held = None
            else:
                held = ask
            if int(dut.axi__rvalid.value) and int(dut.axi__rlast.value):
                out -= 1
            assert out <= parameters().get("outstanding", 4)
            await RisingEdge(dut.clk)

    async def fetch(self, address, length, stall):
        """Run one descriptor; the words, the error as (code, address) or None, and the clocks."""
        self.ends["descriptor"].items.append({"address": address, "length": length})
        self.ends["o"].stall = stall
        words, clocks, first = [], 0, None
        while True:
            self.drive()
            got = (await self.settle())["o"]
            await RisingEdge(self.dut.clk)
            clocks += 1
            assert clocks < 100 * (length // self.size + 100), "no end"
            if got is None:
                continue
            first = first or clocks
            if got["error"]:
                assert got["last"]
                return words, (got["error"], got["address"]), clocks - first + 1
            words.append((got["address"], got["data"].to_bytes(self.size, "little")))
            if got["last"]:
                return words, None, clocks - first + 1


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.5])
async def ranges(dut, stall):
    """Any alignment and length, with and without failing words."""
    bench = Bench(dut)
    await bench.start()
    rng, size, target = bench.rng, bench.size, bench.target
    pause(rng, stall, bench.axi)
    for index in range(parameters().get("count", 40)):
        length = rng.choice([1, rng.randint(1, 4 * size), rng.randint(1, 80 * size)])
        address = rng.choice(
            [rng.randrange(SIZE - length), max(0, rng.randrange(1, 12) * BOUNDARY - rng.randrange(length + 1))]
        )
        low = address // size * size
        want = list(range(low, address + length, size))
        target.faults = {}
        error = None
        if index % 3 == 2:
            for word in rng.sample(want, min(len(want), rng.randint(1, 3))):
                target.faults[word] = rng.choice([2, 3])
            bad = min(target.faults)
            error = target.faults[bad], bad
            want = want[: want.index(bad)]
        # A taker that is slower than the memory finds out whether there is room for what is asked for.
        words, got_error, _ = await bench.fetch(address, length, rng.choice([stall, 0.9]) if stall else 0.0)
        assert [at for at, _ in words] == want
        assert all(data == target.data[at : at + size] for at, data in words)
        assert got_error == error


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def rate(dut):
    """One word per clock once the first is there."""
    bench = Bench(dut)
    await bench.start()
    count = 400
    words, error, clocks = await bench.fetch(bench.size * 5 + 1, count * bench.size - 1, 0.0)
    assert error is None and len(words) == count
    assert clocks <= count * 1.03 + 5, clocks
