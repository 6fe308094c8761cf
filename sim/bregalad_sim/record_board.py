"""The engine behind commands: a fast device for tests of the driver, where the golden model takes too long."""

import numpy as np
from bregalad.boards.base import BoardError
from bregalad.boards.device import Device, check_memory_size
from bregalad.boards.engine import Engine
from bregalad.compiled import njit
from bregalad.engine import statistics
from bregalad.engine.statistics import state as columns
from bregalad.geometry import NONE
from bregalad.protocol.commands import (
    COMMAND_BYTES,
    COMMANDS,
    LABEL_HIGH,
    CommandFlag,
    Opcode,
    RecordFlag,
    record_layout,
)
from bregalad.protocol.layout import Layout
from bregalad.protocol.registers import CONFIGURATION, EVENTS, Access, identity_fields
from bregalad.protocol.reports import CANDIDATE, Kind, SuggestionFlag, entry_body, layout_of
from bregalad.tree import edits

__all__ = ["RecordBoard"]

_MINUS, _TEST = int(RecordFlag.MINUS), int(RecordFlag.TEST)


@njit(nogil=True)
def _count(state, slots, labels, flags, codes, where, classes, neighbours, predicts, found, scores):
    """Predict records, if that is asked for, and count them; as `Golden` does, but for trials of its own."""
    held, entries, shape = statistics.slots_of(state), state.entries, state.counts.shape
    own, places = state.codes[: len(where)], state.places[: len(where)]
    mix, beats = statistics.mixture(state.config, len(where)), (len(where) + state.lanes - 1) // state.lanes
    for i in range(len(slots)):
        rows = statistics.gather(mix, shape, codes, i * len(where), where, own, places)
        slot = np.int64(slots[i])
        if predicts:
            statistics.locate(held, mix, np.uint32(slot), own, places)
            found[i] = statistics.classify(held, mix, neighbours, classes, slot, places)
            scores[i, :classes] = state.scores[:classes]
            state.events[columns.PREDICTED] += 1
        if flags[i] & _TEST:
            state.events[columns.NODES] += 1
            state.events[columns.BEATS] += beats
            continue
        minus = flags[i] & _MINUS != 0
        state.events[columns.RECORDS] += 1
        while slot != NONE:
            statistics.locate(held, mix, np.uint32(slot), own, places)
            if minus:
                statistics.take_off(entries, slot, labels[i])
            else:
                if entries[slot, columns.N] == state.count_max:
                    statistics.halve(entries, shape, state.counters, state.events, slot)
                entries[slot, columns.N] += 1
                entries[slot, columns.SINCE] = (entries[slot, columns.SINCE] + 1) & 0xFFFFFF
                k = columns.COUNTS + labels[i]
                entries[slot, k] = (entries[slot, k] + 1) & state.count_max
            limit, step = (0, -1) if minus else (state.count_max, 1)
            state.events[columns.CLAMPED] += statistics.count_places(held, limit, step, slot, labels[i], places, rows)
            state.events[columns.NODES] += 1
            state.events[columns.BEATS] += beats
            slot = entries[slot, columns.LINK]


@njit()
def _attempt(state, slot, cells, classes, all_gains, out):
    return statistics.attempt(state, slot, cells, classes, all_gains, out)


@njit()
def _obey(state, changes):
    statistics.obey(statistics.slots_of(state), changes, len(changes))


