"""Walker against the golden model: where records go, and what edits and locks between them do, stalls everywhere."""

import random
from collections import deque

import cocotb
from bregalad.geometry import MISSING, NONE
from bregalad.protocol.nodes import EDIT, KIND_LOW, EditFlag, Node, NodeKind
from bregalad_hw.front.ring import Ring, beat_layout
from bregalad_hw.front.walker import item_layout, lock_layout
from bregalad_hw.layout import struct
from cocotb.triggers import ReadOnly, RisingEdge

from bregalad_sim.golden.walker import NodeTable, Walker
from bregalad_sim.runner import parameters
from bregalad_sim.streams import Sink, Source, reset

_PATIENCE = 5000  # clocks without an item, an edit or a lock
_STANDS = 30  # clocks that it stands before an edit is sent
_ON_THE_WAY = 4  # records that may be handed over and not taken yet


class Bench:
    """Records, edits and locks for a walker, in any order, and the golden model beside it."""

    def __init__(self, dut):
        self.dut = dut
        self.rng = rng = random.Random(cocotb.RANDOM_SEED)
        self.sizes = sizes = parameters()["sizes"]
        self.nodes, self.attributes, self.codes = (sizes[name] for name in ("nodes", "attributes", "codes"))
        table = NodeTable(self.nodes, self.attributes, sizes["slots"], sizes.get("alternates", 1))
        self.golden = Walker(table)
        self.records = Source(dut, "i", beat_layout(self.nodes, self.codes), rng)
        self.edits = Source(dut, "edit", struct(EDIT), rng)
        self.locks = Source(dut, "lock", lock_layout(), rng)
        self.items = Sink(dut, "o", item_layout(self.nodes, sizes["slots"]), rng)
        self.ends = (self.records, self.edits, self.locks, self.items)
        self.walking = deque()  # codes, root and whether it is numbered, of records that are not given yet
        self.wanted = deque()  # items of the record that is being given
        self.errors = deque()
        self.sent = 0  # numbered records of which all beats are taken
        self.in_time = False  # the lock that is offered came before its record
        self.held, self.since = 0, 0  # clocks of `hold` or an edit's offer, and records given in them
        self.hold = False
        self.all = False  # locks stop all records
        self.stop = False  # of the next edits
        self.turning = 0  # clocks left, until a lock is cancelled
        self.limit, self.grows = 0, 1.0
        self.last = parameters().get("records", 0)  # no numbered record is above
        self.idle, self.stood = 0, 0
        self.seen = dict.fromkeys(
            (
                "given",
                "free",
                "edits",
                "locks",
                "stood",
                "lost",
                "alternates",
                "refused",
                "more",
                "exact",
                "held",
                "stopped",
                "renumbered",
            ),
            0,
        )

    async def start(self):
        dut = self.dut
        await reset(dut, dut.turning, dut.renumber, dut.last_number, dut.limit, dut.hold)

    def send(self, codes=None, root=0, numbered=True):
        """A record, of random codes unless they are given."""
        rng = self.rng
        if codes is None:
            codes = [rng.choice([MISSING, 0, 1, 2, 3, rng.randrange(256)]) for _ in range(self.attributes)]
        self.walking.append((codes, root, numbered))
        for at in range(0, self.attributes, self.codes):
            self.records.items.append(
                {
                    "codes": codes[at : at + self.codes],
                    "root": root,
                    "numbered": numbered,
                    "last": at + self.codes >= self.attributes,
                }
            )

    def stands(self):
        """Whether the next record, if there is one, has to wait for an edit."""
        golden = self.golden
        numbered = bool(self.walking and self.walking[0][2])
        return golden.more or numbered and (self.stopped() or golden.stands(*self.walking[0][:2]))

    def stopped(self):
        """Whether a lock stops all records."""
        return self.all and self.locks.offered and self.locks.items[0]["at"] <= self.golden.number

    def cancel(self):
        """Have the first lock go, as `Verdicts` does."""
        if not self.turning:
            self.turning, self.hold = 5, True

    async def renumber(self, left):
        """Count the records that are left from another number on, while there is neither a record nor a lock."""
        dut, rng = self.dut, self.rng
        number = rng.choice([0, rng.randrange(100), rng.randrange(1 << 31)])
        dut.renumber.value, dut.last_number.value = 1, number
        await self.step()
        dut.renumber.value, dut.last_number.value = 0, rng.getrandbits(32)
        await self.step()
        self.golden.number = self.sent = self.limit = number
        self.last = number + left
        for _ in range(3):  # the new limit is told in the first
            await self.step()
        self.seen["renumbered"] += 1

    def edit(self, node, row=None, more=False):
        """Send an EDIT; without a row a KEEP."""
        if self.rng.random() < 0.2:
            self.stop = self.rng.random() < 0.3
        values = {
            "node": node,
            "flags": EditFlag.MORE * more | EditFlag.KEEP * (row is None) | EditFlag.STOP * self.stop,
        }
        if row is not None:
            values |= {name: getattr(row, name) for name in ("child", "value", "default", "slot")}
            values["test"] = row.kind << KIND_LOW | row.attribute
        self.edits.items.append(values)

    async def step(self):
        """One clock."""
        dut, golden = self.dut, self.golden
        self.turning -= self.turning > 0
        if self.turning == 1 and self.locks.offered:
            self.locks.items.popleft()
            self.locks.offered = False
        lock_offered = self.locks.offered
        for end in self.ends:
            end.drive()
        if self.rng.random() < self.grows:
            self.limit = max(self.limit, golden.number + self.rng.randint(0, 20))
        dut.limit.value = self.limit
        dut.hold.value = self.hold or self.turning > 0
        dut.turning.value = self.turning > 0
        if self.locks.offered and not lock_offered:
            self.in_time = self.sent <= self.locks.items[0]["at"]
        self.held = self.held + 1 if self.hold or self.turning or self.edits.offered else 0
        if self.held <= 1:
            self.since = 0
        await ReadOnly()
        self.idle += 1
        beat, edit, lock, item = (end.settle() for end in self.ends)
        error, quiet = int(dut.error.value), bool(int(dut.quiet.value))
        assert 0 <= int(dut.handed.value) - golden.number <= _ON_THE_WAY
        if beat is not None:
            self.sent += beat["last"] and beat["numbered"]
        if item is not None:
            self._check(item)
        # What is on its way out is before the record that stands.
        self.stood = self.stood + 1 if int(dut.stands.value) and not self.items.valid else 0
        if self.stood > 4:
            locked = golden.table.walk(*self.walking[0][:2])[1]
            assert self.walking[0][2] and (locked or self.stopped()), "it stands without a lock"
            self.seen["stood"] += 1
            self.seen["stopped"] += not locked
        assert not (quiet and (self.wanted or self.items.valid)), "a record is on its way"
        if lock is not None:
            assert edit is None, "a lock comes first, alone"
            assert quiet and not self.all, "between two records"
            assert lock["at"] <= golden.number, "ahead of its record"
            self.seen["exact"] += self.in_time and lock["at"] == golden.number
            if refused := golden.table.lock(lock["node"]):
                self.errors.append(refused)
            self.seen["locks"] += 1
        if edit is not None:
            assert quiet, "between two records"
            self._edited(edit)
        if error:
            assert error == self.errors.popleft()
        self.idle = 0 if item or edit or lock else self.idle
        assert self.idle < _PATIENCE, "nothing comes any more"
        await RisingEdge(dut.clk)

    def _check(self, item):
        golden = self.golden
        if not self.wanted:
            stands = self.stands() if self.in_time or not self.stopped() else False
            assert not stands, "a locked node lets a record pass"
            *walk, numbered = self.walking.popleft()
            if numbered:
                late = self.locks.offered and self.in_time and self.locks.items[0]["at"] <= golden.number
                assert not late, "passes a lock"
                assert golden.number < self.limit
            self.since += self.held > 1
            assert self.since <= _ON_THE_WAY, "it does not hold"
            self.wanted += golden.give(*walk, numbered=numbered)
            self.seen["given"] += 1
            self.seen["free"] += not numbered
            self.seen["held"] += self.since > 0
        want = self.wanted.popleft()
        slot = want.pop("slot")
        assert item["slot"]["there"] == (slot != NONE)
        assert slot in (NONE, item["slot"]["slot"])
        assert {name: item[name] for name in want} == want
        self.seen["lost"] += item["lost"]
        self.seen["alternates"] += item["alternate"]

    def _edited(self, edit):
        golden = self.golden
        if self.locks.offered and self.in_time and not self.all:
            assert self.locks.items[0]["at"] > golden.number, "before a lock"
        golden.more, self.all = (bool(edit["flags"] & flag) for flag in (EditFlag.MORE, EditFlag.STOP))
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
        child = rng.randint(min(node + 1, last), last) if rng.random() < 0.85 else rng.randrange(self.nodes + 2)
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
        return min(max(0, self.golden.number + self.rng.randint(-3, 15)), self.last)


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def matches_golden(dut):
    bench = Bench(dut)
    rng, golden = bench.rng, bench.golden
    await bench.start()
    left, stood = parameters()["records"], 0
    clock, last_lock = 0, 0
    turns = False  # no record and no lock is sent, until there is none
    while left or bench.walking or bench.wanted or bench.edits.items:
        if clock % 200 == 0:
            for end in bench.ends:
                end.stall = rng.choice([0.0, 0.0, 0.5, 0.9])
            bench.grows = rng.choice([1.0, 0.3, 0.02])
            editing, locking = rng.choice([(0.0, 0.0), (0.02, 0.01), (0.1, 0.03), (0.3, 0.1)])
            holding = rng.choice([0.0, 0.0, 0.3])
            deep = rng.random() < 0.3
        clock += 1
        turns = turns or rng.random() < 0.003
        if turns and not (bench.walking or bench.wanted or bench.locks.items):
            await bench.renumber(left)
            turns, bench.hold, last_lock = False, False, 0
        elif turns and not (bench.walking or bench.wanted):
            bench.cancel()
        if left and len(bench.records.items) < 4 and not turns:
            bench.send(root=0 if deep else rng.randrange(bench.nodes), numbered=rng.random() < 0.8)
            left -= 1
        if rng.random() < editing and len(bench.edits.items) < 4:
            bench.edit(*bench.random_row(), more=rng.random() < 0.3)
        if rng.random() < 0.05 and not bench.turning:
            bench.hold = rng.random() < holding
        if left and rng.random() < locking and not (bench.locks.items or turns):
            last_lock = max(bench.random_at(), last_lock)
            bench.locks.items.append({"node": rng.randrange(bench.nodes + (rng.random() < 0.05)), "at": last_lock})
        # Whoever sent a part of a change sends the rest; whoever locked a node, the verdict.
        stood = stood + 1 if bench.stands() and not bench.edits.items else 0
        if stood > _STANDS:
            stood = 0
            if bench.stopped():
                bench.cancel()
            node = rng.choice([*golden.table.locked, rng.randrange(bench.nodes)])
            bench.edit(node, rng.choice([None, bench.random_row()[1]]))
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
    for _ in range(10):
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
        # A ring with a record; alone it takes a clock more from one to the next.
        busy = max(2 + (walkers == 1), steps, (steps * Ring.steps + 2 + beats) / records)
        assert clocks == max(1, beats, busy / walkers), (depth, clocks)
        assert first == beats + steps * Ring.steps + 4, (depth, first)
    depth = max(parameters()["depths"])
    depths = [bench.rng.randint(1, min(depth, bench.attributes)) for _ in range(20 * count)]
    _, clocks = await _clocks(bench, depths)
    steps = 1 + sum(depths) / len(depths)
    dut._log.info(f"depths 1 to {depth}: {clocks:.3f} clocks per record, {steps / clocks:.3f} steps per clock")
