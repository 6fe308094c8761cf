"""One lane, the array's control in front of it, against the golden model."""

from collections import deque
from itertools import product

import cocotb
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import MISSING, Geometry
from bregalad.protocol.registers import CellKind
from bregalad_hw.array.control import Control
from bregalad_hw.array.operation import CELL, Op, operation_layout
from bregalad_hw.array.processor import AttributeProcessor
from bregalad_hw.gain.gain import arithmetic_latency, result_layout
from bregalad_hw.gain.scan import Scan
from cocotb.triggers import FallingEdge

from bregalad_sim.benches.operations import Placed, execute
from bregalad_sim.benches.sides import SIDES, terms_of
from bregalad_sim.golden import Cell, Slots, gain_of
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

_INSIDE = ("control", "scan", "pairs", "whole")  # members that do not lead outside


class Lane(wiring.Component):
    """Lane ``lane`` as the array has it; members as of its three parts."""

    def __init__(self, geometry, lane, *, snapshots):
        self.geometry = geometry
        self.processor = AttributeProcessor(geometry, lane, snapshots=snapshots)
        self._given = {name: each for name, each in self.processor.signature.members.items() if name not in _INSIDE}
        self.lead = Scan(geometry, latency=arithmetic_latency(geometry), spread=0, gathered=1, snapshots=snapshots)
        super().__init__(
            {
                "op": In(operation_layout(geometry)),
                "count_in": In(geometry.count_width),
                "classes_in_use": In(8),
                "done": Out(1),
                **self._given,
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.control = control = Control(self.geometry)
        m.submodules.processor = processor = self.processor
        m.submodules.scan = scan = self.lead
        m.d.comb += [
            control.op.eq(self.op),
            control.count_in.eq(self.count_in),
            processor.control.eq(control.control),
            scan.snap.eq(control.snapped),
            scan.bin.eq(control.snapped_bin),
            scan.classes_in_use.eq(self.classes_in_use),
            scan.take.eq(self.load),
            processor.scan.eq(scan.control),
            self.done.eq(scan.done),
        ]
        m.d.sync += [scan.pairs.eq(processor.pairs), scan.whole.eq(processor.whole)]
        for name, member in self._given.items():
            outer, inner = getattr(self, name), getattr(processor, name)
            m.d.comb += outer.eq(inner) if member.flow is Out else inner.eq(outer)
        return m


class Bench(BlockBench):
    """Drives and checks the lane clock by clock, at the falling edges."""

    def __init__(self, dut):
        given = parameters()
        self.geometry = g = Geometry(**given["geometry"])
        self.lane, self.snapshots = given["lane"], given["snapshots"]
        self.block = Lane(g, self.lane, snapshots=self.snapshots)
        super().__init__(dut, self.block)
        self.latency = AttributeProcessor.read_latency
        self.golden = Slots(g)
        self.shadow = Slots(g)  # slot 0, cell 0: the snapshot that is coming in
        self.clock = 0
        self.due = {}  # clock: (word, what is read, clamped)
        self.terms_due = {}  # clock: terms of a COUNT
        self.least = None  # of the terms beside the last COUNT of a code's own bin
        self.held = deque()  # results of whole snapshots that are not taken
        self.begun = 0  # snapshots that are not taken
        self.left = []  # SNAPs of the one that is coming in
        self.last_snap = -2  # clock of the last SNAP of one
        self.chain = None  # what the chain shows
        self.seen = dict.fromkeys(("counted", "tested", "clamped", "read", "near", "taken"), 0)
        if g.naive_bayes:
            self.seen["beside"] = 0
        self.recent = deque(maxlen=4)
        self.placed = Placed(self.rng)

    async def start(self):
        await super().start()
        await FallingEdge(self.dut.clk)

    def cell(self, pass_):
        return pass_ * self.geometry.lanes + self.lane

    async def configure(self):
        """New cells while nothing is under way."""
        rng, g, dut = self.rng, self.geometry, self.dut
        for _ in range(self.latency + 1):
            await self.step()
        assert not self.begun
        self.golden.fields["classes.count"] = rng.randint(1, g.classes)
        self.set_inputs(classes_in_use=self.golden.fields["classes.count"], config_write=1)
        for pass_ in range(g.passes):
            cell = Cell(
                rng.choice([CellKind.NUMERIC] * 3 + [CellKind.MULTIWAY] * 2 + [CellKind.ONE_VS_REST, CellKind.IGNORED]),
                rng.randrange(2),
                rng.randrange(2),
                rng.choice([0, 3, 250, rng.randrange(256)]),
            )
            self.golden.cells[self.cell(pass_)] = cell
            self.set_inputs(config_pass=pass_, config=vars(cell))
            await self.step()
        self.set_inputs(config_write=0)
        # Without `config_write` it must not matter.
        dut.config.value = rng.getrandbits(CELL.size)
        base = self.golden.cells[self.cell(0)].base
        around = [(base + i) & 255 for i in range(-1, g.bins + 1)]
        self.palette = rng.choice([[rng.randrange(256)], around, range(256), [*around, MISSING]])
        self.labels = rng.choice([[rng.randrange(g.classes)], range(g.classes)])

    def apply(self, op, code, count):
        """The golden model's operation; what stage 8 shows of it: (word, count that is read, clamped)."""
        slot, cell = op["slot"], self.cell(op["pass_"])
        if op["code"] is Op.COUNT:
            self.note_terms(op, cell, code)
        bin_, read, clamped = execute(self.golden, op, cell, code, count, op["lane"] == self.lane)
        if op["code"] is Op.COUNT:
            self.seen["tested" if op["test"] else "counted"] += bin_ is not None
        self.seen["clamped"] += clamped
        self.seen["read"] += read is not None
        self.placed.record(op)
        word = None if bin_ is None else (slot, cell, bin_)
        self.seen["near"] += word is not None and word in self.recent
        self.recent.append(word)
        return None if bin_ is None else list(self.golden.counts[slot][cell][bin_]), read, clamped

    def note_terms(self, op, cell, code):
        """What the lane adds to a prediction: from the word as it is before the operation."""
        if self.geometry.naive_bayes:
            logs, known, self.least = terms_of(self.golden, op["slot"], cell, code, op["side"], self.least)
            self.terms_due[self.clock + self.block.processor.terms_latency] = {"logs": logs, "known": known}
            self.seen["beside"] += op["side"] > 0

    def random_op(self, codes):
        rng, g = self.rng, self.geometry
        op = {
            "code": rng.choice(codes),
            "slot": rng.randrange(g.slots),
            "pass_": rng.randrange(g.passes),
            "bin": rng.randrange(g.bins),
            "label": rng.choice(self.labels),
            "minus": rng.randrange(3) == 0,
            "test": rng.randrange(4) == 0,
            "predict": 1,
            "parent": rng.randrange(g.slots),
            "root": rng.randrange(4) == 0,
            "override": rng.randrange(2),
            "each": rng.randrange(3) == 0,
            "lane": rng.choice([self.lane, rng.randrange(g.lanes)]),
            "lo": rng.choice([0, 255, rng.randrange(256)]),
            "shift": rng.randrange(8),
        }
        if g.naive_bayes:
            op["side"] = rng.choice([0, *SIDES]) if op["test"] and self.least else 0
        return self.placed.follow(op) if Op.PLACE in codes else op

    def next_snap(self):
        """The next SNAP, None if the gain unit does not take it yet."""
        rng, g = self.rng, self.geometry
        if not self.left:
            if self.begun == self.snapshots or self.clock == self.last_snap + 1:
                return None
            self.begun += 1
            slot, pass_ = rng.randrange(g.slots), rng.randrange(g.passes)
            self.shadow.cells[0] = self.golden.cells[self.cell(pass_)]
            self.left = [{"slot": slot, "pass_": pass_, "bin": bin_} for bin_ in range(g.bins)]
        return {"code": Op.SNAP, **self.left.pop(0)}

    async def step(self, op=None, take=1.0, snap=None):
        """One clock with an operation, or a SNAP in its place.

        ``take`` is the probability to take a result.
        """
        rng, dut, g = self.rng, self.dut, self.geometry
        op = {**self.random_op([Op.NONE]), **(snap or op or {})}
        if snap:
            bins = self.golden.counts[snap["slot"]][self.cell(snap["pass_"])]
            self.shadow.counts[0][0][snap["bin"]] = list(bins[snap["bin"]])
        code = rng.choice(self.palette) if op["code"] is Op.COUNT else rng.randrange(256)
        some = [0, 1, g.count_max, g.count_max - 1, rng.randint(0, g.count_max)]
        count, value = rng.choice(some), rng.choice(some)
        self.set_inputs(op=op, code=code, count_in=count, value=value)
        self.due[self.clock + self.latency] = self.apply(op, code, value if op["each"] else count)

        want, read, clamped = self.due.pop(self.clock, (None, None, 0))
        assert want is None or self.read("word") == want
        assert int(dut.read.value) == (read is not None)
        assert read is None or int(dut.count.value) == read
        assert int(dut.clamped.value) == clamped
        terms = self.terms_due.pop(self.clock, None)
        assert terms is None or self.read("terms") == terms

        # Results come out by `load`, then the chain passes on what comes in.
        assert self.chain is None or int(dut.chain_o.value) == self.chain
        if int(dut.done.value):
            assert self.held, "a result without a snapshot"
        load = bool(int(dut.done.value)) and rng.random() < take
        shift = not load and rng.random() < 0.5
        chain = rng.getrandbits(result_layout(g).size)
        dut.load.value, dut.shift.value, dut.chain_i.value = load, shift, chain
        await FallingEdge(dut.clk)
        self.clock += 1
        if load:
            self.chain = int(dut.chain_o.value)
            self.check(self.read("chain_o"), *self.held.popleft())
            self.begun -= 1
            self.seen["taken"] += 1
        elif shift:
            self.chain = chain
        if snap and not self.left:
            cell = self.shadow.cells[0]
            self.held.append((cell, gain_of(g, 0, cell, self.shadow.counts[0][0], self.golden.fields["classes.count"])))
            self.last_snap = self.clock - 1

    def check(self, result, cell, want):
        classes = self.golden.fields["classes.count"]
        if want.valid:
            assert result["gain"] == want.gain, cell
        if want.valid and cell.kind != CellKind.MULTIWAY:
            base = 0 if cell.kind == CellKind.NUMERIC else cell.base
            got = result["bin"] + base & 255, result["left"][:classes]
            assert got == (want.value, want.left[:classes]), cell


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def matches_golden(dut):
    """Any operations in any order without a gap, on few words; every word as stage 8 has it."""
    bench = Bench(dut)
    rng, g = bench.rng, bench.geometry
    await bench.start()
    bench.palette, bench.labels = range(256), range(g.classes)
    mixes = (
        [Op.COUNT],
        [Op.COUNT] * 4 + [Op.PLACE],
        [Op.COUNT] * 4 + [Op.CLEAR, Op.HALVE, Op.READ, Op.WRITE, Op.PLACE, Op.NONE],
        [Op.COUNT, Op.WRITE, Op.HALVE, Op.READ],
    )
    for index in range(parameters()["rounds"]):
        await bench.configure()
        codes = mixes[index % len(mixes)]
        snap, take = rng.choice([0.02, 0.5]), rng.choice([1.0, 0.02])
        for _ in range(parameters()["clocks"]):
            begin = bench.left or rng.random() < 0.2
            snapped = bench.next_snap() if begin and rng.random() < snap else None
            await bench.step(bench.random_op(codes), take, snapped)
        limit = 4000
        while bench.left or bench.begun:
            await bench.step(snap=bench.next_snap() if bench.left else None)
            limit -= 1
            assert limit, "a result is missing"
    for slot, pass_, bin_ in product(range(g.slots), range(g.passes), range(g.bins)):  # what memory holds in the end
        await bench.step({"code": Op.READ, "slot": slot, "pass_": pass_, "bin": bin_, "lane": bench.lane})
    for _ in range(bench.latency + 1):
        await bench.step()
    dut._log.info("%d clocks, %s", bench.clock, bench.seen)
    assert all(bench.seen.values()), bench.seen
    assert bench.placed.passed_on
