"""GainUnit against the golden model's `gain_of`."""

import random
from collections import deque

import cocotb
from amaranth.lib import data
from bregalad.geometry import Geometry
from bregalad.hw.gain.gain import GainUnit, kind_layout, result_layout
from bregalad.protocol.registers import CellKind
from bregalad.sim.bits import pack, unpack
from bregalad.sim.golden import Cell, gain_of
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


def configured(cell):
    """What the unit is told of a cell; of its base it knows nothing."""
    layout = kind_layout()
    return pack(layout, {name: getattr(cell, name) for name in layout.members})


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def matches_golden(dut):
    """Results in order, held until taken; clocks of each scan, exact and within the bar.

    Snapshots come in, with and without pauses, while earlier ones are scanned or wait. Those of a
    round are of one cell where a lane has but one pass.
    """
    given = parameters()
    geometry = Geometry(**given["geometry"])
    snapshots = given["snapshots"]
    unit = GainUnit(geometry, snapshots=snapshots)
    rng = random.Random(cocotb.RANDOM_SEED)
    word = data.ArrayLayout(geometry.count_width, geometry.classes)
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    for port in (dut.config, dut.classes_in_use, dut.snap, dut.bin, dut.word, dut.take):
        port.value = 0
    dut.rst.value = 1
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0

    clock = taken_at = 0
    taken = full = overlapped = 0
    while taken < given["trials"]:
        classes = rng.randint(1, geometry.classes)
        dut.classes_in_use.value = classes
        bound = geometry.bins * (2 * classes + 2) + 60
        kinds = [CellKind.NUMERIC, CellKind.MULTIWAY, CellKind.ONE_VS_REST]
        kinds = rng.choice([kinds, [*kinds, CellKind.IGNORED], [CellKind.IGNORED, *kinds[:1]]])
        start_rate, word_rate = rng.choice([1.0, 1.0, 0.05]), rng.choice([1.0, 1.0, 0.5])
        take_rate = rng.choice([1.0, 0.2, 0.01])
        left = rng.randint(1, 4 * snapshots)  # snapshots to begin in this round
        cell, words = None, []  # what is coming in

        def any_cell(kinds=kinds):
            return Cell(rng.choice(kinds), rng.randint(0, 1), rng.randint(0, 1), 0)

        only = any_cell() if geometry.passes == 1 else None
        held = deque()  # (cell, clock of the last word, result), not taken
        while left or words or held:
            # Out: the oldest snapshot's result, exactly when it is due.
            take = False
            due = None
            if held:
                of, last, want = held[0]
                due = (max(last + unit.load_clocks, taken_at)
                       + unit.scan_clocks(of.kind, of.first, of.other, classes))
                assert due - max(last, taken_at) <= bound
            done = bool(int(dut.done.value))
            assert done == (due is not None and clock >= due), (done, clock, due, held)
            if done:
                result = unpack(result_layout(geometry), int(dut.result.value))
                if want.valid:
                    assert result["gain"] == want.gain, (of, classes)
                if want.valid and of.kind != CellKind.MULTIWAY:
                    got = (result["bin"], result["left"][:classes])
                    assert got == (want.value, want.left[:classes]), (of, classes)
                take = rng.random() < take_rate
            dut.take.value = take

            # In: a word, or anything else without `snap`.
            behind = bool(held) and held[-1][1] == clock - 1
            if (not words and left and len(held) < snapshots and not behind
                    and rng.random() < start_rate):
                cell = only or any_cell()
                counted = random_counts(rng, geometry, classes)
                words = list(enumerate(counted))
                left -= 1
            snap = bool(words) and rng.random() < word_rate
            dut.snap.value = snap
            if snap:
                index, counts = words.pop(0)
                dut.bin.value, dut.word.value = index, pack(word, counts)
                dut.config.value = configured(cell)
                overlapped += bool(held)
            else:
                dut.bin.value = rng.randrange(geometry.bins)
                dut.word.value = rng.getrandbits(word.size)
                dut.config.value = (configured(only) if only
                                    else rng.getrandbits(kind_layout().size))

            await FallingEdge(dut.clk)
            if take:
                held.popleft()
                taken_at = clock
                taken += 1
            if snap and not words:
                held.append((cell, clock, gain_of(geometry, 0, cell, counted, classes)))
                full += len(held) == snapshots
            clock += 1
    dut._log.info(f"{taken} snapshots, {overlapped} words beside others, {full} times full")
    assert full
    assert overlapped or snapshots == 1
