"""One lane, the array's control in front of it, against the golden model."""

import random
from collections import deque

import cocotb
from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import MISSING, Geometry
from bregalad.protocol.registers import CellKind
from bregalad_hw.array.bayes import terms_layout
from bregalad_hw.array.control import Control
from bregalad_hw.array.operation import Op, cell_layout, operation_layout
from bregalad_hw.array.processor import AttributeProcessor
from bregalad_hw.gain.gain import arithmetic_latency, result_layout
from bregalad_hw.gain.scan import Scan
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bregalad_sim.benches.placed import Placed
from bregalad_sim.benches.sides import SIDES, bin_of, terms_of
from bregalad_sim.bits import pack, unpack
from bregalad_sim.golden import Cell, Slots, gain_of
from bregalad_sim.runner import parameters

_OWN = (
    "code",
    "config_write",
    "config_pass",
    "config",
    "word",
    "read",
    "count",
    "clamped",
    "load",
    "shift",
    "chain_i",
    "chain_o",
    "terms",
)


class Lane(wiring.Component):
    """Lane ``lane`` as the array has it; members as of its three parts."""

    def __init__(self, geometry, lane, *, snapshots):
        self.geometry = geometry
        self.processor = AttributeProcessor(geometry, lane, snapshots=snapshots)
        members = self.processor.signature.members
        self.lead = Scan(geometry, latency=arithmetic_latency(geometry), spread=0, gathered=1, snapshots=snapshots)
        super().__init__(
            {
                "op": In(operation_layout(geometry)),
                "count_in": In(geometry.count_width),
                "classes_in_use": In(8),
                "done": Out(1),
                **{name: members[name] for name in _OWN},
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
        for name in _OWN:
            outer, inner = getattr(self, name), getattr(processor, name)
            if self.signature.members[name].flow is Out:
                m.d.comb += outer.eq(inner)
            else:
                m.d.comb += inner.eq(outer)
        return m


class Bench:
    """Drives and checks the lane clock by clock, at the falling edges."""

    def __init__(self, dut):
        given = parameters()
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.geometry = g = Geometry(**given["geometry"])
        self.lane, self.snapshots = given["lane"], given["snapshots"]
        self.latency = AttributeProcessor(g, self.lane).read_latency
        self.word = data.ArrayLayout(g.count_width, g.classes)
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
        dut = self.dut
        for name in (
            "op",
            "count_in",
            "code",
            "config_write",
            "config_pass",
            "config",
            "classes_in_use",
            "load",
            "shift",
            "chain_i",
        ):
            getattr(dut, name).value = 0
        cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
        dut.rst.value = 1
        for _ in range(3):
            await FallingEdge(dut.clk)
        dut.rst.value = 0

    def cell(self, pass_):
        return pass_ * self.geometry.lanes + self.lane

    async def configure(self):
        """New cells while nothing is under way."""
        rng, g, dut = self.rng, self.geometry, self.dut
        for _ in range(self.latency + 1):
            await self.step()
        assert not self.begun
        self.golden.fields["classes.count"] = rng.randint(1, g.classes)
        dut.classes_in_use.value = self.golden.fields["classes.count"]
        dut.config_write.value = 1
        for pass_ in range(g.passes):
            cell = Cell(
                rng.choice([CellKind.NUMERIC] * 3 + [CellKind.MULTIWAY] * 2 + [CellKind.ONE_VS_REST, CellKind.IGNORED]),
                rng.randrange(2),
                rng.randrange(2),
                rng.choice([0, 3, 250, rng.randrange(256)]),
            )
            self.golden.cells[self.cell(pass_)] = cell
            dut.config_pass.value = pass_
            dut.config.value = pack(cell_layout(), vars(cell))
            await self.step()
        dut.config_write.value = 0
        # Without `config_write` it must not matter.
        dut.config.value = rng.getrandbits(cell_layout().size)
        base = self.golden.cells[self.cell(0)].base
        around = [(base + i) & 255 for i in range(-1, g.bins + 1)]
        self.palette = rng.choice([[rng.randrange(256)], around, range(256), [*around, MISSING]])
        self.labels = rng.choice([[rng.randrange(g.classes)], range(g.classes)])

    def apply(self, op, code, count):
        """The golden model's operation; what stage 8 shows of it: (word, count that is read, clamped)."""
        golden, g = self.golden, self.geometry
        slot, bin_, cell = op["slot"], op["bin"], self.cell(op["pass_"])
        read, clamped = None, 0
        match op["code"]:
            case Op.COUNT:
                self.note_terms(op, cell, code)
                bin_ = bin_of(golden, slot, cell, code, op.get("side", 0))
                if bin_ is not None and not op["test"]:
                    clamped = golden._count_cell(slot, cell, code, op["label"], op["minus"])
                self.seen["tested" if op["test"] else "counted"] += bin_ is not None
                self.seen["clamped"] += clamped
            case Op.CLEAR:
                golden.counts[slot][cell][bin_] = [0] * g.classes
            case Op.HALVE:
                bins = golden.counts[slot][cell]
                bins[bin_] = [count >> 1 for count in bins[bin_]]
            case Op.PLACE:
                zoom = (0, g.root_shift) if op["root"] else golden.zoom[op["parent"]][cell]
                if op["override"] and op["lane"] == self.lane:
                    zoom = (op["lo"], op["shift"])
                golden.zoom[slot][cell] = zoom
                bin_ = None
            case Op.READ | Op.WRITE:
                if op["lane"] != self.lane:
                    bin_ = None
                elif op["code"] is Op.READ:
                    self.seen["read"] += 1
                    read = golden.counts[slot][cell][bin_][op["label"]]
                else:
                    golden.counts[slot][cell][bin_][op["label"]] = count
            case Op.SNAP:
                pass
            case _:
                bin_ = None
        self.placed.note(op)
        word = None if bin_ is None else (slot, cell, bin_)
        self.seen["near"] += word is not None and word in self.recent
        self.recent.append(word)
        return None if bin_ is None else list(golden.counts[slot][cell][bin_]), read, clamped

    def note_terms(self, op, cell, code):
        """What the lane adds to a prediction: from the word as it is before the operation."""
        if self.geometry.naive_bayes:
            logs, known, self.least = terms_of(self.golden, op["slot"], cell, code, op["side"], self.least)
            latency = AttributeProcessor(self.geometry, self.lane).terms_latency
            self.terms_due[self.clock + latency] = {"logs": logs, "known": known}
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
            "parent": rng.randrange(g.slots),
            "root": rng.randrange(4) == 0,
            "override": rng.randrange(2),
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
        count = rng.choice([0, 1, g.count_max, g.count_max - 1, rng.randint(0, g.count_max)])
        dut.op.value = pack(operation_layout(g), op)
        dut.code.value = code
        dut.count_in.value = count
        shown = self.apply(op, code, count)
        self.due[self.clock + self.latency] = shown

        want, read, clamped = self.due.pop(self.clock, (None, None, 0))
        if want is not None:
            assert unpack(self.word, int(dut.word.value)) == want
        assert int(dut.read.value) == (read is not None)
        if read is not None:
            assert int(dut.count.value) == read
        assert int(dut.clamped.value) == clamped

        terms = self.terms_due.pop(self.clock, None)
        if terms is not None:
            assert unpack(terms_layout(g), int(dut.terms.value)) == terms

        # Results come out by `load`, then the chain passes on what comes in.
        if self.chain is not None:
            assert int(dut.chain_o.value) == self.chain
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
            self.check(unpack(result_layout(g), self.chain), *self.held.popleft())
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
    for slot in range(g.slots):  # what memory holds in the end
        for pass_ in range(g.passes):
            for bin_ in range(g.bins):
                await bench.step({"code": Op.READ, "slot": slot, "pass_": pass_, "bin": bin_, "lane": bench.lane})
    for _ in range(bench.latency + 1):
        await bench.step()
    dut._log.info("%d clocks, %s", bench.clock, bench.seen)
    assert all(bench.seen.values()), bench.seen
    assert bench.placed.passed_on
