"""Walker against the golden model: where records go, and what edits and locks between them do, stalls everywhere."""

import random
from collections import deque

import cocotb
from bregalad.geometry import MISSING, NONE
from bregalad.protocol.nodes import EDIT, KIND_LOW, EditError, EditFlag, Node, NodeKind
from bregalad_hw.front.ring import Ring, beat_layout
from bregalad_hw.front.walker import item_layout, lock_layout
from bregalad_hw.layout import struct
from cocotb.triggers import ReadOnly, RisingEdge

from bregalad_sim.golden.walker import NodeTable, Walker
from bregalad_sim.runner import parameters
from bregalad_sim.streams import Sink, Source, reset

_PATIENCE = 5000  # clocks without an item, an edit or a lock
_STANDS = 30  # clocks that it stands before an edit is sent


class Bench:
    """Records, edits and locks for a walker, in any order, and the golden model beside it."""

    def __init__(self, dut):
        self.dut = dut
        self.rng = rng = random.Random(cocotb.RANDOM_SEED)
        self.sizes = sizes = parameters()["sizes"]
        self.nodes, self.attributes, self.codes = (sizes[name] for name in ("nodes", "attributes", "codes"))
        table = NodeTable(self.nodes, self.attributes, sizes["slots"], sizes.get("alternates", 1))
        self.golden = Walker(table, sizes.get("paths", False))
        self.records = Source(dut, "i", beat_layout(self.nodes, self.codes), rng)
        self.edits = Source(dut, "edit", struct(EDIT), rng)
        self.locks = Source(dut, "lock", lock_layout(), rng)
        self.items = Sink(dut, "o", item_layout(self.nodes, sizes["slots"]), rng)
        self.ends = (self.records, self.edits, self.locks, self.items)
        self.walking = deque()  # codes and root of records that are not given yet
        self.wanted = deque()  # items of the record that is being given
        self.errors = deque()
        self.sent = 0  # records of which all beats are taken
        self.in_time = {}  # streams' offers that came before their record
        self.clock, self.since = 0, {}  # of their offers
        self.last_at = 0
        self.limit, self.grows = 0, 1.0
        self.idle, self.stood = 0, 0
        self.seen = dict.fromkeys(
            ("given", "edits", "locks", "stood", "lost", "alternates", "refused", "order", "more", "exact"), 0
        )

    async def start(self):
        dut = self.dut
        await reset(dut, dut.limit, dut.paths)
        dut.paths.value = self.golden.paths

    def send(self, codes=None, root=0):
        """A record, of random codes unless they are given."""
        rng = self.rng
        if codes is None:
            codes = [rng.choice([MISSING, 0, 1, 2, 3, rng.randrange(256)]) for _ in range(self.attributes)]
        self.walking.append((codes, root))
        for at in range(0, self.attributes, self.codes):
            self.records.items.append(
                {"codes": codes[at : at + self.codes], "root": root, "last": at + self.codes >= self.attributes}
            )

    def edit(self, node, row=None, at=0, more=False):
        """Send an EDIT; without a row a KEEP."""
        self.last_at = at = max(at, self.last_at)
        values = {"node": node, "at": at, "flags": EditFlag.MORE * more | EditFlag.KEEP * (row is None)}
        if row is not None:
            values |= {name: getattr(row, name) for name in ("child", "value", "default", "slot")}
            values["test"] = row.kind << KIND_LOW | row.attribute
        self.edits.items.append(values)

    async def step(self):
        """One clock."""
        dut = self.dut
        for end in self.ends:
            end.drive()
        if self.rng.random() < self.grows:
            self.limit = max(self.limit, self.golden.number + self.rng.randint(0, 20))
        dut.limit.value = self.limit
        self.clock += 1
        for end in (self.edits, self.locks):
            if end.offered and end not in self.in_time:
                self.in_time[end] = self.sent <= end.items[0]["at"]
                self.since[end] = self.clock
        await ReadOnly()
        self.idle += 1
        beat, edit, lock, item = (end.settle() for end in self.ends)
        error = int(dut.error.value)
        if beat is not None:
            self.sent += beat["last"]
        if item is not None:
            self._check(item)
        # What is on its way out is before the record that stands.
        self.stood = self.stood + 1 if int(dut.stands.value) and not self.items.valid else 0
        if self.stood > 4:
            assert self.golden.table.walk(*self.walking[0])[1], "it stands without a lock"
            self.seen["stood"] += 1
        if lock is not None:
            assert edit is None, "a lock comes first, alone"
            self._is_between(self.locks, lock)
            assert lock["at"] <= self.golden.number, "ahead of its record"
            if refused := self.golden.table.lock(lock["node"]):
                self.errors.append(refused)
            self.seen["locks"] += 1
        if edit is not None:
            self._edited(edit)
        if error:
            assert error == self.errors.popleft()
        self.idle = 0 if item or edit or lock else self.idle
        assert self.idle < _PATIENCE, "nothing comes any more"
        await RisingEdge(dut.clk)

    def _check(self, item):
        golden = self.golden
        if not self.wanted:
            assert not golden.stands(*self.walking[0]), "a locked node lets a record pass"
            for end in (self.edits, self.locks):
                assert not (end.offered and self.in_time[end] and end.items[0]["at"] <= golden.number), "passes an edit"
            assert golden.number < self.limit
            self.wanted += golden.give(*self.walking.popleft())
            self.seen["given"] += 1
        want = self.wanted.popleft()
        slot = want.pop("slot")
        assert item["slot"]["there"] == (slot != NONE)
        assert slot in (NONE, item["slot"]["slot"])
        assert {name: item[name] for name in want} == want
        self.seen["lost"] += item["lost"]
        self.seen["alternates"] += item["alternate"]

    def _is_between(self, end, taken):
        """What is carried out is so between two records."""
        assert not self.wanted and not self.items.valid, "in the midst of a record"
        self.seen["exact"] += self.in_time.pop(end) and taken["at"] == self.golden.number

    def _edited(self, edit):
        golden = self.golden
        self._is_between(self.edits, edit)
        if not golden.more and self.locks.offered and self.since[self.locks] <= self.since[self.edits]:
            assert self.locks.items[0]["at"] > golden.number, "before a lock"
        if edit["at"] > golden.number and not golden.more:
            assert golden.stands(*self.walking[0]), "ahead of its record"
            self.errors.append(EditError.ORDER)
            self.seen["order"] += 1
        golden.more = bool(edit["flags"] & EditFlag.MORE)
        row = None
        if not edit["flags"] & EditFlag.KEEP:
            kind, attribute = edit["test"] >> KIND_LOW, edit["test"] & (1 << KIND_LOW) - 1
            row = Node(kind, attribute, *(edit[name] for name in ("value", "child", "default", "slot")))
        if refused := golden.table.edit(edit["node"], row):
            self.errors.append(refused)
            self.seen["refused"] += 1
        self.seen["edits"] += 1
        self.seen["more"] += golden.more

    def random_row(self):
        """A node and a row of it, mostly one of those that make trees."""
        rng, last = self.rng, self.nodes - 1
        node = rng.randrange(self.nodes)
        kind = rng.choice([0, 0, 1, 1, 2, 3, 4] + [5] * (rng.random() < 0.05))
        child = rng.randint(min(node + 1, last), last) if rng.random() < 0.95 else rng.randrange(self.nodes + 2)
        row = Node(
            kind,
            attribute=rng.randrange(self.attributes + (rng.random() < 0.05)),
            value=rng.randrange(5),
            child=child,
            default=rng.choice([0, 0, 1]) if rng.random() < 0.95 else rng.randrange(256),
            slot=rng.choice([NONE, rng.randrange(self.sizes["slots"] + (rng.random() < 0.05))]),
        )
        return (node if rng.random() < 0.97 else rng.choice([self.nodes, NONE]) if self.nodes < NONE else node), row

    def random_at(self):
        return min(max(0, self.golden.number + self.rng.randint(-3, 15)), parameters()["records"])


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def matches_golden(dut):
    bench = Bench(dut)
    rng, golden = bench.rng, bench.golden
    await bench.start()
    left, stood = parameters()["records"], 0
    clock, last_lock = 0, 0
    locking = 0.0
    while left or bench.walking or bench.wanted or bench.edits.items:
        if clock % 200 == 0:
            for end in bench.ends:
                end.stall = rng.choice([0.0, 0.0, 0.5, 0.9])
            bench.grows = rng.choice([1.0, 0.3, 0.02])
            editing, locking = rng.choice([(0.0, 0.0), (0.02, 0.01), (0.1, 0.03), (0.3, 0.1)])
            deep = rng.random() < 0.3
        clock += 1
        if left and len(bench.records.items) < 4:
            bench.send(root=0 if deep else rng.randrange(bench.nodes))
            left -= 1
        if rng.random() < editing and len(bench.edits.items) < 4:
            bench.edit(*bench.random_row(), at=bench.random_at(), more=rng.random() < 0.3)
        if left and rng.random() < locking and not bench.locks.items:
            last_lock = max(rng.choice([bench.random_at(), bench.last_at]), last_lock)
            bench.locks.items.append({"node": rng.randrange(bench.nodes + (rng.random() < 0.05)), "at": last_lock})
        # Whoever sent a part of a change sends the rest; whoever locked a node, the verdict.
        waits = golden.more or (bench.walking and golden.stands(*bench.walking[0]))
        stood = stood + 1 if waits and not bench.edits.items else 0
        if stood > _STANDS:
            stood = 0
            node = rng.choice([*golden.table.locked, rng.randrange(bench.nodes)])
            bench.edit(node, rng.choice([None, bench.random_row()[1]]), at=bench.random_at())
        await bench.step()
    for _ in range(10):
        await bench.step()
    assert not bench.wanted and not bench.errors
    dut._log.info(f"{bench.seen} in {clock} clocks")
    wanted = set(bench.seen) - (set() if golden.table.alternates else {"alternates"})
    assert all(bench.seen[name] for name in wanted), bench.seen


