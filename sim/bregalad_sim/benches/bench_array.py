"""AttributeProcessorArray against the golden model: any operations in any order."""

from collections import deque
from itertools import product

import cocotb
from bregalad.geometry import MISSING, NONE, Geometry
from bregalad.protocol.registers import CellKind
from bregalad_hw.array.array import AttributeProcessorArray
from bregalad_hw.array.bayes import lead
from bregalad_hw.array.operation import Op
from cocotb.triggers import FallingEdge

from bregalad_sim.benches.operations import Placed, execute_pass
from bregalad_sim.benches.sides import SIDES, terms_of
from bregalad_sim.bits import attempt_fields
from bregalad_sim.golden import Cell, Slots, top
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

COUNTING = (Op.COUNT, Op.COUNT, Op.COUNT, Op.COUNT)
OTHERS = (Op.CLEAR, Op.PLACE, Op.READ, Op.WRITE, Op.HALVE)


class Model:
    """The array's operations on a golden model's state, and what it should answer."""

    def __init__(self, geometry):
        self.geometry = geometry
        self.golden = Slots(geometry)
        self.shadow = Slots(geometry)  # slot 0: the snapshot
        self.shadow.cells = self.golden.cells
        self.shadow.fields = self.golden.fields
        self.least = None  # by lane, of the terms beside the last COUNT of the codes' own bins

    def cells(self, pass_):
        lanes = self.geometry.lanes
        return range(pass_ * lanes, (pass_ + 1) * lanes)

    def apply(self, op, codes, count, counts):
        """What the operation reads of the lanes, and whether it clamped a count."""
        if op["code"] is Op.SNAP:
            for cell in self.cells(op["pass_"]):
                self.shadow.counts[0][cell][op["bin"]] = list(self.golden.counts[op["slot"]][cell][op["bin"]])
        return execute_pass(self.golden, op, codes, count, counts)

    def partial(self, op, codes):
        """Sums of a beat's naive Bayes terms, before it is counted."""
        least = self.least or [None] * self.geometry.lanes
        logs, knowns, self.least = zip(
            *(
                terms_of(self.golden, op["slot"], cell, code, op["side"], each)
                for cell, code, each in zip(self.cells(op["pass_"]), codes, least, strict=True)
            ),
            strict=True,
        )
        return {"sums": [sum(each) for each in zip(*logs, strict=True)], "known": sum(knowns), "last": op["last"]}

    def attempt(self, current):
        """What `gains` and `summary` should show of the snapshot."""
        candidates = self.shadow._candidates(0)
        return attempt_fields(self.geometry, candidates, top(candidates, current))


