"""Walker against the golden model: where records go, and what edits between them do, stalls everywhere."""

from collections import deque

import cocotb
from bregalad.geometry import MISSING, NONE
from bregalad.protocol.nodes import NodeKind
from bregalad_hw.front.ring import Ring
from bregalad_hw.front.walker import Walker as Block
from cocotb.triggers import RisingEdge

from bregalad_sim.benches.edits import edit_of, row_of
from bregalad_sim.golden.walker import NodeTable, Walker
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

from ..golden.node import Node

_PATIENCE = 10000  # clocks without an item
_ON_THE_WAY = 4  # records that may be handed over and not taken yet


class Bench(BlockBench):
    """Records and edits for a walker, in any order, and the golden model beside it."""

    def __init__(self, dut):
        self.sizes = sizes = parameters()["sizes"]
        super().__init__(dut, Block(**sizes))
        self.nodes, self.attributes, self.codes = (sizes[name] for name in ("nodes", "attributes", "codes"))
        self.table = NodeTable(self.nodes, self.attributes, sizes["slots"], sizes.get("alternates", 1))
        self.golden = Walker(self.table)
        self.records, self.edits, self.items = (self.ends[name] for name in ("i", "edit", "o"))
        self.walking = deque()  # codes, root and whether it is numbered, of records that are not given yet
        self.wanted = deque()  # items of the record that is being given
        self.errors = deque()
        self.number = 0  # of the last numbered record that was given
        self.hold = False
        self.limit, self.grows = 0, 1.0
        self.told = False, 0  # in the last clock: whether to wait, and the limit
        self.stood = None  # if nothing may have been handed over in the last clock: what was handed over before
        self.idle = 0
        names = ("given", "free", "edits", "lost", "alternates", "refused", "anew", "held", "limited", "renumbered")
        self.seen = dict.fromkeys(names, 0)

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

    async def renumber(self):
        """Count from another number on, while no record is here."""
        dut, rng = self.dut, self.rng
        number = rng.choice([0, rng.randrange(100), rng.randrange(1 << 31)])
        dut.renumber.value, dut.last_number.value = 1, number
        await self.step()
        dut.renumber.value, dut.last_number.value = 0, rng.getrandbits(32)
        await self.step()
        self.number = self.limit = number
        self.stood = None
        self.seen["renumbered"] += 1

    def edit(self, node, row):
        """Send an EDIT."""
        self.edits.items.append(edit_of(node, row))

    async def step(self):
        """One clock."""
        dut = self.dut
        self.drive()
        if self.rng.random() < self.grows:
            self.limit = max(self.limit, self.number + self.rng.randint(0, 20))
        dut.limit.value = self.limit
        dut.hold.value = self.hold
        moved = await self.settle()
        self.idle += 1
        edit, item = moved["edit"], moved["o"]
        error, quiet, handed = int(dut.error.value), bool(int(dut.quiet.value)), int(dut.handed.value)
        assert 0 <= handed - self.number <= _ON_THE_WAY
        if self.stood is not None:
            assert handed == self.stood[0] and quiet >= self.stood[1], "a record is handed over that has to wait"
        if item is not None:
            self._check(item)
        assert not (quiet and (self.wanted or self.items.valid)), "a record is on its way"
        if edit is not None:
            assert quiet, "between two records"
            self._edited(edit)
        if error:
            assert error == self.errors.popleft()
        waits, limit = self.told
        self.stood = (handed, quiet) if waits or handed == limit or edit is not None else None
        self.told = self.hold or self.edits.offered or edit is not None, self.limit
        self.seen["held"] += waits and bool(self.walking)
        self.seen["limited"] += handed == limit and bool(self.walking)
        self.idle = 0 if item else self.idle
        assert self.idle < _PATIENCE, "nothing comes any more"
        await RisingEdge(dut.clk)

    def _check(self, item):
        if not self.wanted:
            codes, root, numbered = self.walking.popleft()
            assert self.number < self.limit, "it is beyond the limit"
            self.wanted += self.golden.traverse(codes, root)
            self.number += numbered
            self.seen["given"] += 1
            self.seen["free"] += not numbered
        want = self.wanted.popleft()
        slot = want.pop("slot")
        assert item["slot"]["there"] == (slot != NONE)
        assert slot in (NONE, item["slot"]["slot"])
        assert {name: item[name] for name in want} == want
        self.seen["lost"] += item["lost"]
        self.seen["alternates"] += item["alternate"]

    def _edited(self, edit):
        if refused := self.table.edit(edit["node"], row_of(edit)):
            self.errors.append(refused)
            self.seen["refused"] += 1
        self.seen["edits"] += 1
        unsent = sum(beat["last"] for beat in self.records.items)
        self.seen["anew"] += len(self.walking) > unsent

    def random_row(self):
        """A node and a row of it, mostly one of those that make trees."""
        rng, last = self.rng, self.nodes - 1
        node = rng.randrange(self.nodes)
        kind = rng.choice([0, 0, 1, 1, 2, 3, 4] + [5] * (rng.random() < 0.05))
        child = rng.randint(min(node + 1, last), last) if rng.random() < 0.6 else rng.randrange(self.nodes + 2)
        row = Node(
            kind,
            attribute=rng.randrange(self.attributes + (rng.random() < 0.05)),
            value=rng.randrange(5),
            child=child,
            default=rng.choice([0, 0, 1]) if rng.random() < 0.95 else rng.randrange(256),
            slot=rng.choice([NONE, rng.randrange(self.sizes["slots"] + (rng.random() < 0.05))]),
        )
        return (node if rng.random() < 0.97 else rng.choice([self.nodes, NONE]) if self.nodes < NONE else node), row


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def matches_golden(dut):
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    left, clock = parameters()["records"], 0
    turns = False  # no record is sent, until there is none
    while left or bench.walking or bench.wanted or bench.edits.items:
        if clock % 200 == 0:
            for end in bench.ends.values():
                end.stall = rng.choice([0.0, 0.0, 0.5, 0.9])
            bench.grows = rng.choice([1.0, 0.3, 0.02])
            editing = rng.choice([0.0, 0.02, 0.1, 0.3])
            holding = rng.choice([0.0, 0.0, 0.3])
            deep = rng.random() < 0.3
        clock += 1
        turns = turns or rng.random() < 0.003
        if turns and not (bench.walking or bench.wanted):
            await bench.renumber()
            turns = False
        if left and len(bench.records.items) < 4 and not turns:
            bench.send(root=0 if deep else rng.randrange(bench.nodes), numbered=rng.random() < 0.8)
            left -= 1
        if left and rng.random() < editing and len(bench.edits.items) < 4:
            bench.edit(*bench.random_row())
        if rng.random() < 0.05:
            bench.hold = rng.random() < holding
        await bench.step()
    for _ in range(10):
        await bench.step()
    assert not bench.wanted and not bench.errors
    dut._log.info(f"{bench.seen} in {clock} clocks")
    wanted = set(bench.seen) - (set() if bench.table.alternates else {"alternates"})
    assert all(bench.seen[name] for name in wanted), f"{bench.seen}"


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
    for node, row in _grow(bench.attributes, depth):
        bench.edit(node, row)
    while bench.edits.items:
        await bench.step()
    for _ in range(10):
        await bench.step()


async def _clocks(bench, depths):
    """Clocks until the first of so many records is given, all beats of it included, and per record in the midst."""
    for depth in depths:  # the leaf beside the way, or at its end
        bench.send([0] * (depth - 1) + [254] * (bench.attributes - depth + 1) if depth else [0] * bench.attributes)
    first, clocks, given = bench.number, 0, {}
    while bench.walking:
        await bench.step()
        clocks += 1
        given.setdefault(bench.number - first, clocks)
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