def _grow(attributes, depth):
    """Numeric nodes in a row: the first child of each is the next, of the last a leaf, as all second ones."""
    rows, at = [], 0
    for level in range(depth):
        rows += [
            (at, Node(NodeKind.NUMERIC, level % attributes, value=128, child=2 * level + 1)),
            (2 * level + 2, Node(slot=0)),
        ]
        at = 2 * level + 1
    return [*rows, (at, Node(slot=1))]


async def _plant(bench, depth):
    rows = _grow(bench.attributes, depth)
    for place, (node, row) in enumerate(rows):
        bench.edit(node, row, more=place + 1 < len(rows))
    while bench.edits.items:
        await bench.step()
    for _ in range(300):  # a row's many children have their parent, too
        await bench.step()


async def _clocks(bench, depths):
    """Clocks until the first of so many records is given, all beats of it included, and per record in the midst."""
    for depth in depths:  # the leaf beside the way, or at its end
        bench.send([0] * (depth - 1) + [254] * (bench.attributes - depth + 1) if depth else [0] * bench.attributes)
    first, clocks, given = bench.golden.number, 0, {}
    while bench.walking:
        await bench.step()
        clocks += 1
        given.setdefault(bench.golden.number - first, clocks)
    count = len(depths)
    return given[1], (given[count * 3 // 4] - given[count // 4]) / (count * 3 // 4 - count // 4)


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def takes_the_clocks_that_it_says(dut):
    """A step per ring and clock where records wait; the latency of one record."""
    bench = Bench(dut)
    walkers, records = bench.sizes.get("walkers", 1), bench.sizes.get("records", 16)
    await bench.start()
    bench.limit, bench.idle = 1 << 30, 0  # far away
    beats = -(-bench.attributes // bench.codes)
    count = 4 * Ring.steps * walkers * -(-160 // (4 * Ring.steps * walkers))  # rings are emptied in step
    for depth in parameters()["depths"]:
        await _plant(bench, depth)
        first, clocks = await _clocks(bench, [0] * count)
        steps = depth + 1
        dut._log.info(f"depth {depth}: {clocks:.3f} clocks per record, {steps / clocks:.3f} steps per clock")
        items = steps if bench.golden.paths else 1
        busy = max(2, steps, (steps * Ring.steps + 1 + beats) / records)  # a ring with a record
        assert clocks == max(items, beats, busy / walkers), (depth, clocks)
        assert first == beats + steps * Ring.steps + 3, (depth, first)
    depth = max(parameters()["depths"])
    depths = [bench.rng.randint(1, min(depth, bench.attributes)) for _ in range(20 * count)]
    _, clocks = await _clocks(bench, depths)
    steps = 1 + sum(depths) / len(depths)
    dut._log.info(f"depths 1 to {depth}: {clocks:.3f} clocks per record, {steps / clocks:.3f} steps per clock")
