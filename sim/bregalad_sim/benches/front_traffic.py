"""What the benches of quantiser and front send: layouts, edges and rows; edits of nodes, accesses to leaf rows."""

from collections import deque
from dataclasses import dataclass

import cocotb
import numpy as np
from bregalad.data.keys import edge_keys
from bregalad.geometry import NONE
from bregalad.protocol.commands import RecordFlag
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.rows import (
    MOST_WEIGHT,
    ROW_COMMAND,
    Column,
    RowKind,
    RowLayout,
    edges_command,
    records_command,
    weighed,
)
from bregalad_hw.layout import struct

from ..bits import unpack, words_of
from ..golden import GoldenQuantiser
from ..golden.node import Node
from ..golden.walker import NodeTable
from ..rows import any_edges, any_layout, any_rows
from ..streams import BlockBench


@dataclass
class Record:
    """What the golden quantiser makes of a row."""

    beats: list  # of each, its codes
    label: int
    flags: int
    root: int  # the node that it begins at


class RowTraffic(BlockBench):
    """Queue commands and words for a quantiser.

    Parameters
    ----------
    dut, block
        As of `BlockBench`.
    geometry : Geometry
    steps : int
        Places in the quantiser's table of them.

    Members
    -------
    numbers : numpy.random.Generator
    commands, words : Source
    """

    def __init__(self, dut, block, geometry, steps):
        super().__init__(dut, block)
        self.numbers = np.random.default_rng(cocotb.RANDOM_SEED)
        self.geometry, self.steps = geometry, steps
        # A host that knows no better sends numbers to a board without searchers, too.
        self.host = geometry if geometry.searchers else geometry.replace(searchers=1)
        self.commands, self.words = self.ends["command"], self.ends["i"]

    def send(self, command, words=None):
        """A command, and what follows it, or the first words of that."""
        assert len(command.payload) % self.geometry.bus_bytes == 0
        self.commands.items.append(unpack(struct(ROW_COMMAND), int.from_bytes(command.head, "little")))
        self.words.items += words_of(command.payload, self.geometry.bus_bytes)[:words]

    def edges(self, layout, index):
        """A command with edges of a column, which holds numbers."""
        kind = layout.columns[index].kind
        return edges_command(self.host, index, edge_keys(any_edges(kind, self.numbers), kind))

    def declared(self, layout):
        """Commands with a layout and edges of all its numbers, and the columns of these."""
        numbers = [at for at, column in enumerate(layout.columns) if column.kind is not RowKind.CODE]
        return [layout.command(self.host, self.steps), *(self.edges(layout, at) for at in numbers)], numbers


