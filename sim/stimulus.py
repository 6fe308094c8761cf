"""Random command streams: what the boards are held against the golden model with."""

from ..geometry import MISSING, NONE
from ..protocol.commands import CommandFlag, Opcode, RecordFlag, pack_command, record_layout
from ..protocol.registers import CellKind

__all__ = ["Stimulus"]


class Stimulus:
    """Random configuration, memory contents and commands for one geometry.

    Parameters
    ----------
    geometry : Geometry
    rng : random.Random
        Where all choices come from; the same seed makes the same stream.
    memory_size : int
        Bytes of the board's memory; 0: no LEARN with the MEMORY flag.
    bad : float
        Probability that a record or a command is made to be refused.

    Members
    -------
    cells : int
        Codes of a record; chosen anew by `configuration`.

    Slots are drawn from a few, so that counts grow and trials have something to find.
    """

    def __init__(self, geometry, rng, memory_size=0, bad=0.02):
        self.geometry = geometry
        self.rng = rng
        self.memory_size = memory_size
        self.bad = bad
        self.slots = rng.sample(range(geometry.slots), min(geometry.slots, rng.randint(1, 6)))
        self.cells = 1

    def configuration(self):
        """Register writes ``(name, value)`` of a random run-time configuration."""
        g, rng = self.geometry, self.rng
        self.cells = rng.choice([g.max_cells, rng.randint(1, g.max_cells)])
        return [
            ("cells", self.cells),
            ("classes", rng.choice([g.classes, rng.randint(1, g.classes)])),
            ("report", rng.randint(0, 1)),
            ("grace", rng.choice([0, 1, 2, 5, 20])),
            ("inner_grace", rng.choice([0, 1, 3, 7])),
            *(("cell", word) for word in self._cells()),
        ]

    def _cells(self):
        """Cell configurations: attributes of one cell, and nominal ones of several."""
        g, rng = self.geometry, self.rng
        kinds = [CellKind.IGNORED, CellKind.NUMERIC, CellKind.MULTIWAY, CellKind.ONE_VS_REST]
        kinds = rng.choice([[CellKind.NUMERIC], kinds])
        index = 0
        while index < g.max_cells:
            kind = rng.choice(kinds)
            nominal = kind in (CellKind.MULTIWAY, CellKind.ONE_VS_REST)
            length = min(rng.choice([1, 1, 2, 3, 5]) if nominal else 1, g.max_cells - index)
            other = nominal and (length > 1 or rng.random() < 0.3)
            for part in range(length):
                base = part * (g.bins - other) if rng.random() < 0.9 else rng.randrange(256)
                # Now and then an attribute has no first cell and joins the one before.
                first = part == 0 and rng.random() < 0.97
                yield (index | kind << 16 | first << 18 | other << 19 | min(base, 255) << 20
                       | 1 << 28)
                index += 1

    def memory(self):
        """Contents of the whole memory: records at a random alignment."""
        if not self.memory_size:
            return b""
        size = record_layout(self.cells).size
        offset = self.rng.randrange(size)
        body = b"".join(self._record() for _ in range(self.memory_size // size + 2))
        return body[offset:offset + self.memory_size]

    def faults(self, codes):
        """Bus words that memory shall not answer: address to one of ``codes``."""
        words = self.memory_size // self.geometry.bus_bytes
        if not words or self.rng.random() < 0.5:
            return {}
        return {self.rng.randrange(words) * self.geometry.bus_bytes: self.rng.choice(codes)
                for _ in range(self.rng.randint(1, 3))}

    def commands(self, count):
        """``count`` random commands, each with what follows it, as bytes."""
        makers = [self._learn] * 6 + [
            self._trial, self._clear, self._place, self._place, self._read, self._read,
            self._write, self._write, self._fence]
        if self.memory_size:
            makers += [self._learn_memory] * 3
        for _ in range(count):
            if self.rng.random() < self.bad:
                yield self._refused()
                # Some commands are dropped before the board is told to go on.
                for _ in range(self.rng.choice([0, 0, 1, 3])):
                    yield self.rng.choice(makers)()
                yield self.reset()
            else:
                yield self.rng.choice(makers)()

    def checkpoint(self):
        """READ of everything of the slots in play, and a FENCE, as bytes."""
        return b"".join(
            self._pack(Opcode.READ, slot=slot, cell=cell)
            for slot in self.slots for cell in (NONE, *range(self.geometry.max_cells))
        ) + self._fence()

    def reset(self):
        """A RESET, which makes a halted board go on."""
        return self._pack(Opcode.RESET)

    def _pack(self, opcode, **values):
        return pack_command(self.geometry, opcode, **values)

    def _slot(self):
        return self.rng.choice(self.slots)

    def _cell(self):
        return self.rng.choice([NONE, self.rng.randrange(self.geometry.max_cells)])

    def _record(self):
        g, rng = self.geometry, self.rng
        slot, label = self._slot(), rng.randrange(g.classes)
        if rng.random() < self.bad:
            slot, label = rng.choice([
                (rng.randrange(g.slots, 1 << 16), label), (slot, rng.randrange(g.classes, 256))])
        near = rng.randrange(256)  # codes that lie together make zoomed bins count
        codes = [rng.choice([rng.randrange(256), min(255, near + rng.randrange(8)),
                             near * (1 + label) % 256, MISSING if rng.random() < 0.2 else near])
                 for _ in range(self.cells)]
        flags = (RecordFlag.MINUS if rng.random() < 0.1 else 0) | rng.choice([0, 0, 0, 0xFE])
        return bytes([slot & 255, slot >> 8, label, flags, *codes])

    def _learn(self):
        count = self.rng.choice([0, 1, 2, 7, self.rng.randrange(30)])
        return self._pack(Opcode.LEARN, count=count, flags=self.rng.choice([0, 0, 0xFE]),
                          payload=b"".join(self._record() for _ in range(count)))

    def _learn_memory(self):
        rng = self.rng
        size = record_layout(self.cells).size
        address = rng.choice([0, rng.randrange(self.memory_size)])
        count = rng.randrange(min(self.memory_size // size, 40) + 1)
        if rng.random() < 0.9:  # mostly inside memory
            count = min(count, (self.memory_size - address) // size)
        if rng.random() < self.bad:
            address = rng.choice([1 << 32, 1 << 62, (1 << 64) - 1]) - rng.randrange(1 << 20)
        return self._pack(Opcode.LEARN, count=count, address=address, flags=CommandFlag.MEMORY)

    def _trial(self):
        return self._pack(Opcode.TRIAL, slot=self._slot())

    def _clear(self):
        return self._pack(Opcode.CLEAR, slot=self._slot())

    def _place(self):
        g, rng = self.geometry, self.rng
        flags = rng.choice([0, CommandFlag.INNER])
        flags |= CommandFlag.KEEP if rng.random() < 0.5 else 0
        return self._pack(
            Opcode.PLACE, flags=flags, slot=self._slot(), parent=self._slot(), cell=self._cell(),
            lo=rng.randrange(256), shift=rng.randrange(256),
            link=rng.choice([NONE, NONE, NONE, self._slot()]),
            current=rng.choice([NONE, rng.randrange(g.max_cells)]))

    def _read(self):
        return self._pack(Opcode.READ, slot=self._slot(), cell=self._cell())

    def _write(self):
        g, rng = self.geometry, self.rng
        cell = self._cell()
        # Small counts, counts about to overflow, and words wider than a counter.
        top = rng.choice([3, 50, 1000, g.count_max, 0xFFFFFFFF])
        low = max(0, top - 2) if rng.random() < 0.2 else 0
        words = [rng.randint(low, top) for _ in range(g.bins * g.classes)]
        if cell == NONE:
            link = rng.choice([NONE, NONE, self._slot(), rng.randrange(1 << 16)])
            current = rng.choice([NONE, rng.randrange(g.max_cells), rng.randrange(1 << 16)])
            n = rng.choice([rng.randrange(100), max(0, g.count_max - rng.randrange(4)),
                            rng.randrange(1 << 32)])
            words = [n, rng.choice([0, rng.randrange(10), rng.randrange(1 << 32)]),
                     link | current << 16, rng.randrange(1 << 32),
                     *(rng.choice([rng.randrange(50), rng.randrange(1 << 32), g.count_max])
                       for _ in range(g.classes))]
        payload = b"".join(word.to_bytes(4, "little") for word in words)
        return self._pack(Opcode.WRITE, slot=self._slot(), cell=cell, payload=payload)

    def _fence(self):
        return self._pack(Opcode.FENCE, token=self.rng.randrange(1 << 32))

    def _refused(self):
        """A command that the board answers with ERROR; WRITE has its payload all the same."""
        g, rng = self.geometry, self.rng
        if rng.random() < 0.3:
            head = bytes([rng.choice([0, rng.randrange(9, 256)]),
                          *(rng.randrange(256) for _ in range(15))])
            return head + bytes(max(0, g.bus_bytes - len(head)))
        slot = rng.randrange(g.slots, NONE)
        cell = rng.randrange(g.max_cells, NONE)
        opcode = rng.choice([Opcode.TRIAL, Opcode.CLEAR, Opcode.PLACE, Opcode.READ, Opcode.WRITE])
        if opcode is Opcode.PLACE:
            values = {"slot": self._slot(), "parent": self._slot()}
            values |= rng.choice([{key: slot} for key in ("slot", "parent", "link")]
                                 + [{key: cell} for key in ("cell", "current")])
        elif opcode in (Opcode.READ, Opcode.WRITE):
            values = rng.choice([{"slot": slot, "cell": 0}, {"slot": slot, "cell": NONE},
                                 {"slot": self._slot(), "cell": cell}])
        else:
            values = {"slot": slot}
        words = 0
        if opcode is Opcode.WRITE:
            words = 4 + g.classes if values["cell"] == NONE else g.bins * g.classes
        return self._pack(opcode, payload=bytes(4 * words), **values)
