"""The board: commands in, reports out."""

from bregalad.complete import complete
from bregalad.geometry import NONE
from bregalad.protocol import reports
from bregalad.protocol.commands import COMMAND_BYTES, COMMANDS, WITH_PAYLOAD, CommandFlag, Opcode, references
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.nodes import KIND_LOW
from bregalad.protocol.registers import EVENTS, REGISTERS, Access, identity_fields
from bregalad.protocol.reports import EntryFlag, ErrorCode, Kind
from bregalad.protocol.rows import KEY_BYTES, ROW_COMMAND, STEP, RowOpcode
from bregalad.protocol.tree import TREE_COMMANDS, TREE_REGISTERS, TreeKind, TreeOpcode

from .memory import BusError, Memory
from .node import Node
from .state import Cell, Entry
from .tree import Tree

# Until a LEARN has ended.
_WAIT = (Opcode.LEARN, Opcode.FENCE, TreeOpcode.LAYOUT, TreeOpcode.EDGES, TreeOpcode.TURN)


class Golden(Tree):
    """A board as a model: commands in, reports out.

    A LEARN goes on, between any two commands, until it has ended or waits for GO.

    Parameters
    ----------
    geometry : Geometry
    memory_size : int
        Bytes of the memory that LEARN fetches rows from.

    Source: design, sections 3 to 6; host/bregalad/protocol/tree.py.
    """

    def __init__(self, geometry, memory_size=0):
        super().__init__(geometry)
        self.memory = Memory(memory_size, geometry.bus_bytes)
        self.registers = {register.name: register for register in (*REGISTERS, *TREE_REGISTERS)}
        self._pending = b""  # the beginning of a command whose rest is not there yet

    # Registers

    def read_register(self, name):
        """The 32-bit value of a register; counters of clocks read 0."""
        fixed = {
            **identity_fields(self.geometry),
            "status.halted": int(self.halted),
            "status.busy": 0,
            "status.failing": 0,
            "ram.bytes": len(self.memory.data),
            **{f"{name}.count": count & 0xFFFFFFFF for name, count in self.events.items()},
        }
        value = 0
        for reg_field, lsb in self.registers[name].layout():
            full = f"{name}.{reg_field.name}"
            value |= fixed.get(full, self.fields.get(full, 0)) << lsb
        return value

    def write_register(self, name, value):
        """Write a register; allowed between commands only."""
        register = self.registers[name]
        taken = register.taken(value, self.geometry)
        for reg_field in register.fields:
            if reg_field.access is Access.RW:
                self.fields[f"{name}.{reg_field.name}"] = taken[reg_field.name]
        if name == "control" and taken["clear"]:
            self.events = dict.fromkeys(EVENTS, 0)
        elif name == "cell" and taken["write"]:
            self.cells[taken["index"]] = Cell(taken["kind"], taken["first"], taken["other"], taken["base"])

    # Commands

    def execute(self, data):
        """Execute the commands in ``data`` (bytes); return the reports (bytes).

        A command waits for the next call if only its beginning is there.
        """
        stream = self._pending + bytes(data)
        at = 0
        while (length := self._command_length(stream[at:])) is not None:
            data = stream[at : at + length]
            if self.halted:
                self.halted = data[0] != Opcode.RESET
            elif (self._held and data[0] in _WAIT) or not self._execute(data):  # the former would wait for ever
                self._error(ErrorCode.COMMAND, int.from_bytes(data[:8], "little"), 0)
            at += length
            self._run()
        self._pending = stream[at:]
        answer, self._reports = b"".join(self._reports), []
        return answer

    def _command_length(self, stream):
        """Bytes of the command that ``stream`` begins with, None if it is not all there."""
        g = self.geometry
        head = max(COMMAND_BYTES, g.bus_bytes)
        if len(stream) < head:
            return None
        payload = self._payload_bytes(stream)
        length = head + payload + -payload % g.bus_bytes
        return length if len(stream) >= length else None

    def _payload_bytes(self, stream):
        """Bytes that follow a command."""
        opcode = stream[0]
        if opcode not in _PAYLOADS:
            return 0
        return int(_PAYLOADS[opcode](self, (COMMANDS | TREE_COMMANDS)[opcode].unpack(stream)))

    def _execute(self, data):
        """Whether there is such a command, and it is executed."""
        opcode = data[0]
        if opcode not in _EXECUTE:
            return False
        command = (COMMANDS | TREE_COMMANDS)[opcode].unpack(data)
        payload = data[max(COMMAND_BYTES, self.geometry.bus_bytes) :]
        if opcode in COMMANDS and not self._in_range(opcode, command):
            return False
        return _EXECUTE[opcode](self, command, payload) is not False

    def _in_range(self, opcode, command):
        """Whether every slot and cell exists that a command names."""
        limits = {"slot": self.geometry.slots, "cell": self.geometry.max_cells}
        return all(
            command[name] < limits[kind] or (optional and command[name] == NONE)
            for name, kind, optional in references(opcode)
        )

    def _rows_bytes(self, command):
        return command["count"] * (STEP.size if command["opcode"] == TreeOpcode.LAYOUT else KEY_BYTES)

    def _load_bytes(self, command):
        return int(command["address"]) % self.geometry.bus_bytes + int(command["count"])

    def _statistics_bytes(self, command):
        g = self.geometry
        if command["cell"] == NONE:
            return reports.entry_body(g).size
        return 4 * g.bins * g.classes

    def _fence(self, command, payload):
        self._report(reports.FENCE, kind=Kind.FENCE, token=command["token"])

    def _load(self, command, payload):
        """False if it is refused."""
        address, count = int(command["address"]), int(command["count"])
        return self.memory.write(address, payload[address % self.geometry.bus_bytes :][:count])

    def _go_on(self, command, payload):
        """RESET of a board that has not halted."""

    def _refused(self, command, payload):
        """ATTEMPT: the board says when."""
        return False

    # LEARN

    def _learn(self, command, payload):
        """Begin: all rows become records now, for no edges change before they are learnt."""
        layout, root = self.quantiser.layout, int(command["root"])
        if not command["flags"] & CommandFlag.MEMORY or root >= self.geometry.nodes:
            return False
        self._learning = True
        for index in range(int(command["count"])):
            begin = int(command["address"]) + index * layout.stride
            try:
                self._take_row(self.memory.read(begin, layout.stride), root)
            except BusError as error:
                if begin + layout.reach <= error.address:  # nobody reads what is missing
                    self._take_row(self.memory.read(begin, layout.reach) + bytes(layout.stride - layout.reach), root)
                self._records.append(error)
                return None
        return None

    def _take_row(self, row, root):
        """A row becomes a record."""
        head = ROW_COMMAND.pack(opcode=RowOpcode.RECORDS, count=1)
        beats = self.quantiser.execute(head, row)
        codes = [code for beat in beats for code in beat.codes][: self.geometry.max_cells]
        self._records.append((codes, beats[-1].label, beats[-1].flags, root))

    # The tree

    def _edit(self, command, payload):
        test = int(command["test"])
        row = Node(
            test >> KIND_LOW,
            test & (1 << KIND_LOW) - 1,
            *(int(command[name]) for name in ("value", "child", "default", "slot")),
        )
        return self.table.edit(int(command["node"]), row) is None

    def _node(self, command, payload):
        if command["slot"] >= self.geometry.slots or command["node"] >= self.geometry.nodes:
            return False
        entry, most = self.entries[int(command["slot"])], self.geometry.count_max
        entry.only = int(command["only"])
        entry.inherited, entry.all_up_to = (min(int(command[name]), most) for name in ("inherited", "all_up_to"))
        return True

    def _period(self, command, payload):
        if command["slot"] >= self.geometry.slots:
            return False
        entry = self.entries[int(command["slot"])]
        entry.period = int(command["period"])
        entry.due = 0 < entry.period <= entry.since
        self._all_due |= entry.due
        return True

    def _row(self, command, payload):
        rows = self._rows_now()
        op, node, word, value = (int(command[name]) for name in ("flags", "node", "word", "value"))
        classes = self.geometry.classes
        if op in (RowOp.READ, RowOp.WRITE) and (node >= self.geometry.nodes or word >= len(RowWord) + classes):
            return False
        if op == RowOp.READ:
            self._emit(TreeKind.ROW, node=node, value=rows.read(node, word).word)
        elif op == RowOp.WRITE:
            rows.write(node, word, value)
        elif op == RowOp.MARK:
            result = rows.mark()
            self._emit(TreeKind.MARK, instances=result.instances, hits=result.hits)
        else:
            return False
        return True

    def _quantise(self, command, payload):
        opcode = {TreeOpcode.LAYOUT: RowOpcode.LAYOUT, TreeOpcode.EDGES: RowOpcode.EDGES}[TreeOpcode(command["opcode"])]
        values = {name: int(command[name]) for name in ("count", "lane", "row", "stride", "need")}
        self.quantiser.execute(ROW_COMMAND.pack(opcode=opcode, **values), payload)
        return True

    def _turn(self, command, payload):
        if int(command["first"]) + int(command["slots"]) > self.geometry.slots:
            return False
        self.number = int(command["number"])
        self.begun = self.number - int(command["since"]) & 0xFFFFFFFF
        self.end = self.number + int(command["left"]) + 1 & 0xFFFFFFFF
        self.length = int(command["length"]) + 1
        self.first, self.slots = int(command["first"]), int(command["slots"])
        self._owed = bool(command["flags"] & 1)
        self._due_slots, self._all_due = [], True
        return True

    def _go(self, command, payload):
        if not self._held:
            return False
        self._held = self._owed = False
        self.length = int(command["length"]) + 1
        return True

    # Slots

    def _clear_command(self, command, payload):
        self._clear(int(command["slot"]))

    def _place(self, command, payload):
        slot = int(command["slot"])
        if command["flags"] & CommandFlag.KEEP and command["cell"] != NONE:
            self.bin_window[slot][int(command["cell"])] = (int(command["lo"]), int(command["shift"]) & 7)
            return
        if not command["flags"] & CommandFlag.KEEP:
            bin_window = list(self.bin_window[int(command["parent"])])
            self._clear(slot)
            if command["cell"] != NONE:
                bin_window[int(command["cell"])] = (int(command["lo"]), int(command["shift"]) & 7)
            self.bin_window[slot] = bin_window
        entry = self.entries[slot]
        entry.since, entry.due = 0, False
        entry.link = int(command["link"])
        entry.current = int(command["current"])
        entry.period = int(command["period"])
        entry.inner = bool(command["flags"] & CommandFlag.INNER)

    # READ and WRITE

    def _read(self, command, payload):
        g = self.geometry
        slot, cell = int(command["slot"]), int(command["cell"])
        if cell == NONE:
            entry = self.entries[slot]
            flags = (
                EntryFlag.HALVED * entry.halved
                | EntryFlag.UNDERFLOW * entry.underflow
                | EntryFlag.INNER * entry.inner
                | EntryFlag.DUE * entry.due
                | EntryFlag.TRIED * entry.tried
            )
            self._report(
                reports.entry_layout(g),
                kind=Kind.ENTRY,
                slot=slot,
                n=entry.n,
                since=entry.since,
                link=entry.link,
                current=entry.current,
                entry_flags=flags,
                period=entry.period,
                tried=entry.tried_at,
                class_counts=entry.class_counts,
            )
        else:
            counts = [count for bin_ in self.counts[slot][cell] for count in bin_]
            self._report(reports.statistics_layout(g), kind=Kind.STATISTICS, slot=slot, cell=cell, counts=counts)

    def _write(self, command, payload):
        g = self.geometry
        slot, cell = int(command["slot"]), int(command["cell"])
        if cell == NONE:
            entry = reports.entry_body(g).unpack(payload)
            link, current, flags = (int(entry[name]) for name in ("link", "current", "entry_flags"))
            self.entries[slot] = Entry(
                [int(count) & g.count_max for count in entry["class_counts"]],
                int(entry["n"]) & g.count_max,
                int(entry["since"]) & 0xFFFFFF,
                # A link or cell that does not exist is none.
                link if link < g.slots else NONE,
                current if current < g.max_cells else NONE,
                bool(flags & EntryFlag.INNER),
                bool(flags & EntryFlag.HALVED),
                bool(flags & EntryFlag.UNDERFLOW),
                int(entry["period"]),
                due=bool(flags & EntryFlag.DUE),
                tried=bool(flags & EntryFlag.TRIED),
                tried_at=int(entry["tried"]),
            )
            self._all_due |= self.entries[slot].due
        else:
            words = [int.from_bytes(payload[i : i + 4], "little") for i in range(0, len(payload), 4)]
            for index in range(g.bins):
                row = words[index * g.classes : (index + 1) * g.classes]
                self.counts[slot][cell][index] = [count & g.count_max for count in row]


