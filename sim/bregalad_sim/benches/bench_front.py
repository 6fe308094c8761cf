"""Front against the golden quantiser, walker and leaf rows, one after the other; stalls on all sides."""

from collections import deque

import cocotb
from bregalad.geometry import NONE, Geometry
from bregalad.predictors import Predictor
from bregalad.protocol.commands import RecordFlag
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.rows import Column, RowKind, RowLayout, weight_of
from bregalad_hw.front.front import Front
from bregalad_hw.front.store import RecordStore
from cocotb.triggers import RisingEdge

from bregalad_sim.benches.edits import edit_of, row_of
from bregalad_sim.benches.front_traffic import FrontTraffic, Record
from bregalad_sim.benches.leaf_rows import configure, shown
from bregalad_sim.golden.leaf_rows import LeafRows
from bregalad_sim.golden.walker import Walker
from bregalad_sim.runner import parameters
from bregalad_sim.streams import Sink

from ..golden.node import Node

_PATIENCE = 5000  # clocks in which nothing moves


class Bench(FrontTraffic):
    def __init__(self, dut):
        given = parameters()
        g, steps = Geometry(**given["geometry"]), given["steps"]
        super().__init__(dut, Front(g, steps=steps), g, steps)
        self.walker, self.rows = Walker(self.table), LeafRows(g, g.nodes)
        self.headers, self.bayes = self.ends["header"], self.ends.get("bayes")
        self.sources = [end for end in self.ends.values() if not isinstance(end, Sink)]
        self.kept = deque()  # records that are handed over, whose codes are not freed
        self.want, self.told = deque(), deque()  # results
        self.items = deque()  # of the record that is being handed over
        self.asked = deque()  # (clock, codes)
        self.number = 0  # of the last numbered record that was given
        self.errors = deque()
        self.order = None  # beats of the oldest record that are still to be read
        self.limit, self.grows, self.frees = 0, 1.0, 1.0
        self.clock = self.still = 0
        self.bad = self.good = self.wanted_good = 0
        self.seen = dict.fromkeys(
            ("records", "void", "limited", "edits", "accesses", "refused", "bad", "alternates"), 0
        )

    def configure(self):
        self.grows = self.rng.choice([1.0, 0.3, 0.05])
        configure(self, self.rows)

    # One clock

    async def step(self):
        dut = self.dut
        self._drive()
        reads = self._read()
        moved = await self.settle()
        header, result = moved["header"], moved["result"]
        if header is not None:
            self._header(header)
        if result is not None:
            self._result(result)
        refused = False
        if (access := moved["row"]) is not None:
            refused = self._access(access)
        assert int(dut.refused.value) == refused
        quiet = bool(int(dut.quiet.value))
        if moved["edit"] is not None:
            self._edited(moved["edit"])
        if error := int(dut.error.value):
            assert error == self.errors.popleft()
        if quiet:
            assert not self.headers.valid and (access or not self.want), "something is to be told"
        handed = int(dut.handed.value)
        assert 0 <= handed - self.number <= 8
        self.seen["limited"] += handed == self.limit and bool(self.coming)
        if self.changes and quiet and (handed == self.limit or not self.coming) and not self.edits.items:
            self._edit()
        self.bad += int(dut.bad.value)
        self.good += int(dut.good.value)
        busy = bool(int(dut.busy.value))
        assert busy or not self.kept, "a record is still here"
        left = any(end.items for end in self.sources) or self.changes or self.asked
        self.is_idle = not (busy or left or self.abort)
        if self.abort and not (busy or self.commands.items or moved["command"]):
            assert not self.coming
            self.abort = False
        if self.asked and self.asked[0][0] == self.clock:
            assert self.read("codes") == self.asked.popleft()[1]
        self.still = 0 if reads or any(item is not None for item in moved.values()) else self.still + 1
        assert self.still < _PATIENCE, "nothing moves any more"
        await RisingEdge(dut.clk)
        self.clock += 1
        return header is not None

    def _drive(self):
        dut, rng = self.dut, self.rng
        self.drive()
        if rng.random() < self.grows and not (self.changes or self.edits.items):  # edits come between two blocks
            self.limit = max(self.limit, self.number + rng.randint(0, 8))
        dut.limit.value = self.limit
        dut.root.value = self.root
        dut.abort.value = self.abort and not (self.commands.items or self.words.items)

    def _read(self):
        """As the tracker: read beats of the oldest record, then free it."""
        dut, rng = self.dut, self.rng
        dut.read_at.value = rng.randrange(self.geometry.passes)
        dut.free.value = 0
        if not self.kept or rng.random() >= self.frees:
            return False
        if self.order is None:
            beats = list(enumerate(self.kept[0].beats))
            self.order = rng.sample(beats, rng.choice([len(beats), 0]))
        if self.order:
            at, codes = self.order.pop()
            dut.read_at.value = at
            self.asked.append((self.clock + RecordStore.latency, codes))
        if not self.order:
            dut.free.value = 1
            self.kept.popleft()
            self.order = None
        return True

    def _edit(self):
        """Send an EDIT."""
        self.edits.items.append(edit_of(*self.changes.popleft()))

    # What comes

    def _numbered(self, record):
        return record.label < self.geometry.classes and not record.flags & (RecordFlag.TEST | RecordFlag.MINUS)

    def _header(self, header):
        g = self.geometry
        if not self.coming:
            assert self.abort and header["test"] and not (header["there"] or header["minus"]), "no record"
            if not header.get("follows"):  # it goes down alternates, too
                self.kept.append(Record([], 0, 0, 0))
                self.seen["void"] += 1
            return
        record = self.coming[0]
        known, numbered = record.label < g.classes, self._numbered(record)
        test, minus = bool(record.flags & RecordFlag.TEST), bool(record.flags & RecordFlag.MINUS)
        if not self.items:
            self.items += self.walker.traverse(_codes(record), record.root)
            assert not numbered or self.number < self.limit
            self.number += numbered
        item = self.items.popleft()
        there = known and item["slot"] != NONE
        weight = weight_of(record.flags) if numbered else 1
        want = {"there": there, "test": test or not known, "minus": minus and known, "weight": weight}
        want |= {"alternate": item["alternate"], "follows": not item["last"]} if g.alternates else {}
        want |= {"slot": item["slot"]} if there else {}
        want |= {"label": record.label} if known else {}
        assert {name: header[name] for name in want} == want
        if item["last"]:
            self.kept.append(self.coming.popleft())
        self.wanted_good += not want["test"]
        self.seen["records"] += 1
        self.seen["alternates"] += item["alternate"]
        self.seen["bad"] += not known
        bayes = None
        if g.naive_bayes and there and self.rows.by != Predictor.MAJORITY:
            said = {"label": self.rng.randrange(g.classes), "known": self.rng.random() < 0.8}
            self.bayes.items.append(said)
            bayes = said["label"] if said["known"] else None
        if known and not minus:
            how = {"test": test, "alternate": item["alternate"], "bayes": bayes, "weight": weight}
            self._wants(self.rows.record(item["node"], record.label, **how))

    def _access(self, access):
        """Whether a ROW command is refused."""
        g, rows = self.geometry, self.rows
        op, node, word, value = (access[name] for name in ("op", "node", "word", "value"))
        self.seen["accesses"] += 1
        if op in (RowOp.READ, RowOp.WRITE) and node < g.nodes and word < len(RowWord) + g.classes:
            self._wants(rows.read(node, word) if op == RowOp.READ else rows.write(node, word, value))
        elif op == RowOp.MARK:
            self._wants(rows.mark())
        else:
            self.seen["refused"] += 1
            return True
        return False

    def _wants(self, result):
        if result is not None:
            self.want.append(shown(vars(result)))
            self._compare()

    def _result(self, result):
        self.told.append(shown(result))
        self._compare()

    def _compare(self):
        """A result may come before its record's header is taken, or long after."""
        while self.want and self.told:
            assert self.told.popleft() == self.want.popleft()

    def _edited(self, edit):
        assert not self.headers.valid
        if refused := self.table.edit(edit["node"], row_of(edit)):
            self.errors.append(refused)
        self.seen["edits"] += 1

    async def run(self, events=0.0):
        """Until nothing is left; meanwhile this often an edit or an access."""
        rng = self.rng
        at = 0
        while True:
            if events and self.clock % 150 == 0:
                for end in self.ends.values():
                    end.stall = rng.choice([0.0, 0.0, 0.5, 0.9])
                self.grows, self.frees = rng.choice([1.0, 0.3, 0.05]), rng.choice([1.0, 0.5, 0.1])
            if rng.random() < events and not (self.changes or self.edits.items):
                self.changes += [self.random_row() for _ in range(rng.choice([1, 1, 3]))]
            if rng.random() < events and len(self.accesses.items) < 3:
                self.access()
            await self.step()
            at = at + 1 if self.is_idle else 0
            if at > 8:  # errors are known by then, too
                break
        assert not (self.coming or self.kept or self.want or self.told or self.errors)
        assert (self.bad, self.good) == (self.wanted_bad, self.wanted_good)
        assert int(self.dut.handed.value) == self.number


