"""A board that holds trees against the golden model: any commands, edits, locks and faults."""

import random

import numpy as np
from bregalad.geometry import NONE, Geometry
from bregalad.protocol.commands import pack_load
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.registers import EVENTS
from bregalad.protocol.reports import ErrorCode

from .latency import GoldenBoard
from .tree_traffic import NEVER, TreeHost, TreeTraffic

__all__ = ["SIZES", "SMALL", "Lockstep", "run"]

SMALL = Geometry(
    lanes=2, passes=2, bins=4, classes=3, slots=6, count_width=12, bus_width=64, naive_bayes=True, nodes=21
)
SIZES = [  # others, as changes of that
    {},
    {"naive_bayes": False},
    {"lanes": 4, "passes": 3, "bus_width": 32, "nodes": 200, "slots": 16},
    {"lanes": 8, "passes": 1, "bus_width": 256, "classes": 5, "banks": 2, "nodes": 64},
    {"naive_bayes": False, "slots": 8, "levels": 4, "banks": 2},
]
_MEMORY = 1 << 15


class Lockstep:
    """A board and the golden model, told the same: whatever they answer must be the same.

    Parameters
    ----------
    geometry : Geometry
        With ``nodes``.
    seed : int
    opens : function of (Geometry, memory_size, random.Random)
        The board, not used before.
    """

    def __init__(self, geometry, seed, opens):
        self.geometry, self.rng = geometry, random.Random(seed)
        golden = GoldenBoard(geometry, _MEMORY)
        self.board = opens(geometry, _MEMORY, self.rng)
        self.memory = golden.model.memory
        self.traffic = TreeTraffic(geometry, self.rng, self.memory)
        self.hosts = [TreeHost(board, random.Random(seed + 1), self.traffic) for board in (golden, self.board)]

    def close(self):
        self.board.close()

    def settle(self):
        """Until registers may be written."""

    # Both

    def begin(self):
        for host in self.hosts:
            host.begin()

    def send(self, commands, edits=0):
        for host in self.hosts:
            host.send(commands, edits)

    def wait(self, jobs):
        for host in self.hosts:
            host.wait(jobs)
        self.compare()

    def stop(self):
        """Until both stand or have ended: whether they have ended."""
        ended, found = (host.stop() for host in self.hosts)
        self.compare()
        assert ended == found
        assert ended or self.hosts[0].number == self.hosts[1].number
        return ended

    def compare(self):
        golden, other = self.hosts
        for source, wanted in golden.told.items():
            found = other.told[source]
            at = next((i for i, pair in enumerate(zip(found, wanted, strict=False)) if pair[0] != pair[1]), None)
            assert found == wanted, (
                f"{source}: {len(found)} reports of {len(wanted)}"
                if at is None
                else f"{source} {at}: {other.shown(found[at])}, not {golden.shown(wanted[at])}"
            )
        assert other.open == golden.open

    # Traffic

    def round(self, learns):
        """A configuration, a tree, some LEARNs, and a look at everything."""
        rng, traffic = self.rng, self.traffic
        self.settle()
        for name, fields in traffic.configuration():
            for host in self.hosts:
                host.board.write_fields(name, **fields)
        keeps = rng.choice([0, 0, 0.5, 0.9, 1])
        keepers = {node for node in range(self.geometry.nodes) if rng.random() < keeps}
        for host in self.hosts:
            host.keepers, host.cells = keepers, traffic.cells
        self.begin()
        self.send(traffic.declare())
        self.send(b"".join(traffic.node(slot) for slot in range(self.geometry.slots) if rng.random() < 0.8))
        self.changes(20)
        self.edits([(node, traffic.row(node)) for node in reversed(range(self.geometry.nodes))])
        for _ in range(learns):
            if traffic.delay == NEVER and rng.random() < 0.5:
                self.learn_on()
            else:
                self.learn()
            if rng.random() < 0.3:
                self.turn()
            self.changes(rng.choice([0, 3, 10]))
            if rng.random() < 0.3:
                self.send(traffic.edges())
            if rng.random() < 0.3:
                self.turn()
        self.look()

    def learn(self):
        rng, traffic = self.rng, self.traffic
        command, words, start, rows = traffic.learn()
        if rng.random() < 0.5:
            self.send(pack_load(self.geometry, start, rows))
            self.finish()
        else:
            for host in self.hosts:
                host.board.load(start, np.frombuffer(rows, np.uint8))
        self.fetch(words)
        self.begin()
        self.send(command)
        while not self.stop():
            self.changes(rng.choice([0, 0, 3]), stands=True)
        self.fetch([])
        self.finish()

    def turn(self):
        """Another tree's turn, whatever is still to come of the one before: locks, the rest of a change."""
        rng, traffic, g = self.rng, self.traffic, self.geometry
        self.begin()
        room = g.slots - len(self.hosts[0].open)  # more locks of TRIALs than slots would be lost
        for _ in range(min(rng.choice([0, 1, 3]), room)):
            self.send(traffic.trial(rng.randrange(g.slots)))
        self.finish()
        if rng.random() < 0.2:
            self.send(traffic.edit(rng.randrange(g.nodes), None, more=True), 1)
        if rng.random() < 0.5:
            traffic.stops = rng.random() < 0.5
        self.send_turn()

    def send_turn(self):
        """TURN; nodes that it finds locked, or whose time has come, stay locked."""
        command, number = self.traffic.turn()
        self.send(command)
        locked = sorted(self.hosts[0].board.model.table.locked)
        for host in self.hosts:
            host.turn(number, locked)

    def learn_on(self):
        """Commands that wait for each other, with nothing that could lock a node."""
        traffic, golden = self.traffic, self.hosts[0]
        first, words, start, rows = traffic.learn()
        self.send(pack_load(self.geometry, start, rows))
        self.finish()
        self.fetch(words)
        second, _, start, rows = traffic.learn()
        loads = pack_load(self.geometry, start, rows)
        self.begin()
        self.send(first + traffic.edges())
        if self.rng.random() < 0.5:
            self.send_turn()
        self.send(b"".join([loads, second, traffic.fence(), traffic.reset(), traffic.fence()]))
        golden.pull()
        self.wait(len(golden.told["jobs"]))
        for host in self.hosts:
            host.mend()
        self.compare()
        self.fetch([])

    def finish(self):
        """Until all that has been sent is done."""
        self.begin()
        self.send(self.traffic.fence())
        self.wait(1)

    def fetch(self, words):
        """Now and then, one of these words of memory is not answered; all others are."""
        faults = {}
        if words and self.rng.random() < 0.1:
            faults = {self.rng.choice(words): self.rng.choice([ErrorCode.SLAVE, ErrorCode.DECODE])}
        self.memory.faults = self.board.faults = faults

    def changes(self, count, stands=False):
        """Commands, while records stand or there are none; then answers to proposals, or to the earliest."""
        rng, traffic = self.rng, self.traffic
        self.begin()
        answers, sooner = 0, False
        for _ in range(count):
            kind = rng.random()
            if kind < 0.2:
                self.send(traffic.access())
            elif kind < 0.3:
                self.send(traffic.refusal(stands))
                answers += 1
            else:
                command, answered, trials = traffic.slot_command()
                self.send(command)
                answers += answered
                sooner |= trials
        self.send(traffic.read(rng.randrange(self.geometry.slots)))
        self.wait(answers + 1)
        traffic.tried.clear()
        self.begin()
        host = self.hosts[0]
        due = [node for node, number in host.open if number + traffic.delay <= host.number]
        nodes = list(dict.fromkeys(node for node, _ in host.open)) if sooner or not stands else due[:1]
        assert nodes or not stands, "the stream stands for nothing"
        changes = [(node, rng.choice([None, traffic.row(node)])) for node in nodes]
        others = [(node, traffic.row(node)) for node in rng.choices(range(self.geometry.nodes), k=rng.choice([0, 2]))]
        if rng.random() < 0.3:
            traffic.stops = rng.random() < 0.4
        self.edits([*others, *changes] or [(0, None)], stands)

    def edits(self, changes, stands=False):
        """All between two records; where they stand, now and then with what is refused in between."""
        commands = [
            self.traffic.edit(node, row, more=place + 1 < len(changes)) for place, (node, row) in enumerate(changes)
        ]
        if stands and len(commands) > 1 and self.rng.random() < 0.5:
            commands.insert(1, self.traffic.fence() + self.traffic.reset())
        self.send(b"".join(commands), len(changes))
        nodes = {node for node, _ in changes}
        for host in self.hosts:
            host.open = [each for each in host.open if each[0] not in nodes]

    def look(self):
        """READ everything."""
        g, traffic = self.geometry, self.traffic
        self.begin()
        cells = (NONE, *range(g.max_cells))
        self.send(b"".join(traffic.read(slot, cell) for slot in range(g.slots) for cell in cells))
        for node in range(g.nodes):
            for word in range(len(RowWord) + g.classes):
                self.send(traffic.row_command(RowOp.READ, node, word))
        for label in range(g.classes):
            for predicted in range(g.classes):
                self.send(traffic.row_command(RowOp.TALLY, label, predicted))
        self.send(traffic.row_command(RowOp.MARK))
        self.send(traffic.fence())
        self.wait(g.slots * len(cells) + 1)
        golden, other = ({name: host.board.read_register(name) for name in EVENTS} for host in self.hosts)
        differs = {name: (other[name], golden[name]) for name in golden if other[name] != golden[name]}
        assert not differs, differs


def run(geometry, seed, rounds, opens, learns=8, kind=Lockstep):
    """So many configurations of so many LEARNs each."""
    both = kind(geometry, seed, opens)
    for _ in range(rounds):
        both.round(learns)
    both.close()
