"""A board that holds trees against the golden model: any commands, edits, blocks and faults."""

import random

import numpy as np
from bregalad.geometry import NONE, PRESETS
from bregalad.protocol.commands import COMMANDS, Opcode, pack_load
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.registers import EVENTS
from bregalad.protocol.reports import ErrorCode, Kind, kind_of, layout_of
from bregalad.protocol.tree import TreeKind

from .latency import GoldenBoard
from .tree_traffic import TreeTraffic

SMALL = PRESETS["tiny"].replace(
    bins=4, classes=3, slots=6, count_width=12, bus_width=64, naive_bayes=True, nodes=21, alternates=3
)
SIZES = [  # others, as changes of that
    {},
    {"naive_bayes": False, "alternates": 0},
    {"lanes": 4, "passes": 3, "bus_width": 32, "nodes": 200, "slots": 40},
    {"lanes": 8, "passes": 1, "bus_width": 256, "classes": 5, "nodes": 64},
]
_MEMORY = 1 << 15
_RESULTS = (TreeKind.LABEL, TreeKind.MARK, TreeKind.ROW)  # what leaf rows tell


class _Reports:
    """What a board tells: reports of leaf rows, and all others, each in order; what is told before an end.

    Parameters
    ----------
    board : Board
    """

    def __init__(self, board):
        self.board = board
        self.cells = 1
        self.received = {}
        self._rest = b""
        self.begin()

    def begin(self):
        """Forget what has been told."""
        self.received = {"results": [], "others": []}
        self.fences = []  # results that have been told before each

    def take(self, wait=False):
        """Sort the reports that there are; or wait for some."""
        self._rest += self.board.receive(wait)
        at = 0
        while at < len(self._rest):
            kind = kind_of(self._rest[at])
            layout = layout_of(kind, self.board.geometry, self.cells)
            if len(self._rest) - at < layout.size:
                break
            self.received["results" if kind in _RESULTS else "others"].append(self._rest[at : at + layout.size])
            if kind in (Kind.FENCE, TreeKind.LEARNT, TreeKind.BLOCK):
                self.fences.append(len(self.received["results"]))
            at += layout.size
        self._rest = self._rest[at:]

    def shown(self, report):
        """A report as text."""
        layout = layout_of(report[0], self.board.geometry, self.cells)
        return f"{kind_of(report[0])!r} {dict(zip(layout.dtype.names, layout.unpack(report).tolist(), strict=True))}"


