"""Scan and two GainUnits against the golden model's `gain_of`."""

from collections import deque

import cocotb
from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import Geometry
from bregalad.protocol.registers import CellKind
from bregalad_hw.gain.gain import KIND, GainUnit, arithmetic_latency, result_layout
from bregalad_hw.gain.scan import Scan, scan_clocks
from cocotb.triggers import FallingEdge

from bregalad_sim.bits import pack
from bregalad_sim.golden import Cell, gain_of
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

SPREAD = GATHERED = 1  # as far as the gain units are from what leads them
UNITS = 2


class Gains(wiring.Component):
    """Gain units of as many lanes; members as of `Scan` and, for each, `GainUnit`."""

    def __init__(self, geometry, *, snapshots):
        self.geometry = g = geometry
        self.snapshots = snapshots
        self.lead = Scan(g, latency=arithmetic_latency(g), spread=SPREAD, gathered=GATHERED, snapshots=snapshots)
        super().__init__(
            {
                **{
                    name: self.lead.signature.members[name]
                    for name in ("snap", "bin", "classes_in_use", "done", "take")
                },
                "config": In(KIND).array(UNITS),
                "word": In(data.ArrayLayout(g.count_width, g.classes)).array(UNITS),
                "result": Out(result_layout(g)).array(UNITS),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.scan = scan = self.lead
        snap, control = Signal(), Signal.like(scan.control)
        pairs, whole = Signal(), Signal()
        units = [GainUnit(self.geometry, snapshots=self.snapshots) for _ in range(UNITS)]
        m.submodules += units
        for unit, given, counted, result in zip(units, self.config, self.word, self.result, strict=True):
            config, word = Signal.like(given), Signal.like(counted)
            m.d.sync += [config.eq(given), word.eq(counted)]
            m.d.comb += [
                unit.config.eq(config),
                unit.word.eq(word),
                unit.snap.eq(snap),
                unit.scan.eq(control),
                result.eq(unit.result),
            ]
        m.d.sync += [
            snap.eq(self.snap),
            control.eq(scan.control),
            pairs.eq(units[0].pairs | units[1].pairs),
            whole.eq(units[0].whole | units[1].whole),
        ]
        m.d.comb += [
            scan.snap.eq(self.snap),
            scan.bin.eq(self.bin),
            scan.classes_in_use.eq(self.classes_in_use),
            scan.take.eq(self.take),
            scan.pairs.eq(pairs),
            scan.whole.eq(whole),
            self.done.eq(scan.done),
        ]
        return m


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


def random_cells(rng, kinds):
    return [Cell(rng.choice(kinds), rng.randint(0, 1), rng.randint(0, 1), 0) for _ in range(UNITS)]


def drive_units(bench, counts, cells):
    """Drive words and configurations of the units, with anything where they are None."""
    word_layout = bench.shapes["word__0"]
    for i in range(UNITS):
        word, config = bench.rng.getrandbits(word_layout.size), bench.rng.getrandbits(KIND.size)
        if counts:
            word = pack(word_layout, counts[i])
        if cells:  # of its base the unit knows nothing
            config = pack(KIND, {name: getattr(cells[i], name) for name in KIND.members})
        getattr(bench.dut, f"word__{i}").value, getattr(bench.dut, f"config__{i}").value = word, config


def check_results(bench, cells, wanted, classes):
    for i, (cell, want) in enumerate(zip(cells, wanted, strict=True)):
        result = bench.read(f"result__{i}")
        if want.valid:
            assert result["gain"] == want.gain, (cells, classes)
        if want.valid and cell.kind != CellKind.MULTIWAY:
            got = (result["bin"], result["left"][:classes])
            assert got == (want.value, want.left[:classes]), (cells, classes)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def matches_golden(dut):
    """Results in order, held until taken; clocks of each scan, exact and within the bar.

    Snapshots come in, with and without pauses, while earlier ones are scanned or wait. Those of a
    round are of one cell where a lane has but one pass. Both units' cells are of any kind.
    """
    given = parameters()
    geometry = Geometry(**given["geometry"])
    snapshots = given["snapshots"]
    latency = arithmetic_latency(geometry)
    load_clocks = 1 + SPREAD + GATHERED
    bench = BlockBench(dut, Gains(geometry, snapshots=snapshots))
    rng = bench.rng
    await bench.start()
    await FallingEdge(dut.clk)

    clock = taken_at = since = 0
    taken = full = overlapped = 0
    while taken < given["attempts"]:
        classes = rng.randint(1, geometry.classes)
        dut.classes_in_use.value = classes
        bound = geometry.bins * (2 * classes + 2) + 60
        kinds = [CellKind.NUMERIC, CellKind.MULTIWAY, CellKind.ONE_VS_REST]
        kinds = rng.choice([kinds, [*kinds, CellKind.IGNORED], [CellKind.IGNORED, *kinds[:1]]])
        start_rate, word_rate = rng.choice([1.0, 1.0, 0.05]), rng.choice([1.0, 1.0, 0.5])
        take_rate = rng.choice([1.0, 0.2, 0.01])
        left = rng.randint(1, 4 * snapshots)  # snapshots to begin in this round
        cells, words = None, []  # what is coming in
        only = random_cells(rng, kinds) if geometry.passes == 1 else None
        held = deque()  # (cells, clock of the last word, results), not taken
        while left or words or held:
            # Out: the oldest snapshot's result, exactly when it is due.
            take = False
            due = None
            if held:
                of, last, wanted = held[0]
                pairs = any(cell.kind in (CellKind.NUMERIC, CellKind.ONE_VS_REST) for cell in of)
                whole = any(cell.kind not in (CellKind.NUMERIC, CellKind.IGNORED) and not cell.other for cell in of)
                due = max(last + load_clocks, taken_at) + scan_clocks(geometry, latency, pairs, whole, classes)
                assert due - max(last, taken_at) <= bound
            done = bool(int(dut.done.value))
            assert done == (due is not None and clock >= due), (done, clock, due, held)
            since = since + 1 if done else 0
            if since > SPREAD:
                check_results(bench, of, wanted, classes)
                take = rng.random() < take_rate
            dut.take.value = take

            # In: a word, or anything else without `snap`.
            behind = bool(held) and held[-1][1] == clock - 1
            if not words and left and len(held) < snapshots and not behind and rng.random() < start_rate:
                cells = only or random_cells(rng, kinds)
                counted = [random_counts(rng, geometry, classes) for _ in cells]
                words = list(enumerate(zip(*counted, strict=True)))
                left -= 1
            snap = bool(words) and rng.random() < word_rate
            dut.snap.value = snap
            index, counts = words.pop(0) if snap else (rng.randrange(geometry.bins), None)
            dut.bin.value = index
            overlapped += snap and bool(held)
            drive_units(bench, counts, only or (cells if snap else None))

            await FallingEdge(dut.clk)
            if take:
                held.popleft()
                taken_at = clock
                taken += 1
            if snap and not words:
                wanted = [gain_of(geometry, 0, *pair, classes) for pair in zip(cells, counted, strict=True)]
                held.append((cells, clock, wanted))
                full += len(held) == snapshots
            clock += 1
    dut._log.info(f"{taken} snapshots, {overlapped} words beside others, {full} times full")
    assert full
    assert overlapped or snapshots == 1