class Bench(BlockBench):
    """Drives and checks the array clock by clock, at the falling edges."""

    def __init__(self, dut):
        given = parameters()
        self.geometry = g = Geometry(**given["geometry"])
        self.snapshots = given["snapshots"]
        self.array = AttributeProcessorArray(g, snapshots=self.snapshots)
        super().__init__(dut, self.array)
        self.model = Model(g)
        self.clock = 0
        self.reads, self.clamps, self.lanes_reads = {}, {}, {}  # due at a clock
        self.partials, self.coming = {}, set()
        self.predicted = 0
        self.want = {"gains": deque(), "summary": deque()}
        self.attempt_pass = self.attempt_bin = 0
        self.early = {"gains": deque(), "summary": deque()}  # taken, not compared yet
        self.taken = 0
        self.attempts = 0
        self.begun = deque()  # results of each pass that are not taken yet
        self.held = 0  # passes begun whose places are not free again
        self.late_codes = deque([[0] * self.geometry.lanes] * self.array.codes_latency)
        self.placed = Placed(self.rng)
        self.full = self.behind = 0  # passes that had to wait, that followed at once
        self.last_snap = None  # clock of a pass's last SNAP

    async def start(self):
        await super().start()
        await FallingEdge(self.dut.clk)

    def use(self, cells, classes, report_all):
        """Tell the array cells and classes in use, and what an attempt is to report."""
        self.cells_in_use, self.passes, self.report_all = cells, self.geometry.passes_for(cells), report_all
        self.model.golden.fields.update({"cells.count": cells, "classes.count": classes})
        self.set_inputs(
            configuration__cells__count=cells,
            configuration__classes__count=classes,
            configuration__report__all=report_all,
        )

    async def write_cell(self, index, cell):
        """A clock in which a cell's configuration is written."""
        self.model.golden.cells[index] = cell
        values = {"index": index, **vars(cell), "write": 1}
        self.set_inputs(**{f"configuration__cell__{name}": value for name, value in values.items()})
        await self.step()
        self.set_inputs(configuration__cell__write=0)

    async def configure(self):
        """New cells, attributes of several cells among them, while nothing is under way."""
        rng, g = self.rng, self.geometry
        for _ in range(self.array.count_latency):
            await self.step()
        cells = rng.choice([g.max_cells, 1, rng.randint(1, g.max_cells)])
        self.use(cells, rng.randint(1, g.classes), rng.randrange(2))
        kinds = [CellKind.NUMERIC, CellKind.MULTIWAY, CellKind.ONE_VS_REST]
        kinds = rng.choice(
            [kinds, [CellKind.NUMERIC], kinds + [CellKind.IGNORED], [CellKind.IGNORED, CellKind.NUMERIC]]
        )
        kind = rng.choice(kinds)
        for index in range(g.max_cells):
            first = rng.random() < 0.6
            if first or rng.random() < 0.25:
                kind = rng.choice(kinds)
            base = rng.choice([0, 0, 3, rng.randrange(256)])
            await self.write_cell(index, Cell(kind, int(first), rng.randrange(2), base))
        for _ in range(self.array.config_latency - 1):
            await self.step()

    def codes(self, pass_):
        used = self.cells_in_use
        palette = self.palette
        return [self.rng.choice(palette) if cell < used else MISSING for cell in self.model.cells(pass_)]

    def random_op(self, choices):
        rng, g = self.rng, self.geometry
        code = rng.choice(choices)
        few = rng.random() < 0.9
        slots = range(2 if few else g.slots)
        op = {
            "code": code,
            "slot": rng.choice(slots),
            "pass_": rng.randrange(g.passes),
            "bin": rng.randrange(g.bins),
            "label": rng.randrange(g.classes),
            "minus": rng.randrange(4) == 0,
            "test": rng.randrange(8) == 0,
            "predict": rng.randrange(2),
            "last": rng.randrange(2),
            "parent": rng.choice(slots),
            "root": rng.randrange(4) == 0,
            "override": rng.randrange(2),
            "each": rng.randrange(3) == 0,
            "lane": rng.randrange(g.lanes),
            "lo": rng.randrange(256),
            "shift": rng.randrange(8),
        }
        if g.naive_bayes:
            op["side"] = rng.choice([0, *SIDES]) if op["test"] and self.model.least else 0
        return self.placed.follow(op) if Op.PLACE in choices else op

    async def step(self, op=None, snap=None):
        """One clock with an operation, or a SNAP in its place.

        Take and check whatever comes out.
        """
        rng, dut, g, model = self.rng, self.dut, self.geometry, self.model
        op = {**self.random_op([Op.NONE]), **(snap or op or {})}
        codes = self.codes(op["pass_"]) if op["code"] == Op.COUNT else [rng.randrange(256) for _ in range(g.lanes)]
        count, *counts = (rng.choice([0, g.count_max, rng.randint(0, g.count_max)]) for _ in range(g.lanes + 1))
        current = rng.randrange(g.max_cells)
        if snap and snap["bin"] == 0 and snap["pass_"] == 0:
            self.current = current = rng.choice([NONE, rng.randrange(self.cells_in_use)])
        self.late_codes.append(codes)
        self.set_inputs(
            op=op, codes=self.late_codes.popleft(), count_in=count, counts_in=counts, attempt_current=current
        )
        self.drive()

        self.apply(op, codes, count, counts)
        if snap and snap["bin"] == g.bins - 1 and snap["pass_"] == self.passes - 1:
            gains, summary = model.attempt(self.current)
            self.attempts += 1
            if self.report_all:
                self.want["gains"].extend(gains)
            else:
                self.want["summary"].append(summary)

        moved = await self.settle()
        for name, want in self.want.items():
            assert int(dut.busy.value) or not self.ends[name].valid
            if moved[name] is not None:
                self.early[name].append(moved[name])
                self.taken += 1
                self.settle_passes(name)
            # Gains of a pass may come before the attempt's last SNAP.
            while want and self.early[name]:
                assert self.early[name].popleft() == want.popleft(), (name, model.golden.cells[: self.cells_in_use])
        assert int(dut.count_valid.value) == (self.clock in self.reads)
        read, lanes_read = self.reads.pop(self.clock, None), self.lanes_reads.pop(self.clock, None)
        assert read is None or int(dut.count_out.value) == read
        assert lanes_read is None or (int(dut.counts_valid.value) and self.read("counts_out") == lanes_read)
        assert int(dut.clamped.value) == self.clamps.pop(self.clock, 0)
        if g.naive_bayes:
            partial = self.partials.pop(self.clock, None)
            assert int(dut.partial__valid.value) == (partial is not None)
            if partial is not None:
                assert self.read("partial__p") == partial
                self.predicted += 1
            assert int(dut.partial__incoming.value) == (self.clock in self.coming)
            self.coming.discard(self.clock)
        told = (
            int(getattr(dut, name).value) for name in ("count_valid", "clamped", "partial__valid") if hasattr(dut, name)
        )
        assert int(dut.busy.value) or not any(told)
        self.held += bool(snap and snap["bin"] == 0) - int(dut.snap_freed.value)
        await FallingEdge(dut.clk)
        self.clock += 1
        # A pass whose results are out holds no place; others may, or may wait behind the units.
        assert 0 <= self.held <= len(self.begun)
        if snap or self.in_attempt or any(self.want.values()):
            assert int(dut.busy.value)

    def apply(self, op, codes, count, counts):
        """Have the model do the operation; what comes of it is due some clocks later."""
        if self.geometry.naive_bayes and op["code"] == Op.COUNT and op["predict"]:
            due = self.clock + self.array.partial_latency
            self.partials[due] = self.model.partial(op, codes)
            if op["last"]:
                self.coming.add(due - lead(self.geometry))
        reads, clamped = self.model.apply(op, codes, count, counts)
        if reads:
            self.reads[self.clock + self.array.read_latency] = None if op["each"] else reads[0]
            if op["each"]:
                self.lanes_reads[self.clock + self.array.count_latency] = reads
        if clamped:
            self.clamps[self.clock + self.array.clamped_latency] = 1
        self.placed.record(op)

    def settle_passes(self, port):
        """A result was taken: which passes are through?"""
        if port == "summary":
            for _ in range(self.passes):
                self.begun.popleft()
            return
        self.begun[0] -= 1
        if not self.begun[0]:
            self.begun.popleft()

    def next_snap(self):
        """The next SNAP, None if the array is not ready for it."""
        begins = self.attempt_bin == 0
        slot = self.attempt_slot if self.in_attempt else self.rng.randrange(self.geometry.slots)
        if begins:
            if self.held == self.snapshots:
                self.full += 1
                return None
            if self.last_snap == self.clock - 1:
                return None
            self.behind += self.last_snap == self.clock - 2
            lanes = self.geometry.lanes
            self.begun.append(min(lanes, self.cells_in_use - self.attempt_pass * lanes))
            self.attempt_slot = slot
        op = {"code": Op.SNAP, "slot": self.attempt_slot, "pass_": self.attempt_pass, "bin": self.attempt_bin}
        self.attempt_bin = (self.attempt_bin + 1) % self.geometry.bins
        if self.attempt_bin == 0:
            self.attempt_pass = (self.attempt_pass + 1) % self.passes
            self.last_snap = self.clock
        return op

    @property
    def in_attempt(self):
        return self.attempt_bin or self.attempt_pass

    async def drain(self):
        """Finish the attempt that has begun, then wait until all is taken."""
        limit = 4000
        while self.in_attempt or any(self.want.values()) or int(self.dut.busy.value):
            await self.step(snap=self.next_snap() if self.in_attempt else None)
            limit -= 1
            assert limit, "the array stays busy"
        assert not self.early["gains"] and not self.early["summary"], "results without an attempt"
        assert not self.begun


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def matches_golden(dut):
    """Random operations without a gap, attempts between them, stalls on the results.

    Attempts follow each other at once, with operations between their SNAPs, or now and then.
    """
    bench = Bench(dut)
    rng, g = bench.rng, bench.geometry
    await bench.start()
    for _ in range(parameters()["rounds"]):
        await bench.configure()
        bench.stall(rng.choice([0.0, 0.5, 0.95]))
        snap_rate = rng.choice([0.1, 0.5, 1.0])
        pass_rate = rng.choice([1.0, 1.0, 0.1])
        others = rng.choice([(), OTHERS, OTHERS, OTHERS + (Op.NONE,)])
        few = rng.choice([1, 3, 256])
        bench.palette = [rng.choice([MISSING, rng.randrange(256), rng.randrange(g.bins)]) for _ in range(few)]
        for _ in range(parameters()["clocks"]):
            rate = snap_rate if bench.attempt_bin else snap_rate * pass_rate
            snap = bench.next_snap() if rng.random() < rate else None
            await bench.step(bench.random_op(COUNTING + others), snap)
        await bench.drain()
    # What memory holds in the end.
    for slot, cell, bin_, label in product(range(g.slots), range(g.max_cells), range(g.bins), range(g.classes)):
        place = {"slot": slot, "pass_": cell // g.lanes, "lane": cell % g.lanes, "bin": bin_, "label": label, "each": 0}
        await bench.step({"code": Op.READ, **place})
    for _ in range(bench.array.read_latency + 20):
        await bench.step()
    assert not bench.reads and not bench.clamps and not bench.partials
    assert bench.predicted or not g.naive_bayes
    dut._log.info(
        f"{bench.attempts} attempts, {bench.taken} results, {bench.clock} clocks; "
        f"waited {bench.full} clocks for room, {bench.behind} passes followed at once; "
        f"{bench.placed.passed_on} bin windows passed on"
    )
    assert bench.attempts >= parameters()["rounds"]
    assert bench.full


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def attempt_clocks(dut):
    """Back-to-back attempts of numeric cells: room for all snapshots, clocks per pass in the bar."""
    bench = Bench(dut)
    g = bench.geometry
    await bench.start()
    bench.palette = list(range(256))
    await bench.configure()
    for index in range(g.max_cells):
        await bench.write_cell(index, Cell(CellKind.NUMERIC))
    bench.use(g.max_cells, g.classes, 0)
    for slot, pass_ in product(range(g.slots), range(g.passes)):  # reset keeps memory
        place = {"slot": slot, "pass_": pass_}
        for bin_ in range(g.bins):
            await bench.step({"code": Op.CLEAR, **place, "bin": bin_})
        await bench.step({"code": Op.PLACE, **place, "root": 1, "parent": 0, "override": 0})
    for _ in range(300):
        await bench.step({**bench.random_op([Op.COUNT]), "minus": 0, "test": 0, "side": 0})
    first, attempts = bench.clock, 3 * bench.snapshots
    # No scan ends before all snapshots are in, so that the next one has to wait.
    for _ in range(bench.snapshots * (g.bins + 1) - 1):
        await bench.step(snap=bench.next_snap())
        assert bench.held == len(bench.begun), "a pass was through before the others were in"
    assert bench.held == bench.snapshots
    assert bench.behind == bench.snapshots - 1
    while bench.attempts < attempts:
        await bench.step(snap=bench.next_snap())
    await bench.drain()
    per_pass = (bench.clock - first) / attempts / g.passes
    bound = g.bins * (2 * g.classes + 2) + 60
    if bench.snapshots == 1:
        bound += g.bins  # its own snapshot lies between the scans
    dut._log.info(f"{per_pass:.1f} clocks per attempt pass, bar {bound}")
    assert per_pass <= bound