class RecordBoard(Device):
    """A board without a node table, whose driver says when slots are tried; what it is sent must be right.

    Parameters
    ----------
    geometry : Geometry
    memory_size : int
        Bytes of the memory that LEARN may fetch records from.
    """

    name = "records"

    def __init__(self, geometry, memory_size=0):
        super().__init__(geometry)
        check_memory_size(geometry, memory_size)
        self.engine = Engine(geometry)
        self.memory_size = memory_size
        self._memory = np.zeros(memory_size, np.uint8)
        self._fields = {f"{r.name}.{field.name}": field.reset for r in CONFIGURATION for field in r.fields}
        self._fixed = identity_fields(geometry) | {"ram.bytes": memory_size}
        self._pending, self._reports = b"", b""

    # Registers

    def counters(self):
        return self.engine.counters()

    def _read_register(self, register):
        if register.name in EVENTS:
            return self.engine.counters()[register.name]
        found = self._fixed | self._fields
        return sum(found.get(f"{register.name}.{field.name}", 0) << lsb for field, lsb in register.layout())

    def _write_register(self, register, value):
        taken, state = register.taken(value, self.geometry), self.engine.state
        for field in register.fields:
            if field.access is Access.RW:
                self._fields[f"{register.name}.{field.name}"] = taken[field.name]
        if register.name == "control" and taken["clear"]:
            state.events[:] = 0
        elif register.name == "cell" and taken["write"]:
            state.config[:, taken["index"]] = [taken[name] for name in ("kind", "first", "other", "base")]

    @property
    def _cells(self):
        return self._fields["cells.count"]

    # Commands and reports

    def load(self, address, data):
        data = self._to_load(address, data)
        self._memory[address : address + data.size] = data

    def receive(self, wait=False):
        if wait and not self._reports:
            raise BoardError("no report can come, since all commands are done")
        found, self._reports = self._reports, b""
        return found

    def send(self, data):
        data = self._pending + self._words(data).tobytes()
        at, head = 0, max(COMMAND_BYTES, self.geometry.bus_bytes)
        while len(data) - at >= head:
            opcode = Opcode(data[at])
            values = COMMANDS[opcode].unpack(data[at:])
            size = self._payload(opcode, values)
            end = at + head + size + -size % self.geometry.bus_bytes
            if end > len(data):
                break
            getattr(self, f"_{opcode.name.lower()}")(values, data[at + head : at + head + size])
            at = end
        self._pending = data[at:]

    def _payload(self, opcode, values):
        """Bytes that follow a command."""
        if opcode is Opcode.LEARN and not values["flags"] & CommandFlag.MEMORY:
            return int(values["count"]) * record_layout(self._cells).size
        if opcode is Opcode.WRITE:
            entry = Layout("entry", *entry_body(self.geometry)).size
            return entry if values["cell"] == NONE else 4 * self.geometry.bins * self.geometry.classes
        return 0

    def _report(self, kind, count=1, **values):
        rows = np.zeros(count, layout_of(kind, self.geometry, self._cells).dtype)
        rows["kind"] = kind
        for name, value in values.items():
            rows[name] = value
        self._reports += rows.tobytes()

    def _learn(self, values, payload):
        layout, count = record_layout(self._cells), int(values["count"])
        if values["flags"] & CommandFlag.MEMORY:
            address = int(values["address"])
            payload = self._memory[address : address + count * layout.size].tobytes()
        records = np.frombuffer(payload, layout.dtype)
        labels, flags = records["label"].astype(np.int64), records["flags"].astype(np.int64)
        if self.geometry.long_labels:
            labels |= flags >> LABEL_HIGH << 8
        asked = self._fields["report.predictions"]
        found = np.zeros(count, np.int64)
        scores = np.full((count, self.geometry.classes), -(1 << 31), np.int64)
        _count(
            self.engine.state,
            records["slot"].astype(np.int64),
            labels,
            flags,
            np.ascontiguousarray(records["codes"]).reshape(-1),
            np.arange(self._cells),
            min(self._fields["classes.count"], self.geometry.classes),
            self._fields["report.neighbours"],
            asked > 0,
            found,
            scores,
        )
        slots = {} if self.geometry.long_labels else {"slot": records["slot"]}
        if asked == 1:
            self._report(Kind.PREDICTION, count, label=found, **slots)
        elif asked:
            self._report(Kind.SCORES, count, label=found, scores=scores, **slots)

    def _trial(self, values, payload):
        classes, gains_of_all = self.geometry.classes, self._fields["report.all"]
        state, slot, places = self.engine.state, int(values["slot"]), self._cells if gains_of_all else 3
        n, out = state.entries[slot, columns.N], np.zeros(classes + 3 * places, np.int64)
        flags = int(state.entries[slot, columns.FLAGS]) | SuggestionFlag.REQUESTED
        used = min(self._fields["classes.count"], classes)
        _attempt(state, slot, self._cells, used, 1 if gains_of_all else None, out)
        found = np.zeros(places, CANDIDATE.dtype)
        cell, found["value"], found["gain"] = out[classes:].reshape(-1, 3).T
        found["cell"], found["valid"] = np.where(cell < 0, NONE, cell), cell >= 0
        known = {"slot": slot, "flags": flags, "n": n, "class_counts": out[:classes]}
        if gains_of_all:
            self._report(Kind.GAINS, **known, candidates=found.view(np.uint32))
            return
        top = {
            f"{name}_{field}": candidate[field]
            for name, candidate in zip(("best", "second", "current"), found, strict=True)
            for field in CANDIDATE.dtype.names
        }
        self._report(Kind.SUGGESTION, **known, **top)  # nobody looks at the class counts of the left side

    def _clear(self, values, payload):
        self._edit(edits.CLEAR, values, 0)

    def _place(self, values, payload):
        flags = int(values["flags"])
        self._edit(
            edits.PLACE,
            values,
            edits.KEEP * (flags & CommandFlag.KEEP > 0) | edits.INNER * (flags & CommandFlag.INNER > 0),
        )

    def _edit(self, what, values, flags):
        row = [what, flags]
        row += [
            int(values[name]) if name in values.dtype.names else 0
            for name in ("slot", "parent", "cell", "lo", "shift", "link", "current")
        ]
        _obey(self.engine.state, np.array([row], np.int64))

    def _read(self, values, payload):
        state, slot, cell = self.engine.state, int(values["slot"]), int(values["cell"])
        if cell == NONE:
            entry = np.zeros(1, Layout("entry", *entry_body(self.geometry)).dtype)
            statistics.read_entries(state, np.array([slot]), entry)
            self._report(Kind.ENTRY, slot=slot, **{name: entry[name][0] for name in entry.dtype.names})
        else:
            self._report(Kind.STATISTICS, slot=slot, cell=cell, counts=state.counts[slot, :, :, cell].reshape(-1))

    def _write(self, values, payload):
        state, slot, cell = self.engine.state, int(values["slot"]), int(values["cell"])
        if cell == NONE:
            extent = state.entries[slot, columns.EXTENT]
            statistics.write_entries(
                state, np.array([slot]), np.frombuffer(payload, Layout("entry", *entry_body(self.geometry)).dtype)
            )
            state.entries[slot, columns.EXTENT] = extent
            return
        state.counts[slot, :, :, cell] = np.frombuffer(payload, np.uint32).reshape(self.geometry.bins, -1)
        state.entries[slot, columns.EXTENT], state.entries[slot, columns.TERMS] = self.geometry.bins, 0

    def _fence(self, values, payload):
        self._report(Kind.FENCE, token=values["token"])

    def _reset(self, values, payload):
        pass
