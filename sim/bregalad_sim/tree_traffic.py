"""Random rows, LEARNs and blocks for boards that hold trees."""

import numpy as np
from bregalad.data.keys import edge_keys
from bregalad.geometry import NONE
from bregalad.protocol.commands import CommandFlag, Opcode, RecordFlag
from bregalad.protocol.rows import MOST_WEIGHT, ROW_COMMAND, RowKind, edges_command, weighed
from bregalad.protocol.tree import TreeOpcode, pack_tree

from .golden.node import Node
from .rows import any_edges, any_layout, any_rows
from .traffic import Traffic


class TreeTraffic(Traffic):
    """Make commands, and rows for the memory's size; parameters as of `Traffic`."""

    def __init__(self, geometry, rng, memory):
        super().__init__(geometry, rng, memory)
        self.numbers = np.random.default_rng(rng.getrandbits(32))
        self._layout = None

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

    # Blocks

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

    def reset(self):
        return self._pack(Opcode.RESET)

    def read(self, slot, cell=NONE):
        return self._pack(Opcode.READ, slot=slot, cell=cell)
