"""GainUnit against Golden._gain."""

import random

import cocotb
from amaranth.lib import data
from bregalad.geometry import Geometry
from bregalad.hw.gain import GainUnit, kind_layout, result_layout
from bregalad.protocol.registers import CellKind
from bregalad.sim.bits import pack, unpack
from bregalad.sim.golden import Cell, Golden
from bregalad.sim.runner import parameters
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge


def random_counts(rng, geometry, classes):
    """Words of a cell: empty, plain, skewed, tied, or anything at all."""
    style = rng.randrange(5)
    limit = geometry.count_max if style == 0 else rng.choice([1, 3, 40, 500])
    limit = min(limit, geometry.count_max)
    words = []
    for _ in range(geometry.bins):
        fill = 0 if style == 1 and rng.random() < 0.7 else limit
        # Classes not in use may hold counts; they must not matter.
        words.append([rng.randint(0, fill) for _ in range(geometry.classes)])
    if style == 2:
        words = [words[0]] * geometry.bins
    if style == 3:
        words = [[0] * geometry.classes] * geometry.bins
    return words


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def matches_golden(dut):
    """Result, clocks of the scan (exact and within the bar), hold until taken."""
    given = parameters()
    geometry = Geometry(**given["geometry"])
    unit = GainUnit(geometry)
    rng = random.Random(cocotb.RANDOM_SEED)
    golden = Golden(geometry)
    word = data.ArrayLayout(geometry.count_width, geometry.classes)
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    for port in (dut.config, dut.classes_in_use, dut.snap, dut.bin, dut.word, dut.take):
        port.value = 0
    dut.rst.value = 1
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    for _ in range(given["trials"]):
        classes = rng.randint(1, geometry.classes)
        kind = rng.choice([CellKind.IGNORED] + 3 * [
            CellKind.NUMERIC, CellKind.MULTIWAY, CellKind.ONE_VS_REST])
        cell = Cell(kind, rng.randint(0, 1), rng.randint(0, 1), rng.randint(0, 255))
        golden.cells[0] = cell
        golden.fields["classes.count"] = classes
        golden.counts[0][0] = random_counts(rng, geometry, classes)
        dut.config.value = pack(kind_layout(), vars(cell))
        dut.classes_in_use.value = classes
        gap = rng.choice([0, 0, 0.5])
        for index, counts in enumerate(golden.counts[0][0]):
            while rng.random() < gap:
                dut.snap.value, dut.word.value = 0, rng.getrandbits(word.size)
                dut.bin.value = rng.randrange(geometry.bins)
                await FallingEdge(dut.clk)
            dut.snap.value, dut.bin.value, dut.word.value = 1, index, pack(word, counts)
            assert not int(dut.done.value)
            await FallingEdge(dut.clk)
        dut.snap.value, dut.word.value = 0, rng.getrandbits(word.size)
        dut.bin.value = rng.randrange(geometry.bins)
        clocks = 1
        bound = geometry.bins * (2 * geometry.classes + 2) + 60
        while not int(dut.done.value):
            assert clocks <= bound, "the scan does not end"
            await FallingEdge(dut.clk)
            clocks += 1
        assert clocks == unit.scan_clocks(kind, cell.first, cell.other, classes), (cell, classes)
        assert clocks <= bound
        for _ in range(rng.choice([0, 0, 5])):
            await FallingEdge(dut.clk)
        assert int(dut.done.value)
        result = unpack(result_layout(geometry), int(dut.result.value))
        want = golden._gain(0, 0)
        assert result["valid"] == want.valid
        if want.valid:
            got = (result["value"], result["gain"], result["left"])
            assert got == (want.value, want.gain, want.left), (cell, classes)
            assert result["joins"] == (not cell.first)
            assert result["additive"] == (kind == CellKind.MULTIWAY)
        else:
            assert not result["joins"]
        dut.take.value = 1
        await FallingEdge(dut.clk)
        dut.take.value = 0
        assert not int(dut.done.value)