class FrontTraffic(RowTraffic):
    """Queue commands, words, edits and accesses for a front, and the records that it is to make of them.

    Parameters as of `RowTraffic`.

    Members
    -------
    edits, accesses : Source
    table : NodeTable
        The golden one. Rows that test what a new layout does not have are to be changed.
    layout : RowLayout
        Of rows from now on, once there is one.
    coming : deque of Record
        Those that are not handed over yet.
    changes : deque of (int, Node)
        Edits to be made: a node, and its row.
    root : int
        The node that records begin at.
    weighs : bool
        Whether not every record weighs 1.
    abort : bool
        Whether the words have ended before the rows.
    wanted_bad : int
        Records so far whose class is none of the geometry's.
    """

    def __init__(self, dut, block, geometry, steps):
        super().__init__(dut, block, geometry, steps)
        g = geometry
        self.table = NodeTable(g.nodes, g.max_cells, g.slots, g.alternates)
        self.quantiser = GoldenQuantiser(g)
        self.edits, self.accesses = self.ends["edit"], self.ends["row"]
        self.coming = deque()
        self.columns = g.max_cells
        self.root = 0
        self.weighs = True
        self.abort = False
        self.changes = deque()
        self.wanted_bad = 0

    def begin(self):
        """A new layout, and edges of all its numbers."""
        layout = any_layout(self.geometry, self.numbers)
        if not self.geometry.searchers and self.rng.random() < 0.7:
            columns = [Column(column.name, column.offset, RowKind.CODE) for column in layout.columns]
            layout = RowLayout(columns, layout.stride, label=layout.label, flags=layout.flags)
        self.begin_with(layout)

    def begin_with(self, layout):
        """This layout, and edges of all its numbers."""
        self.layout = layout
        self.columns = len(layout.columns)
        for node, row in enumerate(self.table.rows):
            if row.attribute >= self.columns:
                self.changes.append((node, Node(slot=row.slot)))
        for command in self.declared(layout)[0]:
            self.quantiser.execute(*command)
            self.send(command)

    def learn(self, count, cut=False):
        """So many rows; with ``cut`` only some of their words come."""
        rng, g, layout = self.rng, self.geometry, self.layout
        rows = bytearray(any_rows(layout, self.numbers, count))
        for at in range(0, len(rows), layout.stride):
            if layout.label is not None:
                rows[at + layout.label] = rng.choice([0, rng.randrange(g.classes)] * 5 + [g.classes, 255])
            if layout.flags is not None:
                rows[at + layout.flags] = self.any_flags()
        offset = rng.choice([0, rng.randrange(g.bus_bytes)])
        command = records_command(g, layout, bytes(rows), offset=offset, flags=self.any_flags())
        words, whole = None, count
        if cut:
            words = rng.randrange(len(command.payload) // g.bus_bytes)
            used = max(column.end for column in layout.columns)
            used = max(used, *(at + 1 for at in (layout.label, layout.flags) if at is not None), 0)
            whole = max(0, (words * g.bus_bytes - offset - used) // layout.stride + 1)
        beats = self.quantiser.execute(*command)
        per_row = len(beats) // max(count, 1)
        for at in range(min(whole, count)):
            mine = beats[at * per_row : (at + 1) * per_row]
            record = Record([beat.codes for beat in mine], mine[-1].label, mine[-1].flags, self.root)
            self.coming.append(record)
            self.wanted_bad += record.label >= g.classes
        self.abort = cut
        self.send(command, words)

    def any_flags(self):
        """Flags of a record, its weight among them."""
        rng = self.rng
        flags = rng.choice([0, 0, 0, 0, RecordFlag.TEST, RecordFlag.MINUS, RecordFlag.TEST | RecordFlag.MINUS])
        weight = rng.choice([1, 1, 1, 0, 2, rng.randint(0, MOST_WEIGHT)]) if self.weighs else 1
        return int(flags) | int(weighed(np.array(weight)))

    def random_row(self):
        """A node, and a row for it."""
        rng, last = self.rng, self.geometry.nodes - 1
        node = rng.randrange(last + 1)
        kind = rng.choice([0, 0, 1, 1, 2, 3, *[4] * (8 if self.geometry.alternates else 1)])  # forks lead to alternates
        return node, Node(
            kind,
            attribute=rng.randrange(self.columns),
            value=rng.choice([1, 2, 3, 100]) if kind != 2 else rng.randrange(1, 4),
            child=rng.randint(min(node + 1, last), last),
            default=0,
            slot=rng.choice([NONE, rng.randrange(self.geometry.slots)]),
        )

    def access(self):
        """A ROW command, sometimes one that cannot be."""
        rng, g = self.rng, self.geometry
        op = rng.choice([RowOp.READ, RowOp.WRITE, RowOp.MARK, rng.choice([RowOp.RECORD, 4, 255])])
        most = (g.nodes, len(RowWord) + g.classes) if op in (RowOp.READ, RowOp.WRITE) else (g.classes, g.classes)
        node, word = (rng.randrange(size + (rng.random() < 0.1)) for size in most)
        if op == RowOp.WRITE:
            word = RowWord.RIGHT  # others have to fit each other
        self.accesses.items.append({"op": int(op), "node": node, "word": word, "value": rng.getrandbits(32)})