# By opcode: what executes it, with the command and what follows it; and how many bytes follow it.
_EXECUTE = complete(
    (*Opcode, *TreeOpcode),
    {
        Opcode.LEARN: Golden._learn,
        Opcode.ATTEMPT: Golden._refused,
        Opcode.CLEAR: Golden._clear_command,
        Opcode.PLACE: Golden._place,
        Opcode.READ: Golden._read,
        Opcode.WRITE: Golden._write,
        Opcode.FENCE: Golden._fence,
        Opcode.RESET: Golden._go_on,
        Opcode.LOAD: Golden._load,
        TreeOpcode.EDIT: Golden._edit,
        TreeOpcode.NODE: Golden._node,
        TreeOpcode.ROW: Golden._row,
        TreeOpcode.LAYOUT: Golden._quantise,
        TreeOpcode.EDGES: Golden._quantise,
        TreeOpcode.PERIOD: Golden._period,
        TreeOpcode.TURN: Golden._turn,
        TreeOpcode.GO: Golden._go,
    },
    __file__,
)
_PAYLOADS = complete(
    WITH_PAYLOAD, {Opcode.WRITE: Golden._statistics_bytes, Opcode.LOAD: Golden._load_bytes}, __file__
) | dict.fromkeys((TreeOpcode.LAYOUT, TreeOpcode.EDGES), Golden._rows_bytes)
