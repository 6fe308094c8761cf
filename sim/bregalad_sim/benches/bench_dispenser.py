"""The dispenser: any record size, alignment and stall; nothing taken after the last record."""

import random

import cocotb
from bregalad.geometry import MISSING, Geometry
from bregalad.protocol.commands import RECORD_HEADER
from bregalad_hw.mcmu.dispenser import Dispenser
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge, Timer

from bregalad_sim.runner import parameters


class Bench:
    def __init__(self, dut):
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.geometry = Geometry(**parameters()["geometry"])

    async def start(self):
        dut = self.dut
        dut.clk.value, dut.rst.value = 0, 1
        dut.start__valid.value = dut.start__payload.value = 0
        dut.i__valid.value = dut.i__payload.value = dut.room.value = 0
        dut.cells.value = 1
        await Timer(5, unit="ns")
        Clock(dut.clk, 10, unit="ns").start()
        for _ in range(3):
            await RisingEdge(dut.clk)
        dut.rst.value = 0

    async def run(self, records, cells, offset, stall_in, stall_out, fail=None):
        """Dispense; return beats, words taken and the clocks from first to last beat.

        ``fail`` is the word that is an error instead.
        """
        g, dut, rng = self.geometry, self.dut, self.rng
        data = bytes(offset) + b"".join(records)
        data += rng.randbytes(-len(data) % g.bus_bytes + 3 * g.bus_bytes)
        words = [int.from_bytes(data[i : i + g.bus_bytes], "little") for i in range(0, len(data), g.bus_bytes)]
        dut.cells.value = cells
        for _ in range(Dispenser.settle):
            await RisingEdge(dut.clk)
        dut.start__payload.value = len(records) | offset << 32
        dut.start__valid.value = 1
        await RisingEdge(dut.clk)
        dut.start__valid.value = 0
        beats, taken, held, idle = [], 0, None, 0
        first = last = clock = 0
        late = 0  # beats since the last clock with `room`
        while idle < 8:
            if held is None and taken < len(words) and rng.random() >= stall_in:
                held = words[taken]
                if taken == fail:
                    held = 3 << g.bus_width + 1 | taken * g.bus_bytes << g.bus_width + 3
            dut.i__valid.value = int(held is not None)
            dut.i__payload.value = held or 0
            ready = rng.random() >= stall_out
            dut.room.value = int(ready)
            await ReadOnly()
            consumed = held is not None and int(dut.i__ready.value)
            sent = int(dut.o__payload.value) if int(dut.o__valid.value) else None
            late = 0 if ready else late + (sent is not None)
            assert late <= Dispenser.under_way
            busy = int(dut.busy.value)
            await RisingEdge(dut.clk)
            clock += 1
            if consumed:
                taken, held = taken + 1, None
            if sent is not None:
                beats.append(sent)
                first, last = first or clock, clock
            idle = 0 if busy or consumed else idle + 1
            assert clock < 100 * (len(words) + len(records) + 20) * (cells + 1), "no end"
        dut.i__valid.value = 0
        return beats, taken, last - first + 1

    def expected(self, records, cells):
        g = self.geometry
        beats = []
        for record in records:
            codes = record[RECORD_HEADER.size :]
            for at in range(0, cells, g.lanes):
                part = codes[at : at + g.lanes]
                part += bytes([MISSING]) * (g.lanes - len(part))
                raw = record[: RECORD_HEADER.size] + part
                flags = (at == 0) | (at + g.lanes >= cells) << 1
                beats.append(int.from_bytes(raw, "little") | flags << 8 * len(raw))
        return beats


@cocotb.test(timeout_time=50, timeout_unit="ms")
@cocotb.parametrize(stall_in=[0.0, 0.6], stall_out=[0.0, 0.6])
async def records(dut, stall_in, stall_out):
    bench = Bench(dut)
    await bench.start()
    g, rng = bench.geometry, bench.rng
    for index in range(parameters().get("count", 12)):
        cells = rng.choice([1, g.lanes, g.max_cells, rng.randint(1, g.max_cells)])
        size = RECORD_HEADER.size + cells
        items = [rng.randbytes(size) for _ in range(rng.choice([0, 1, 2, rng.randint(3, 40)]))]
        offset = rng.choice([0, rng.randrange(g.bus_bytes)])
        words = -(-(offset + len(items) * size) // g.bus_bytes) if items else 0
        fail = rng.randrange(words) if words and index % 3 == 2 else None
        beats, taken, _ = await bench.run(items, cells, offset, stall_in, stall_out, fail)
        done = len(items)
        if fail is not None:
            done = (fail * g.bus_bytes - offset) // size if fail * g.bus_bytes > offset else 0
            assert int(dut.failed.value) and int(dut.error.value) == 3
            assert int(dut.address.value) == fail * g.bus_bytes
            assert taken == fail + 1
        else:
            assert not int(dut.failed.value)
            assert taken == words
        assert int(dut.counted.value) == done
        want = bench.expected(items, cells)
        whole = done * g.passes_for(cells)
        # Beats of the record that failed may have been cut before; it is not counted.
        assert beats == want[: len(beats)] and whole <= len(beats) <= whole + g.passes_for(cells)
        assert fail is not None or len(beats) == whole


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def rate(dut):
    """One beat per clock, or as many as the words bring."""
    bench = Bench(dut)
    await bench.start()
    g, rng = bench.geometry, bench.rng
    for cells in {1, g.lanes, g.max_cells, max(1, min(g.lanes, g.bus_bytes - 4))}:
        items = [rng.randbytes(4 + cells) for _ in range(200)]
        beats, taken, clocks = await bench.run(items, cells, g.bus_bytes - 1, 0.0, 0.0)
        assert clocks <= max(len(beats), taken) * 1.01 + 2, (cells, clocks, len(beats), taken)
