"""Random command streams for boards that hold trees."""

import numpy as np
from bregalad.data.keys import edge_keys
from bregalad.geometry import NONE
from bregalad.protocol.commands import CommandFlag, Opcode, RecordFlag, padded
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.nodes import Node, NodeKind, pack_edit
from bregalad.protocol.rows import MOST_WEIGHT, ROW_COMMAND, RowKind, edges_command, weighed
from bregalad.protocol.tree import MANY, TreeOpcode, pack_tree

from .rows import any_edges, any_layout, any_rows
from .traffic import Traffic

__all__ = ["TreeTraffic"]


class TreeTraffic(Traffic):
    """Make configurations, commands and rows.

    Parameters
    ----------
    geometry : Geometry
        With ``nodes``.
    rng : random.Random
    memory : sim.golden.Memory
        Rows are made for its size.
    """

    def __init__(self, geometry, rng, memory):
        super().__init__(geometry, rng, memory)
        self.numbers = np.random.default_rng(rng.getrandbits(32))
        self._layout = None

    # Configuration

    def configuration(self):
        """Register writes, those of `Traffic` among them."""
        g, rng = self.geometry, self.rng
        judge = {name: rng.randint(0, 1) for name in ("anytime", "inner_ties", "null", "asks_inner")}
        return [
            *super().configuration(),
            ("report", {"all": int(rng.random() < 0.2), "neighbours": rng.randint(0, 1)}),
            (
                "block",
                {
                    "margin": rng.choice([0, 1, rng.randint(2, 30)]),
                    "at_once": rng.randint(0, 1),
                    "waits": int(rng.random() < 0.3),
                },
            ),
            ("every", {"records": rng.choice([0, 0, 1, rng.randint(2, 50)])}),
            ("leaf_predictor", {"by": rng.randint(0, 2 * g.naive_bayes), "told": rng.randint(0, 1)}),
            ("leaf_marks", {"every": rng.choice([0, 1, rng.randint(2, 40)])}),
            ("judge", {"decides": int(rng.random() < 0.8), "first_trial": int(rng.random() < 0.2), **judge}),
            (
                "judge_bound",
                {
                    "mantissa": rng.randrange(1 << 15, 1 << 16),
                    "exponent": rng.choice([0x80, *(rng.randint(-4, 20) for _ in range(4))]) & 0xFF,
                },
            ),
            ("judge_tie", {"n": rng.choice([0, rng.randint(1, 300), 0xFFFFFFFF, 0xFFFFFFFF])}),
        ]

    # Rows

    def declare(self, layout=None):
        """LAYOUT, of any layout unless one is given, and EDGES of all that are numbers."""
        g, given = self.geometry, layout
        while True:
            layout = given or any_layout(g, self.numbers, self.cells)
            try:
                command = layout.command(g)
                break
            except ValueError:  # attributes too far from each other
                continue
        self._layout = layout
        edges = [self.edges(index) for index, each in enumerate(layout.columns) if each.kind is not RowKind.CODE]
        return self._quantiser(TreeOpcode.LAYOUT, command) + b"".join(edges)

    def edges(self, attribute=None):
        """EDGES of an attribute; of any unless one is given."""
        columns = self._layout.columns
        if attribute is None:
            attribute = self.rng.randrange(len(columns))
        kind = columns[attribute].kind
        kind = RowKind.U8 if kind is RowKind.CODE else kind
        keys = edge_keys(any_edges(kind, self.numbers), kind)
        return self._quantiser(TreeOpcode.EDGES, edges_command(self.geometry, attribute, keys))

    def _quantiser(self, opcode, command):
        head = ROW_COMMAND.unpack(command.head)
        values = {field.name: int(head[field.name]) for field in ROW_COMMAND.fields if field.name != "opcode"}
        return pack_tree(self.geometry, opcode, payload=command.payload, **values)

    def learn(self):
        """LEARN of rows that are to be put into memory; now and then of some that are not all there.

        Returns
        -------
        command : bytes
        words : list of int
            Addresses of the bus words that it reads, as far as there is memory.
        start : int
            Where the rows are to lie.
        rows : bytes
        """
        g, rng = self.geometry, self.rng
        stride = self._layout.stride
        count = rng.choice([0, 1, 2, rng.randint(3, 20), *(rng.randint(20, 150) for _ in range(3))])
        size = len(self.memory.data)
        count = min(count, (size - g.bus_bytes) // stride)
        start = rng.randrange(size - count * stride - g.bus_bytes + 1)
        rows = np.frombuffer(any_rows(self._layout, self.numbers, count), np.uint8).reshape(count, stride).copy()
        for row in rows:
            if self._layout.label is not None:
                row[self._layout.label] = rng.randrange(g.classes) if rng.random() < 0.97 else rng.randrange(256)
            if self._layout.flags is not None:
                flags = [0, RecordFlag.MINUS, RecordFlag.TEST, 0xFF, self._weight()]
                row[self._layout.flags] = rng.choices(flags, [60, 6, 6, 1, 27])[0]
        address = start
        if rng.random() < 0.02:
            address, count = rng.choice([(size - 3 * stride, 10), (1 << 40, 1), (size - stride, 0xFFFFFFFF)])
        last = min(start + rows.size, size)
        command = self._pack(
            Opcode.LEARN,
            flags=CommandFlag.MEMORY,
            root=rng.choice([0, 0, rng.randrange(g.nodes)]),
            count=count,
            address=address,
        )
        return command, list(range(start - start % g.bus_bytes, last, g.bus_bytes)), start, rows.tobytes()

    def _weight(self):
        """Flags of a row that weighs, mostly little."""
        weight = self.rng.choice([0, 0, 2, 2, 3, 5, self.rng.randint(0, MOST_WEIGHT)])
        return int(weighed(np.array(weight)))

    # The tree

    def row(self, node):
        """A `Node` for a node; children mostly behind it, so that walks end."""
        g, rng = self.geometry, self.rng
        slot = rng.choice([NONE, *[rng.randrange(g.slots) for _ in range(4)]])
        kind = rng.choices(list(NodeKind), [4, 4, 2, 2, 2 if g.alternates else 0.5])[0]
        width = rng.randint(1, min(6, g.nodes)) if kind == NodeKind.MULTIWAY else 2
        first = 0 if rng.random() < 0.03 else node + 1
        if kind == NodeKind.LEAF or first > g.nodes - width:
            return Node(slot=slot)
        value = width if kind == NodeKind.MULTIWAY else rng.choice([0, 1, 255, rng.randrange(256), rng.randrange(256)])
        child = min(first + rng.choice([0, 0, rng.randrange(g.nodes)]), g.nodes - width)
        return Node(kind, rng.randrange(self.cells), value, child, rng.randrange(width), slot)

    def edit(self, node, row):
        """An EDIT."""
        return padded(pack_edit(TreeOpcode.EDIT, node, row), self.geometry.bus_bytes)

    def bad_edit(self):
        """An EDIT that is refused."""
        g, rng = self.geometry, self.rng
        if rng.random() < 0.4:
            return self.edit(rng.randrange(g.nodes, 1 << 16), Node())
        row = rng.choice(
            [
                Node(slot=rng.randrange(g.slots, NONE)),
                Node(rng.randint(5, 7)),
                Node(NodeKind.NUMERIC, rng.randrange(g.max_cells, 1 << 13), 1, 0, 0),
                Node(NodeKind.NUMERIC, 0, 1, rng.randrange(g.nodes - 1, 1 << 16), 0),
                Node(NodeKind.ONE_VS_REST, 0, 1, 0, rng.randrange(2, 256)),
                Node(NodeKind.MULTIWAY, 0, 0, 0, 0),
                Node(NodeKind.MULTIWAY, 0, 3, g.nodes - 2, 0),
                Node(NodeKind.FORK, 1 << 12, 0, g.nodes - 1, 0),
            ]
        )
        return self.edit(rng.randrange(g.nodes), row)

    # What may be sent while GO is waited for

    def access(self):
        """A ROW command that is taken."""
        g, rng = self.geometry, self.rng
        op = rng.choice([RowOp.READ, RowOp.WRITE, RowOp.WRITE, RowOp.MARK, RowOp.TALLY])
        if op == RowOp.TALLY:
            return self.row_command(op, rng.randrange(g.classes), rng.randrange(g.classes))
        value = rng.choice([0, 1, rng.randrange(100), rng.getrandbits(32), 0xFFFFFFFF])
        word = rng.randrange(len(RowWord) + g.classes)
        if word == RowWord.MAJORITY:  # a class
            value = rng.randrange(g.classes)
        return self.row_command(op, rng.randrange(g.nodes), word, value)

    def row_command(self, op, node=0, word=0, value=0):
        return pack_tree(self.geometry, TreeOpcode.ROW, flags=op, node=node, word=word, value=value)

    def node(self, slot):
        """NODE: most often of one near the first, where many records come by."""
        g, rng = self.geometry, self.rng
        node = rng.choices([rng.randrange(min(5, g.nodes)), rng.randrange(g.nodes)], [7, 3])[0]
        values = {
            "only": rng.choice([NONE, MANY, rng.randrange(g.classes)]),
            "base": rng.choice([0, rng.randrange(100), rng.getrandbits(32)]),
            "ask_up_to": rng.choice([0, 0, rng.randrange(100), rng.getrandbits(32)]),
        }
        return pack_tree(g, TreeOpcode.NODE, slot=slot, node=node, **values)

    def slot_command(self):
        """A command of a slot that is taken."""
        g, rng = self.geometry, self.rng
        slot = rng.randrange(g.slots)
        match kind := rng.choice(["node", "node", "period", Opcode.CLEAR, "place", "place", Opcode.READ, "write"]):
            case "node":
                return self.node(slot)
            case "period":
                return pack_tree(g, TreeOpcode.PERIOD, slot=slot, period=self._period())
            case Opcode.READ:
                return self._pack(kind, slot=slot, cell=rng.choice([NONE, rng.randrange(g.max_cells)]))
            case "place":
                return self._place(slot)
            case "write":
                return self._write(slot)
            case _:
                return self._pack(kind, slot=slot)

    def wrong(self):
        """A command that is refused, whatever goes on."""
        g, rng = self.geometry, self.rng
        match rng.randrange(8):
            case 5:
                return self._pack(Opcode.TRIAL, slot=rng.randrange(g.slots))
            case 6:
                return self.turn(first=rng.randrange(1 << 16), slots=g.slots + 1)
            case 0:
                opcode = rng.choice(sorted(set(range(256)) - set(Opcode) - set(TreeOpcode)))
                return padded(bytes([opcode]) + rng.randbytes(15), g.bus_bytes)
            case 1:
                return self.bad_edit()
            case 2:
                op, node, word = rng.choice(
                    [
                        (RowOp.READ, g.nodes, 0),
                        (RowOp.WRITE, rng.randrange(1 << 16), len(RowWord) + g.classes),
                        (RowOp.TALLY, g.classes, 0),
                        (RowOp.TALLY, 0, g.classes),
                        (rng.choice([0, *range(max(RowOp) + 1, 256)]), 0, 0),
                    ]
                )
                return self.row_command(op, node, word)
            case 3:
                opcode = rng.choice([TreeOpcode.NODE, TreeOpcode.PERIOD])
                return pack_tree(g, opcode, slot=rng.randrange(g.slots, 1 << 16))
            case 4:
                flags, root = rng.choice([(CommandFlag.MEMORY, rng.randrange(g.nodes, 1 << 16)), (0, 0)])
                return self._pack(Opcode.LEARN, flags=flags, root=root, count=5)
            case _:
                while (command := super().wrong())[0] not in list(Opcode):
                    pass
                return command

    def refusal(self):
        """A command that is refused, some that are dropped, and RESET."""
        refused = self.wrong()
        dropped = [
            command
            for command in (
                self.wrong(),
                self.access(),
                self.edit(0, Node()),
                self.go(),
                self._quantiser(TreeOpcode.LAYOUT, self._layout.command(self.geometry)),
                self.edges(),
                self.turn(),
                self._write(0),
                self._pack(Opcode.FENCE, token=1),
                self._pack(Opcode.LEARN, flags=CommandFlag.MEMORY, count=3),
            )
            if self.rng.random() < 0.2
        ]
        return refused + b"".join(dropped) + self._pack(Opcode.RESET)

    def _length(self):
        """Records of a block, less 1."""
        return self.rng.choice([0, 0, 1, self.rng.randrange(20), self.rng.randrange(200), 0xFFFF])

    def turn(self, **values):
        """TURN, at any place of any stream, mostly of all slots."""
        g, rng = self.geometry, self.rng
        number = rng.choice([0, rng.randrange(200), rng.randrange(1 << 31), (1 << 31) - rng.randrange(200), 0xFFF00000])
        first = rng.choice([0, 0, rng.randrange(g.slots)])
        values = {
            "flags": rng.randint(0, 1),
            "number": number | rng.choice([0, 0xFFFF]),
            "since": rng.choice([0, 1, rng.randrange(1 << 16)]),
            "left": self._length(),
            "length": self._length(),
            "first": first,
            "slots": rng.choice([g.slots - first, rng.randrange(g.slots - first + 1)]),
            **values,
        }
        return pack_tree(g, TreeOpcode.TURN, **values)

    def go(self):
        return pack_tree(self.geometry, TreeOpcode.GO, length=self._length())

    def fence(self):
        return self._pack(Opcode.FENCE, token=self.rng.getrandbits(32))

    def reset(self):
        return self._pack(Opcode.RESET)

    def read(self, slot, cell=NONE):
        return self._pack(Opcode.READ, slot=slot, cell=cell)
