"""What `bench_front` sends: layouts, edges and rows, edits of the node table, accesses to leaf rows."""

import random
from collections import deque
from dataclasses import dataclass

import numpy as np
from amaranth.hdl import unsigned
from bregalad.data.keys import edge_keys
from bregalad.geometry import NONE
from bregalad.protocol.commands import RecordFlag
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.nodes import EDIT, Node
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
from bregalad_hw.front.front import access_layout
from bregalad_hw.layout import struct

from ..bits import unpack
from ..golden import GoldenQuantiser
from ..golden.walker import NodeTable
from ..rows import any_edges, any_layout, any_rows
from ..streams import Source

__all__ = ["FrontTraffic", "Record"]


@dataclass
class Record:
    """What the golden quantiser makes of a row."""

    beats: list  # of each, its codes
    label: int
    flags: int
    root: int  # the node that it begins at


class FrontTraffic:
    """Queue commands, words, edits and accesses for a front, and the records that it is to make of them.

    Parameters
    ----------
    dut : cocotb handle
    geometry : Geometry
    steps : int
        Places in the quantiser's table of them.
    seed : int

    Members
    -------
    commands, words, edits, accesses : Source
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

    def __init__(self, dut, geometry, steps, seed):
        self.dut = dut
        self.rng = rng = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.geometry = g = geometry
        # A host that knows no better sends numbers to a board without searchers, too.
        self.host = g if g.searchers else g.replace(searchers=1)
        self.steps = steps
        self.table = NodeTable(g.nodes, g.max_cells, g.slots, g.alternates)
        self.quantiser = GoldenQuantiser(g)
        self.commands = Source(dut, "command", struct(ROW_COMMAND), rng)
        self.words = Source(dut, "i", unsigned(g.bus_width), rng)
        self.edits = Source(dut, "edit", struct(EDIT), rng)
        self.accesses = Source(dut, "row", access_layout(), rng)
        self.coming = deque()
        self.columns = g.max_cells
        self.root = 0
        self.weighs = True
        self.abort = False
        self.changes = deque()
        self.wanted_bad = 0

    def send(self, command, words=None):
        """A command, and what follows it, or the first words of that."""
        size = self.geometry.bus_bytes
        self.commands.items.append(unpack(struct(ROW_COMMAND), int.from_bytes(command.head, "little")))
        payload = command.payload
        payload = [int.from_bytes(payload[at : at + size], "little") for at in range(0, len(payload), size)]
        self.words.items += payload[:words]

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
        commands = [layout.command(self.host, self.steps)]
        commands += [self.edges(at) for at, column in enumerate(layout.columns) if column.kind is not RowKind.CODE]
        for command in commands:
            self.quantiser.execute(*command)
            self.send(command)

    def edges(self, index):
        """A command with edges of a column, which holds numbers."""
        kind = self.layout.columns[index].kind
        return edges_command(self.host, index, edge_keys(any_edges(kind, self.numbers), kind))

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
        kind = rng.choice([0, 0, 1, 1, 2, 3, 4])
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
        op = rng.choice([RowOp.READ, RowOp.WRITE, RowOp.MARK, RowOp.TALLY, rng.choice([RowOp.RECORD, 5, 255])])
        most = (g.nodes, len(RowWord) + g.classes) if op in (RowOp.READ, RowOp.WRITE) else (g.classes, g.classes)
        node, word = (rng.randrange(size + (rng.random() < 0.1)) for size in most)
        if op == RowOp.WRITE and word != RowWord.ARRIVALS:
            word = RowWord.ERRORS  # others have to fit each other
        self.accesses.items.append({"op": int(op), "node": node, "word": word, "value": rng.getrandbits(32)})