def _codes(record):
    return [code for beat in record.beats for code in beat]


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def matches_golden(dut):
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    for _ in range(parameters()["rounds"]):
        bench.configure()
        bench.begin()
        await bench.run()
        for _ in range(rng.randint(1, 3)):
            bench.root = rng.randrange(bench.geometry.nodes)
            for _ in range(rng.randint(1, 3)):
                bench.learn(rng.choice([0, 1, rng.randint(2, 60)]))
                numbers = [at for at, column in enumerate(bench.layout.columns) if column.kind is not RowKind.CODE]
                if numbers and rng.random() < 0.5:
                    command = bench.edges(bench.layout, rng.choice(numbers))
                    bench.quantiser.execute(*command)
                    bench.send(command)
            if rng.random() < 0.6:
                bench.learn(rng.randint(1, 20), cut=True)
            await bench.run(rng.choice([0.0, 0.01, 0.05]))
    dut._log.info(f"{bench.seen} in {bench.clock} clocks")
    wanted = set(bench.seen) - (set() if bench.geometry.alternates else {"alternates"})
    assert all(bench.seen[name] for name in wanted), f"{bench.seen}"


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def rate(dut):
    """A record per clock, where they are a beat each and rings suffice; or as many as the rings make steps for."""
    bench = Bench(dut)
    g, given = bench.geometry, parameters()
    bench.weighs = False
    await bench.start()
    columns = [Column(f"a{at}", 2 + at, RowKind.CODE) for at in range(g.max_cells)]
    bench.begin_with(RowLayout(columns, label=0, flags=1, stride=g.bus_bytes * -(-(g.max_cells + 2) // g.bus_bytes)))
    depth = 2
    for node in range(2**depth - 1):
        row = Node(1, attribute=node, value=128, child=2 * node + 1)
        bench.changes.append((node, row))
    await bench.run()
    bench.limit = 1 << 30
    count = 400
    bench.learn(count)
    clocks = []
    while len(clocks) < count:
        if await bench.step():
            clocks.append(bench.clock)
    await bench.run()
    per_record = (clocks[count * 3 // 4] - clocks[count // 4]) / (count * 3 // 4 - count // 4)
    dut._log.info(f"{per_record:.3f} clocks per record, the first after {clocks[0]}")
    steps = (depth + 1) / given["walkers"]
    assert per_record <= max(1, bench.layout.clocks(g), steps) * 1.02
