"""What is taken from the reports to be saved: commands and other reports, word by word, whoever pauses."""

import cocotb
from bregalad.protocol.commands import COMMANDS, Opcode, padded
from bregalad.protocol.reports import Kind
from bregalad_hw.soc.saves import SaveFilter
from cocotb.triggers import RisingEdge

from bregalad_sim.bits import words_of
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench


class Bench(BlockBench):
    def __init__(self, dut):
        super().__init__(dut, SaveFilter(parameters()["width"]))
        self.word = parameters()["width"] // 8
        self.found = {"o": [], "saved": []}

    async def reports(self, count, on):
        """Reports of any kind and length, and what should come of them; clocks, and words that have come."""
        want = {"o": [], "saved": []}
        self.dut.on.value = on
        for _ in range(count):
            kind = self.rng.choice(list(Kind))
            head = bytes([kind, self.rng.getrandbits(8)]) + self.rng.randbytes(2)
            body = self.rng.randbytes(4 * self.rng.randint(2, 40))
            report = head + body
            if on and kind in (Kind.ENTRY, Kind.STATISTICS):
                cell, data = (0xFFFF, body) if kind is Kind.ENTRY else (int.from_bytes(body[:2], "little"), body[4:])
                slot = int.from_bytes(head[2:], "little")
                command = COMMANDS[Opcode.WRITE].pack(opcode=Opcode.WRITE, slot=slot, cell=cell)
                want["saved"].append(padded(command, self.word) + padded(data, self.word))
            else:
                want["o"].append(report)
            words = words_of(report, 4)
            self.ends["i"].items += [{"data": word, "last": at == len(words) - 1} for at, word in enumerate(words)]
        clocks = 0
        while any(sum(map(len, want[name])) > len(self.found[name]) * 4 for name in want):
            await self.clock()
            clocks += 1
            assert clocks < 200_000
        for name, parts in want.items():
            data = b"".join(word["data"].to_bytes(4, "little") for word in self.found[name])
            assert data == b"".join(parts), name
            ends = [at for at, word in enumerate(self.found[name], 1) if word["last"]]
            assert ends == [sum(map(len, parts[: n + 1])) // 4 for n in range(len(parts))], name
            self.found[name].clear()
        return clocks, sum(sum(map(len, parts)) for parts in want.values()) // 4

    async def clock(self):
        self.drive()
        taken = await self.settle()
        for name, words in self.found.items():
            if taken[name] is not None:
                words.append(taken[name])
        await RisingEdge(self.dut.clk)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def anything(dut):
    bench = Bench(dut)
    await bench.start()
    for stall in (0, 0.3, 0.8):
        bench.stall(stall)
        for _ in range(4):
            await bench.reports(20, bench.rng.random() < 0.7)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def rate(dut):
    """A word per clock, but for the one or two in which a head is taken."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(0)
    clocks, words = await bench.reports(30, False)
    assert clocks == words
    clocks, words = await bench.reports(30, True)
    assert clocks <= words + 2 * 30