class Lockstep:
    """A board and the golden model, told the same: whatever they answer must be the same.

    Parameters
    ----------
    geometry : Geometry
    seed : int
    opens : function of (Geometry, memory_size, random.Random)
        The board, not used before.
    """

    def __init__(self, geometry, seed, opens):
        self.geometry, self.rng = geometry, random.Random(seed)
        golden = GoldenBoard(geometry, _MEMORY)
        self.board = opens(geometry, _MEMORY, self.rng)
        self.model, self.memory = golden.model, golden.model.memory
        self.traffic = TreeTraffic(geometry, self.rng, self.memory)
        self.both = [_Reports(golden), _Reports(self.board)]
        self.seen = dict.fromkeys(("blocks", "candidates"), 0)

    def close(self):
        self.board.close()

    def settle(self):
        """Until registers may be written."""

    def send(self, *commands):
        """Send commands to both, and compare what has been told up to now."""
        for each in self.both:
            each.board.send(b"".join(commands))

    def write(self, name, **fields):
        """Write a register of both, when nothing is under way."""
        for each in self.both:
            each.board.write_fields(name, **fields)

    def load(self, start, rows):
        """Put bytes into both memories."""
        for each in self.both:
            each.board.load(start, np.frombuffer(rows, np.uint8))

    def compare(self):
        """Wait until the board has told as much as the golden model."""
        golden, other = self.both
        golden.take()
        while any(len(other.received[source]) < len(wanted) for source, wanted in golden.received.items()):
            other.take(wait=True)
        for source, wanted in golden.received.items():
            for at, (report, each) in enumerate(zip(other.received[source], wanted, strict=False)):
                assert report == each, f"{source} {at}: {other.shown(report)}, not {golden.shown(each)}"
            assert len(other.received[source]) == len(wanted), (
                f"{source}: {other.shown(other.received[source][len(wanted)])}"
            )
        assert other.fences == golden.fences, "a fence, or the end of a block or a LEARN, is told too early"
        self._look_at(golden.received["others"])
        for each in self.both:
            each.begin()

    def _look_at(self, reports):
        kinds = [kind_of(report[0]) for report in reports]
        self.seen["blocks"] += kinds.count(TreeKind.BLOCK)
        self.seen["candidates"] += kinds.count(TreeKind.SPLIT_CANDIDATE)

    def finish(self):
        """Until all that has been sent is done, whatever has gone wrong."""
        self.go_on()
        self.send(self.traffic.fence())
        self.compare()

    def go_on(self):
        """Answer with any changes and GO as long as the board waits for it; RESET where it has halted."""
        rng, traffic, model = self.rng, self.traffic, self.model
        while True:
            self.compare()
            if model.halted:
                self.send(traffic.reset())
            elif model._held:
                self.changes(rng.choice([0, 0, 3]))
                self.send(traffic.go(), *(traffic.fence() for _ in range(rng.random() < 0.1)))
            else:
                break

    # Traffic

    def round(self, learns):
        """A configuration, a tree, some LEARNs, and a look at everything."""
        rng, traffic = self.rng, self.traffic
        self.finish()
        self.settle()
        for name, fields in traffic.configuration():
            self.write(name, **fields)
        for each in self.both:
            each.cells = traffic.cells
        self.send(traffic.declare(), *(traffic.node(slot) for slot in range(self.geometry.slots)))
        self.send(*(traffic.edit(node, traffic.row(node)) for node in reversed(range(self.geometry.nodes))))
        self.changes(20)
        for _ in range(learns):
            if rng.random() < 0.3:
                self.send(traffic.turn())
            self.learn()
            self.changes(rng.choice([0, 3, 10]))
            if rng.random() < 0.3:
                self.finish()
                self.send(traffic.edges())
        self.look()

    def learn(self):
        """LEARN, with commands behind it that wait for its end or for GO, or are refused then."""
        rng, traffic = self.rng, self.traffic
        command, words, start, rows = traffic.learn()
        self.finish()
        if rng.random() < 0.5:
            self.send(pack_load(self.geometry, start, rows))
            self.finish()
        else:
            self.load(start, rows)
        faults = {}
        if words and rng.random() < 0.1:  # one of these words of memory is not answered
            faults = {rng.choice(words): rng.choice([ErrorCode.SLAVE, ErrorCode.DECODE])}
        self.memory.faults = self.board.faults = faults
        fails = bool(faults) or int(COMMANDS[Opcode.LEARN].unpack(command)["address"]) != start
        self.send(command, *(self.load_beside(words, fails) for _ in range(rng.choice([0, 0, 1, 3]))))
        if rng.random() < 0.3:
            self.changes(rng.choice([1, 5]))
        if rng.random() < 0.1:
            self.send(traffic.turn(), traffic.edges(), traffic.fence())
        self.finish()
        self.memory.faults = self.board.faults = {}

    def load_beside(self, words, fails):
        """A LOAD of bytes that are no row of the LEARN under way, or one that is refused.

        Where that LEARN may fail, the LOAD may be dropped, and brings what is there.
        """
        g, rng = self.geometry, self.rng
        first, last = (words[0], words[-1] + g.bus_bytes) if words else (0, 0)
        size = len(self.memory.data)
        begin, end = rng.choice([(0, first), (last, size), (last, size), (size, size + 100)])
        count = min(end - begin, rng.randint(0, 300))
        at = rng.randrange(begin, end - count + 1)
        data = self.memory.data[at : at + count] if fails else rng.randbytes(count)
        return pack_load(g, at, data)

    def changes(self, count):
        """Any commands but LEARN, some of them refused."""
        rng, traffic = self.rng, self.traffic
        for _ in range(count):
            kind = rng.random()
            if kind < 0.2:
                self.send(*(traffic.access() for _ in range(rng.choice([1, 1, 6]))))
                if not self.model._held and rng.random() < 0.5:
                    self.send(traffic.fence())
            elif kind < 0.3:
                self.send(traffic.refusal())
            elif kind < 0.5:
                node = rng.randrange(self.geometry.nodes)
                self.send(traffic.edit(node, traffic.row(node)))
            else:
                self.send(traffic.slot_command())

    def look(self):
        """READ everything."""
        g, traffic = self.geometry, self.traffic
        self.finish()
        cells = (NONE, *range(g.max_cells))
        self.send(*(traffic.read(slot, cell) for slot in range(g.slots) for cell in cells))
        for node in range(g.nodes):
            self.send(*(traffic.row_command(RowOp.READ, node, word) for word in range(len(RowWord) + g.classes)))
        self.send(traffic.row_command(RowOp.MARK))
        self.finish()
        golden, other = ({name: each.board.read_register(name) for name in EVENTS} for each in self.both)
        differs = {name: (other[name], golden[name]) for name in golden if other[name] != golden[name]}
        assert not differs, differs


def run(geometry, seed, rounds, opens, learns=8, kind=Lockstep):
    """So many configurations of so many LEARNs each; what has been seen."""
    both = kind(geometry, seed, opens)
    for _ in range(rounds):
        both.round(learns)
    both.close()
    return both.seen
