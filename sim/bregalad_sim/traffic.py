"""Random command streams: everything that the accelerator can be told, in any order."""

from bregalad.geometry import NONE
from bregalad.protocol.commands import (
    LABEL_HIGH,
    CommandFlag,
    Opcode,
    RecordFlag,
    pack_command,
    pack_load,
    record_layout,
)
from bregalad.protocol.layout import Layout
from bregalad.protocol.registers import REGISTERS, Access, CellKind, find
from bregalad.protocol.reports import EntryFlag, ErrorCode, entry_body

__all__ = ["Traffic"]

_LEARN, _ACCESS = 8, 3  # how often a command occurs


class Traffic:
    """Make configurations and command streams for a geometry.

    Parameters
    ----------
    geometry : Geometry
    rng : random.Random
    memory : sim.golden.Memory
        Records of LEARNs from memory are put there, and faults.
    rings : float
        Probability that a link may close a ring. A record on one updates 256 nodes, which takes a
        simulator that follows every signal minutes.
    """

    def __init__(self, geometry, rng, memory, rings=0.02):
        self.geometry = geometry
        self.rng = rng
        self.memory = memory
        self.rings = rings
        self.cells = 1
        self.free = 0  # first byte of memory that this stream does not use yet
        self.loaded = []  # address and count of records that LOAD brought and no LEARN has named

    def configuration(self):
        """Register writes, ``(name, {field: value})``, for cells, grace periods and reports."""
        g, rng = self.geometry, self.rng
        self.cells = rng.choice([1, rng.randint(1, g.max_cells), g.max_cells])
        writes = [
            ("cells", {"count": self.cells}),
            ("classes", {"count": rng.choice([g.classes, rng.randint(1, g.classes)])}),
            (
                "report",
                {
                    "all": rng.randint(0, 1),
                    "predictions": rng.randint(0, 2 * g.naive_bayes),
                    "neighbours": rng.randint(0, 1),
                },
            ),
            ("grace", {"leaf": rng.choice([0, 1, *(rng.randint(2, 60) for _ in range(4))])}),
            ("inner_grace", {"inner": rng.choice([0, 1, *(rng.randint(2, 60) for _ in range(4))])}),
        ]
        cell = 0
        while cell < g.max_cells:
            kind = rng.choice(
                [CellKind.IGNORED, CellKind.NUMERIC, CellKind.NUMERIC, CellKind.MULTIWAY, CellKind.ONE_VS_REST]
            )
            wide = kind in (CellKind.MULTIWAY, CellKind.ONE_VS_REST)
            size = rng.choice([1, rng.randint(2, 5)]) if wide else 1
            for part in range(min(size, g.max_cells - cell)):
                other = int(wide and rng.random() < 0.6 or size > 1)
                step = g.bins - 1 if size > 1 else g.bins
                writes.append(
                    (
                        "cell",
                        {
                            # Now and then an attribute has no first cell and joins the one before.
                            "index": cell,
                            "kind": kind,
                            "other": other,
                            "first": int(part == 0 and rng.random() < 0.97),
                            "base": (part * step) & 0xFF if wide else 0,
                            "write": 1,
                        },
                    )
                )
                cell += 1
        return writes

    def words(self):
        """Register writes, ``(name, word)``, of any word to any register: most of them no board takes as they are."""
        g, rng = self.geometry, self.rng
        writes = []
        for register in [*REGISTERS, *rng.choices(REGISTERS, k=2 * g.max_cells)]:
            word = rng.choice([0, 0xFFFFFFFF, rng.getrandbits(32), rng.getrandbits(32)])
            for field, lsb in register.layout():
                if field.access is Access.RW and rng.random() < 0.6:
                    least, most = field.range(g)
                    bits = rng.choice([least - 1, least, rng.randint(least, min(most, least + 60)), most, most + 1])
                    mask = (1 << field.width) - 1
                    word = word & ~(mask << lsb) | (bits & mask) << lsb
            writes.append((register.name, word))
            if register.name == "cells":
                self.cells = find("cells").taken(word, g)["count"]
        return writes

    def record(self, slots):
        """Bytes of one instance record."""
        g, rng = self.geometry, self.rng
        slot, label = rng.choice(slots), rng.randrange(g.classes)
        if rng.random() < 0.03:
            slot = rng.choice([g.slots, NONE, rng.randrange(g.slots, NONE)])
        if rng.random() < 0.03:
            label = rng.choice([g.classes, 255])
        span = rng.choice([255, 2 * g.bins, 20])
        codes = [255 if rng.random() < 0.1 else rng.randrange(span) for _ in range(self.cells)]
        flags = rng.choices([0, RecordFlag.MINUS, RecordFlag.TEST, 0xFF], [80, 12, 12, 1])[0]
        if g.long_labels:
            flags |= label >> 8 << LABEL_HIGH
        return record_layout(self.cells).pack(slot=slot, label=label & 0xFF, flags=flags, codes=codes)

    def command(self, faults):
        """Bytes of one command, its payload included."""
        g, rng = self.geometry, self.rng
        slot = rng.randrange(g.slots)
        near = [rng.randrange(g.slots) for _ in range(rng.choice([1, 2, 4, 16]))]
        kind = rng.choices(
            [
                "inline",
                "memory",
                Opcode.TRIAL,
                Opcode.CLEAR,
                Opcode.PLACE,
                Opcode.READ,
                Opcode.WRITE,
                Opcode.FENCE,
                Opcode.RESET,
                Opcode.LOAD,
                "wrong",
            ],
            [_LEARN, _LEARN, 2, 1, 4, _ACCESS, _ACCESS, 1, 0.5, 1, 0.5 if faults else 0],
        )[0]
        match kind:
            case "inline" | "memory":
                count = rng.choice([0, 1, 2, rng.randint(3, 12), rng.randint(3, 60)])
                records = b"".join(self.record(near) for _ in range(count))
                if kind == "inline":
                    return self._pack(Opcode.LEARN, count=count, payload=records)
                if self.loaded:
                    address, count = self.loaded.pop()
                    return self._pack(Opcode.LEARN, flags=CommandFlag.MEMORY, count=count, address=address)
                return self._from_memory(records, count, faults)
            case Opcode.TRIAL | Opcode.CLEAR:
                return self._pack(kind, slot=slot)
            case Opcode.PLACE:
                return self._place(slot)
            case Opcode.READ:
                return self._pack(kind, slot=slot, cell=rng.choice([NONE, rng.randrange(g.max_cells)]))
            case Opcode.WRITE:
                return self._write(slot)
            case Opcode.FENCE:
                return self._pack(kind, token=rng.randrange(2, 1 << 32))
            case Opcode.RESET:
                return self._pack(kind)
            case Opcode.LOAD:
                return self._load(near, faults)
            case _:
                return self.wrong()

    def checkpoint(self, slots=8, token=0):
        """READ of everything of some slots, then a FENCE: whatever differed before shows."""
        g = self.geometry
        return b"".join(
            self._pack(Opcode.READ, slot=slot, cell=cell)
            for slot in self.rng.sample(range(g.slots), min(slots, g.slots))
            for cell in (NONE, *range(g.max_cells))
        ) + self._pack(Opcode.FENCE, token=token)

    def _period(self):
        return self.rng.choice([0, 0, 0, self.rng.randint(1, 40), 0xFFFF])

    def _place(self, slot):
        """Bytes of a random PLACE."""
        g, rng = self.geometry, self.rng
        flags = rng.choice([0, CommandFlag.INNER]) | rng.choice([0, CommandFlag.KEEP])
        return self._pack(
            Opcode.PLACE,
            flags=flags,
            slot=slot,
            parent=rng.choice([slot, rng.randrange(g.slots)]),
            cell=rng.choice([NONE, rng.randrange(g.max_cells)]),
            lo=rng.randrange(256),
            shift=rng.randrange(8),
            link=self._link(slot),
            current=rng.choice([NONE, rng.randrange(g.max_cells)]),
            period=self._period(),
        )

    def _link(self, slot):
        """None, mostly a later slot, once in a while any."""
        g, rng = self.geometry, self.rng
        if rng.random() < self.rings:
            return rng.randrange(g.slots)
        return rng.choice([NONE, rng.randrange(slot + 1, g.slots)]) if slot + 1 < g.slots else NONE

    def _pack(self, opcode, **values):
        return pack_command(self.geometry, opcode, **values)

    def _from_memory(self, records, count, faults):
        g, rng = self.geometry, self.rng
        start = self.free + rng.randrange(g.bus_bytes)
        self.free = start + len(records)
        if self.free > len(self.memory.data):
            if not faults or count == 0:
                self.free = start
                return self._pack(Opcode.LEARN, count=count, payload=records)
            self.free = len(self.memory.data)
        else:
            self.memory.data[start : self.free] = records
        # A board without memory has nothing that could fail otherwise than by DECERR.
        if self.memory.data and faults and count and rng.random() < 0.1:
            word = rng.randrange(start, start + len(records)) // g.bus_bytes * g.bus_bytes
            code = rng.choice([ErrorCode.SLAVE, ErrorCode.DECODE])
            if start <= word and word + g.bus_bytes <= start + len(records):  # of no LOAD beside it
                self.memory.faults[word] = code
        return self._pack(Opcode.LEARN, flags=CommandFlag.MEMORY, count=count, address=start)

    def _load(self, slots, faults):
        """Records for memory, to be learnt later; or bytes across its end."""
        g, rng = self.geometry, self.rng
        size = len(self.memory.data)
        if faults and rng.random() < 0.1:
            address = rng.choice([size, size + 1, 1 << 32, (1 << 64) - 2, rng.getrandbits(64)])
            return pack_load(g, address, rng.randbytes(rng.randint(1, 40)))
        count = rng.randrange(8)
        records = b"".join(self.record(slots) for _ in range(count))
        start = self.free + rng.randrange(g.bus_bytes)
        if start + len(records) > size:
            return pack_load(g, size, b"")
        self.free = start + len(records)
        self.loaded.append((start, count))
        return pack_load(g, start, records)

    def _write(self, slot):
        g, rng = self.geometry, self.rng
        if rng.random() < 0.6:
            # Close to the limit, so that the next records halve the slot.
            n = g.count_max - rng.choice([0, 1, rng.randrange(20), rng.randrange(g.count_max)])
            counts = [n // g.classes] * g.classes
            counts[0] += n - sum(counts)
            link = rng.choice([NONE, g.slots, rng.randrange(g.slots, 1 << 16), self._link(slot)])
            words = [
                n | rng.getrandbits(4) << g.count_width & 0xFFFFFFFF,
                rng.randrange(30),
                link | rng.choice([NONE, g.max_cells, rng.randrange(g.max_cells)]) << 16,
                rng.choice([0, *EntryFlag, 0xFF]) | self._period() << 16,
                *([rng.choice([rng.getrandbits(32), rng.randrange(2000)])] if g.nodes else []),
                *counts,
            ]
            cell = NONE
        else:
            cell = rng.randrange(g.max_cells)
            top = rng.choice([4, 30, g.count_max // g.bins // g.classes])
            words = [rng.randrange(top + 1) for _ in range(g.bins * g.classes)]
            if rng.random() < 0.3:
                words = [0] * len(words)
                words[rng.randrange(len(words))] = g.count_max - rng.randrange(3)
        payload = b"".join(word.to_bytes(4, "little") for word in words)
        return self._pack(Opcode.WRITE, slot=slot, cell=cell, payload=payload)

    def wrong(self):
        """Bytes of a command that is refused: of an unknown opcode, or of what there is not."""
        g, rng = self.geometry, self.rng
        slot = rng.randrange(g.slots)
        bad_slot, bad_cell = rng.randrange(g.slots, NONE), rng.randrange(g.max_cells, NONE)
        match rng.randrange(6):
            case 0:
                opcode = rng.choice(sorted(set(range(256)) - set(Opcode)))
                head = bytearray(self._pack(Opcode.FENCE, token=rng.getrandbits(32)))
                head[0] = opcode
                return bytes(head)
            case 1:
                return self._pack(rng.choice([Opcode.TRIAL, Opcode.CLEAR, Opcode.READ]), slot=bad_slot, **{})
            case 2:
                return self._pack(Opcode.READ, slot=slot, cell=bad_cell)
            case 3:
                return self._pack(Opcode.WRITE, slot=slot, cell=bad_cell, payload=bytes(4 * g.bins * g.classes))
            case 4:
                entry = Layout("entry", *entry_body(g))
                return self._pack(Opcode.WRITE, slot=bad_slot, cell=NONE, payload=bytes(entry.size))
            case _:
                values = {"slot": slot, "parent": slot, "flags": rng.choice([0, CommandFlag.KEEP])}
                values |= rng.choice(
                    [{"parent": bad_slot}, {"link": bad_slot}, {"cell": bad_cell}, {"current": bad_cell}]
                )
                return self._pack(Opcode.PLACE, **values)
