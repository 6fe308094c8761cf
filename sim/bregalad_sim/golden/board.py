"""The golden model's interpreter: registers and commands in, paths of records, reports out."""

import numpy as np
from bregalad.complete import complete
from bregalad.geometry import NONE
from bregalad.protocol import reports
from bregalad.protocol.commands import (
    COMMAND_BYTES,
    COMMANDS,
    LABEL_HIGH,
    PATH_LIMIT,
    WITH_PAYLOAD,
    CommandFlag,
    Opcode,
    RecordFlag,
    record_layout,
    references,
)
from bregalad.protocol.layout import Layout
from bregalad.protocol.registers import EVENTS, REGISTERS, Access, identity_fields
from bregalad.protocol.reports import EntryFlag, ErrorCode, Kind, SuggestionFlag

from .candidates import Candidate, top
from .memory import BusError, Memory
from .slots import Slots
from .state import Cell, Entry

__all__ = ["Golden"]


class Golden(Slots):
    """A board as a model: commands in, reports out.

    Parameters
    ----------
    geometry : Geometry
    memory_size : int
        Bytes of the memory that LEARN may fetch records from.

    Source: design, sections 3 to 6.
    """

    def __init__(self, geometry, memory_size=0):
        super().__init__(geometry)
        self.memory = Memory(memory_size, geometry.bus_bytes)
        self.registers = {register.name: register for register in REGISTERS}
        self.halted = False
        self._pending = b""  # the beginning of a command whose rest is not there yet
        self._reports = []

    # Registers

    def read_register(self, name):
        """The 32-bit value of a register; counters of clocks read 0."""
        fixed = {
            **identity_fields(self.geometry),
            "status.halted": int(self.halted),
            "status.busy": 0,
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

        A command that ``data`` holds only the beginning of waits for the next call.
        """
        stream = self._pending + bytes(data)
        at = 0
        while (length := self._command_length(stream[at:])) is not None:
            self._command(stream[at : at + length])
            at += length
        self._pending = stream[at:]
        answer, self._reports = b"".join(self._reports), []
        return answer

    def _command_length(self, stream):
        """Bytes of the command that ``stream`` begins with, None if it is not all there."""
        g = self.geometry
        head = max(COMMAND_BYTES, g.bus_bytes)
        if len(stream) < head:
            return None
        payload = self._payload_bytes(stream[0], stream)
        length = head + payload + -payload % g.bus_bytes
        return length if len(stream) >= length else None

    def _payload_bytes(self, opcode, stream):
        """Bytes that follow a command."""
        return _PAYLOADS[opcode](self, COMMANDS[opcode].unpack(stream)) if opcode in _PAYLOADS else 0

    def _command(self, data):
        g = self.geometry
        opcode = data[0]
        if self.halted:
            self.halted = opcode != Opcode.RESET
            return
        if not self._execute(opcode, data, data[max(COMMAND_BYTES, g.bus_bytes) :]):
            self._refuse(data)

    def _refuse(self, data):
        self._error(ErrorCode.COMMAND, int.from_bytes(data[:8], "little"), 0)

    def _execute(self, opcode, data, payload):
        """Whether there is such a command, and it is executed."""
        command = COMMANDS[opcode].unpack(data) if opcode in COMMANDS else None
        if command is None or not self._in_range(opcode, command):
            return False
        return getattr(self, _EXECUTE[opcode].__name__)(command, payload) is not False

    def _in_range(self, opcode, command):
        """Whether every slot and cell exists that a command names."""
        limits = {"slot": self.geometry.slots, "cell": self.geometry.max_cells}
        return all(
            command[name] < limits[kind] or (optional and command[name] == NONE)
            for name, kind, optional in references(opcode)
        )

    def _records_bytes(self, command):
        in_memory = command["flags"] & CommandFlag.MEMORY
        return 0 if in_memory else int(command["count"]) * record_layout(self.cells_in_use).size

    def _load_bytes(self, command):
        return int(command["address"]) % self.geometry.bus_bytes + int(command["count"])

    def _statistics_bytes(self, command):
        g = self.geometry
        if command["cell"] == NONE:
            return Layout("entry", *reports.entry_body(g)).size
        return 4 * g.bins * g.classes

    def _fence(self, command, payload):
        self._report(reports.FENCE, kind=Kind.FENCE, token=command["token"])

    def _load(self, command, payload):
        """False if it is refused."""
        address, count = int(command["address"]), int(command["count"])
        return self.memory.write(address, payload[address % self.geometry.bus_bytes :][:count])

    def _nothing(self, command, payload):
        """RESET of a board that has not halted."""

    def _error(self, code, address, count):
        self._report(reports.ERROR, kind=Kind.ERROR, flags=code, address=address, count=count)
        self.halted = True

    def _report(self, layout, **values):
        self._reports.append(layout.pack(**values))

    # LEARN

    def _learn(self, command, payload):
        layout = record_layout(self.cells_in_use)
        for i in range(int(command["count"])):
            if command["flags"] & CommandFlag.MEMORY:
                try:
                    data = self.memory.read(int(command["address"]) + i * layout.size, layout.size)
                except BusError as error:
                    self._error(error.code, error.address, i)
                    return
            else:
                data = payload[i * layout.size :]
            self._record(layout.unpack(data))

    def _record(self, record):
        g = self.geometry
        slot, label = int(record["slot"]), int(record["label"])
        if g.long_labels:
            label |= int(record["flags"]) >> LABEL_HIGH << 8
        if slot >= g.slots or label >= g.classes:
            self.events["bad_records"] += 1
            return
        minus = bool(record["flags"] & RecordFlag.MINUS)
        codes = [int(code) for code in record["codes"]]
        if self.fields["report.predictions"]:
            self._predict(slot, codes)
        if record["flags"] & RecordFlag.TEST:
            self._only_read(slot, label, codes)
            return
        self.events["records"] += 1
        self._count_path(slot, label, minus, codes)

    def _count_path(self, slot, label, minus, codes, weight=1, waits=True):
        """Count an instance at its slot and at all that links lead to, as often as it weighs; trials come behind."""
        for left in reversed(range(max(1, weight))):
            at = slot
            for step in range(PATH_LIMIT):
                if weight:
                    self._count(at, label, minus, codes)
                else:
                    self._only_read(at, label, codes)
                if not left and self._due(self.entries[at], minus, weight):
                    self._come_due(at)
                if waits and not left and not step:
                    self._wait(slot, minus, weight)
                at = self.entries[at].link
                if at == NONE:
                    break

    def _come_due(self, slot):
        self._trial(slot, requested=False)

    def _wait(self, slot, minus, weight):
        """An instance's own slot has counted it."""

    # Naive Bayes

    def _predict(self, slot, codes):
        """Report a record's naive Bayes prediction from the statistics of its slot."""
        g = self.geometry
        scores = self._scores(slot, codes)
        told = {"label": scores.index(max(scores))}  # ties go to the lower class
        if not g.long_labels:
            told["slot"] = slot
        if self.fields["report.predictions"] == 1:
            self._report(reports.prediction_layout(g), kind=Kind.PREDICTION, **told)
        else:
            self._report(reports.scores_layout(g), kind=Kind.SCORES, **told, scores=scores)
        self.events["predictions"] += 1

    # Trials

    def _requested_trial(self, command, payload):
        self._trial(int(command["slot"]), requested=True)

    def _trial(self, slot, requested):
        g = self.geometry
        entry = self.entries[slot]
        candidates = self._candidates(slot)
        flags = (
            SuggestionFlag.HALVED * entry.halved
            | SuggestionFlag.UNDERFLOW * entry.underflow
            | SuggestionFlag.INNER * entry.inner
            | SuggestionFlag.REQUESTED * requested
        )
        head = {"flags": flags, "slot": slot, "n": entry.n, "class_counts": entry.class_counts}
        if self.fields["report.all"]:
            data = b"".join(reports.CANDIDATE.pack(**_shown(candidate)) for candidate in candidates)
            self._report(
                reports.gains_layout(g, self.cells_in_use),
                kind=Kind.GAINS,
                **head,
                candidates=np.frombuffer(data, "<u4"),
            )
        else:
            best, second, current = top(candidates, entry.current)
            named = {
                f"{name}_{key}": value
                for name, candidate in (("best", best), ("second", second), ("current", current))
                for key, value in _shown(candidate).items()
            }
            self._report(
                reports.suggestion_layout(g), kind=Kind.SUGGESTION, **head, **named, left=best.left or [0] * g.classes
            )
        entry.since = 0
        entry.halved = entry.underflow = False
        self.events["trials"] += 1

    # Slots

    def _clear_command(self, command, payload):
        self._clear(int(command["slot"]))

    def _place(self, command, payload):
        slot = int(command["slot"])
        if command["flags"] & CommandFlag.KEEP and command["cell"] != NONE:
            self.zoom[slot][int(command["cell"])] = (int(command["lo"]), int(command["shift"]) & 7)
            return
        if not command["flags"] & CommandFlag.KEEP:
            zoom = list(self.zoom[int(command["parent"])])
            self._clear(slot)
            if command["cell"] != NONE:
                zoom[int(command["cell"])] = (int(command["lo"]), int(command["shift"]) & 7)
            self.zoom[slot] = zoom
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
            tried = {"tried": entry.tried_at} if g.nodes else {}
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
                class_counts=entry.class_counts,
                **tried,
            )
        else:
            counts = [count for bin_ in self.counts[slot][cell] for count in bin_]
            self._report(reports.statistics_layout(g), kind=Kind.STATISTICS, slot=slot, cell=cell, counts=counts)

    def _write(self, command, payload):
        g = self.geometry
        slot, cell = int(command["slot"]), int(command["cell"])
        if cell == NONE:
            entry = Layout("entry", *reports.entry_body(g)).unpack(payload)
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
            )
        else:
            words = [int.from_bytes(payload[i : i + 4], "little") for i in range(0, len(payload), 4)]
            for index in range(g.bins):
                row = words[index * g.classes : (index + 1) * g.classes]
                self.counts[slot][cell][index] = [count & g.count_max for count in row]


def _shown(candidate):
    """The fields of a candidate, None or one that is not valid among them, as reports have them."""
    known = candidate if candidate is not None and candidate.valid else Candidate()
    return {field.name: getattr(known, field.name) for field in reports.CANDIDATE.fields}


# By opcode: what executes it, with the command and what follows it; and how many bytes follow it.
_EXECUTE = complete(
    Opcode,
    {
        Opcode.LEARN: Golden._learn,
        Opcode.TRIAL: Golden._requested_trial,
        Opcode.CLEAR: Golden._clear_command,
        Opcode.PLACE: Golden._place,
        Opcode.READ: Golden._read,
        Opcode.WRITE: Golden._write,
        Opcode.FENCE: Golden._fence,
        Opcode.RESET: Golden._nothing,
        Opcode.LOAD: Golden._load,
    },
    __file__,
)
_PAYLOADS = complete(
    WITH_PAYLOAD,
    {Opcode.LEARN: Golden._records_bytes, Opcode.WRITE: Golden._statistics_bytes, Opcode.LOAD: Golden._load_bytes},
    __file__,
)
