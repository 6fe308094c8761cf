"""Random commands and configurations: everything that a board can be told beside rows, in any order."""

from bregalad.geometry import NONE
from bregalad.protocol.commands import CommandFlag, Opcode, pack_command, pack_load, padded
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.nodes import NodeKind
from bregalad.protocol.registers import CellKind
from bregalad.protocol.reports import EntryFlag, entry_body
from bregalad.protocol.tree import MANY, TreeOpcode, pack_tree

from .golden.node import Node, pack_edit


class Traffic:
    """Make configurations and commands for a geometry.

    Parameters
    ----------
    geometry : Geometry
    rng : random.Random
    memory : sim.golden.Memory
        LOADs are made for its size.
    """

    def __init__(self, geometry, rng, memory):
        self.geometry = geometry
        self.rng = rng
        self.memory = memory
        self.cells = 1

    def configuration(self):
        """Register writes, ``(name, {field: value})``, for cells, grace periods and reports."""
        g, rng = self.geometry, self.rng
        self.cells = rng.choice([1, rng.randint(1, g.max_cells), g.max_cells])
        writes = [
            ("cells", {"count": self.cells}),
            ("classes", {"count": rng.choice([g.classes, rng.randint(1, g.classes)])}),
            ("report", {"all": int(rng.random() < 0.2), "neighbours": rng.randint(0, 1)}),
            ("grace", {"leaf": rng.choice([0, 1, *(rng.randint(2, 60) for _ in range(4))])}),
            ("inner_grace", {"inner": rng.choice([0, 1, *(rng.randint(2, 60) for _ in range(4))])}),
        ]
        writes += self._tree_configuration()
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

    def _tree_configuration(self):
        """Register writes for blocks, leaves and the decider."""
        g, rng = self.geometry, self.rng
        decider = {name: rng.randint(0, 1) for name in ("anytime", "inner_ties", "null", "all_inner")}
        return [
            (
                "block",
                {
                    "at_once": rng.randint(0, 1),
                    "waits": int(g.alternates > 0 and rng.random() < 0.3),
                },
            ),
            ("every", {"records": rng.choice([0, 0, 1, rng.randint(2, 50)])}),
            ("leaf_predictor", {"by": rng.randint(0, 2 * g.naive_bayes), "reported": rng.randint(0, 1)}),
            ("decider", {"decides": int(rng.random() < 0.8), "first_attempt": int(rng.random() < 0.2), **decider}),
            (
                "decider_bound",
                {
                    "mantissa": rng.randrange(1 << 15, 1 << 16),
                    "exponent": rng.choice([0x80, *(rng.randint(-4, 20) for _ in range(4))]) & 0xFF,
                },
            ),
            ("decider_tie", {"n": rng.choice([0, rng.randint(1, 300), 0xFFFFFFFF, 0xFFFFFFFF])}),
        ]

    def command(self, faults):
        """Bytes of one command, its payload included; no LEARN, and nothing that a LEARN would wait for."""
        g, rng = self.geometry, self.rng
        match rng.choices(["slot", "access", "edit", "load", "fence", "wrong"], [8, 3, 3, 1, 1, 0.5 if faults else 0])[
            0
        ]:
            case "slot":
                return self.slot_command()
            case "access":
                return self.access()
            case "edit":
                node = rng.randrange(g.nodes)
                return self.edit(node, self.row(node))
            case "load":
                return self._load(faults)
            case "fence":
                return self.fence()
            case _:
                return self.wrong()

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

    def _period(self):
        return self.rng.choice([0, 0, 0, self.rng.randint(1, 40), 0xFFFF])

    def node(self, slot):
        """NODE: most often of one near the first, where many records come by."""
        g, rng = self.geometry, self.rng
        node = rng.choices([rng.randrange(min(5, g.nodes)), rng.randrange(g.nodes)], [7, 3])[0]
        values = {
            "only": rng.choice([NONE, MANY, rng.randrange(g.classes)]),
            "inherited": rng.choice([0, rng.randrange(100), rng.getrandbits(32)]),
            "all_up_to": rng.choice([0, 0, rng.randrange(100), rng.getrandbits(32)]),
        }
        return pack_tree(g, TreeOpcode.NODE, slot=slot, node=node, **values)

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
        if rng.random() < 0.02:  # it may close a ring
            return rng.randrange(g.slots)
        return rng.choice([NONE, rng.randrange(slot + 1, g.slots)]) if slot + 1 < g.slots else NONE

    def _pack(self, opcode, **values):
        return pack_command(self.geometry, opcode, **values)

    def _load(self, faults):
        """Bytes for memory, or across its end."""
        g, rng = self.geometry, self.rng
        size = len(self.memory.data)
        if faults and rng.random() < 0.1:
            address = rng.choice([size, size + 1, 1 << 32, (1 << 64) - 2, rng.getrandbits(64)])
            return pack_load(g, address, rng.randbytes(rng.randint(1, 40)))
        count = min(size, rng.choice([1, rng.randrange(1, 80)]))
        return pack_load(g, rng.randrange(size - count + 1), rng.randbytes(count)) if size else self.fence()

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
                rng.choice([rng.getrandbits(32), rng.randrange(2000)]),
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

    def access(self):
        """A ROW command that is taken."""
        g, rng = self.geometry, self.rng
        op = rng.choice([RowOp.READ, RowOp.WRITE, RowOp.WRITE, RowOp.MARK])
        value = rng.choice([0, 1, rng.randrange(100), rng.getrandbits(32), 0xFFFFFFFF])
        word = rng.randrange(len(RowWord) + g.classes)
        if word == RowWord.MAJORITY:  # a class
            value = rng.randrange(g.classes)
        return self.row_command(op, rng.randrange(g.nodes), word, value)

    def row_command(self, op, node=0, word=0, value=0):
        return pack_tree(self.geometry, TreeOpcode.ROW, flags=op, node=node, word=word, value=value)

    def fence(self):
        return self._pack(Opcode.FENCE, token=self.rng.getrandbits(32))

    # What is refused

    def wrong(self):
        """Bytes of a command that is refused: of an unknown opcode, or of what there is not."""
        g, rng = self.geometry, self.rng
        slot = rng.randrange(g.slots)
        bad_slot, bad_cell = rng.randrange(g.slots, NONE), rng.randrange(g.max_cells, NONE)
        refused = (
            self._unknown,
            lambda: self._pack(rng.choice([Opcode.ATTEMPT, Opcode.CLEAR, Opcode.READ]), slot=bad_slot),
            lambda: self._pack(Opcode.READ, slot=slot, cell=bad_cell),
            lambda: self._pack(Opcode.WRITE, slot=slot, cell=bad_cell, payload=bytes(4 * g.bins * g.classes)),
            lambda: self._pack(Opcode.WRITE, slot=bad_slot, cell=NONE, payload=bytes(entry_body(g).size)),
            lambda: self._bad_place(slot, bad_slot, bad_cell),
            lambda: self._pack(Opcode.ATTEMPT, slot=slot),
            self._bad_edit,
            self._bad_access,
            lambda: pack_tree(
                g, rng.choice([TreeOpcode.NODE, TreeOpcode.PERIOD]), slot=rng.randrange(g.slots, 1 << 16)
            ),
            lambda: self._pack(Opcode.LEARN, flags=0, root=0, count=5),
            lambda: self._pack(Opcode.LEARN, flags=CommandFlag.MEMORY, root=rng.randrange(g.nodes, 1 << 16), count=5),
            lambda: pack_tree(g, TreeOpcode.TURN, first=rng.randrange(1 << 16), slots=g.slots + 1),
            lambda: self._bad_place(slot, bad_slot, bad_cell),
        )
        return rng.choice(refused)()

    def _unknown(self):
        opcode = self.rng.choice(sorted(set(range(256)) - set(Opcode) - set(TreeOpcode)))
        return padded(bytes([opcode]) + self.rng.randbytes(15), self.geometry.bus_bytes)

    def _bad_place(self, slot, bad_slot, bad_cell):
        """A PLACE that is refused."""
        values = {"slot": slot, "parent": slot, "flags": self.rng.choice([0, CommandFlag.KEEP])}
        values |= self.rng.choice([{"parent": bad_slot}, {"link": bad_slot}, {"cell": bad_cell}, {"current": bad_cell}])
        return self._pack(Opcode.PLACE, **values)

    def _bad_edit(self):
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

    def _bad_access(self):
        """A ROW command that is refused."""
        g, rng = self.geometry, self.rng
        op, node, word = rng.choice(
            [
                (RowOp.READ, g.nodes, 0),
                (RowOp.WRITE, rng.randrange(1 << 16), len(RowWord) + g.classes),
                (rng.choice([0, *range(max(RowOp) + 1, 256)]), 0, 0),
            ]
        )
        return self.row_command(op, node, word)
