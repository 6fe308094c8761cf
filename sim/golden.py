"""Golden model: the command stream in plain integers.

What this file does with a command is what every board does, bit for bit. It is written to be read,
not to be fast; ``host/boards/emulated.py`` is the same, compiled.
"""

from dataclasses import dataclass, field

from ..fixed import (
    BAYES_UNIT,
    UNUSED_CLASS,
    bayes_log2,
    classification_error,
    gini,
    kearns_mansour,
    xlog2x,
)
from ..geometry import CRITERIA, MISSING, NONE
from ..protocol import reports
from ..protocol.commands import COMMANDS, CommandFlag, Opcode, RecordFlag, record_layout
from ..protocol.registers import EVENTS, MAGIC, VERSION, Access, CellKind, find
from ..protocol.reports import EntryFlag, ErrorCode, Kind, SuggestionFlag

__all__ = ["Golden", "PATH_LIMIT"]

PATH_LIMIT = 256  # nodes that one record updates at most, should links ever form a ring


@dataclass
class Cell:
    """Run-time configuration of one cell."""

    kind: int = CellKind.IGNORED
    first: int = 1
    other: int = 0
    base: int = 0


@dataclass
class Entry:
    """A slot's row of the slot table."""

    class_counts: list
    n: int = 0
    since: int = 0
    link: int = NONE
    current: int = NONE
    inner: bool = False
    halved: bool = False
    underflow: bool = False
    period: int = 0


@dataclass
class Candidate:
    """An attribute's best split at a slot."""

    cell: int = NONE
    value: int = 0
    gain: int = 0
    left: list = field(default_factory=list)

    @property
    def valid(self):
        return self.cell != NONE


class BusError(Exception):
    """A bus word that the memory does not answer."""

    def __init__(self, address, code):
        super().__init__(f"bus error {code!r} at {address:#x}")
        self.address = address
        self.code = code


class Memory:
    """Bytes that descriptors point to; ``faults`` maps bus word addresses to error codes.

    Words outside ``size`` bytes answer DECERR.
    """

    def __init__(self, size, bus_bytes):
        self.data = bytearray(size)
        self.bus_bytes = bus_bytes
        self.faults = {}

    def read(self, address, length):
        """``length`` bytes; BusError with the first failing bus word's address."""
        first = address - address % self.bus_bytes
        for word in range(first, address + length, self.bus_bytes):
            if word in self.faults:
                raise BusError(word, self.faults[word])
            if word + self.bus_bytes > len(self.data):
                raise BusError(word, ErrorCode.DECODE)
        return bytes(self.data[address:address + length])


class Golden:
    """A board as a model: commands in, reports out.

    Parameters
    ----------
    geometry : Geometry
    memory_size : int
        Bytes of the memory that LEARN may fetch records from.

    Source: design, sections 3 to 6.
    """

    def __init__(self, geometry, memory_size=0):
        self.geometry = g = geometry
        self.memory = Memory(memory_size, g.bus_bytes)
        self.fields = {}  # run-time configuration
        for name in ("cells", "classes", "report", "grace", "inner_grace", "cell"):
            for reg_field in find(name).fields:
                self.fields[f"{name}.{reg_field.name}"] = reg_field.reset
        self.cells = [Cell() for _ in range(g.max_cells)]
        self.entries = [self._entry() for _ in range(g.slots)]
        # counts[slot][cell][bin][class], zoom[slot][cell] = (lo, shift)
        self.counts = [[self._bins() for _ in range(g.max_cells)] for _ in range(g.slots)]
        self.zoom = [[(0, g.root_shift)] * g.max_cells for _ in range(g.slots)]
        self.events = dict.fromkeys(EVENTS, 0)
        self.halted = False
        self._pending = b""  # the beginning of a command whose rest is not there yet
        self._reports = []

    # Registers

    def read_register(self, name):
        """The 32-bit value of a register; counters of clocks read 0."""
        g = self.geometry
        fixed = {
            "identity.magic": MAGIC, "build.version": VERSION,
            "build.criterion": CRITERIA.index(g.criterion), "build.naive_bayes": g.naive_bayes,
            "build.count_width": g.count_width, "build.classes": g.classes,
            "size.lanes": g.lanes, "size.passes": g.passes, "memory.slots": g.slots,
            "memory.bins": g.bins, "memory.bus_bytes": g.bus_bytes,
            "status.halted": int(self.halted), "status.busy": 0,
            **{f"{name}.count": count & 0xFFFFFFFF for name, count in self.events.items()},
        }
        value = 0
        for reg_field, lsb in find(name).layout():
            full = f"{name}.{reg_field.name}"
            value |= fixed.get(full, self.fields.get(full, 0)) << lsb
        return value

    def write_register(self, name, value):
        """Write a register; allowed between commands only."""
        for reg_field, lsb in find(name).layout():
            bits = (value >> lsb) & ((1 << reg_field.width) - 1)
            if reg_field.access is Access.RW:
                self.fields[f"{name}.{reg_field.name}"] = bits
            elif reg_field.access is Access.PULSE and bits:
                if name == "control":
                    self.events = dict.fromkeys(EVENTS, 0)
                elif name == "cell" and self.fields["cell.index"] < self.geometry.max_cells:
                    self.cells[self.fields["cell.index"]] = Cell(
                        self.fields["cell.kind"], self.fields["cell.first"],
                        self.fields["cell.other"], self.fields["cell.base"])

    @property
    def cells_in_use(self):
        """d: codes of a record."""
        return self.fields["cells.count"]

    # Commands

    def execute(self, data):
        """Execute the commands in ``data`` (bytes); return the reports (bytes).

        A command that ``data`` holds only the beginning of waits for the next call.
        """
        stream = self._pending + bytes(data)
        at = 0
        while (length := self._command_length(stream[at:])) is not None:
            self._command(stream[at:at + length])
            at += length
        self._pending = stream[at:]
        answer, self._reports = b"".join(self._reports), []
        return answer

    def _command_length(self, stream):
        """Bytes of the command that ``stream`` begins with, None if it is not all there."""
        g = self.geometry
        head = max(16, g.bus_bytes)
        if len(stream) < head:
            return None
        payload = 0
        if stream[0] == Opcode.LEARN and not stream[1] & CommandFlag.MEMORY:
            count = int(COMMANDS[Opcode.LEARN].unpack(stream)["count"])
            payload = count * record_layout(self.cells_in_use).size
        elif stream[0] == Opcode.WRITE:
            cell = int(COMMANDS[Opcode.WRITE].unpack(stream)["cell"])
            payload = 4 * (4 + g.classes if cell == NONE else g.bins * g.classes)
        length = head + payload + -payload % g.bus_bytes
        return length if len(stream) >= length else None

    def _command(self, data):
        g = self.geometry
        opcode = data[0]
        if self.halted:
            self.halted = opcode != Opcode.RESET
            return
        if opcode not in COMMANDS:
            self._error(ErrorCode.COMMAND, int.from_bytes(data[:8], "little"), 0)
            return
        command = COMMANDS[Opcode(opcode)].unpack(data)
        payload = data[max(16, g.bus_bytes):]
        names = command.dtype.names
        slots = [int(command[name]) for name in ("slot", "parent", "link")
                 if name in names and (name != "link" or command[name] != NONE)]
        cells = [int(command[name]) for name in ("cell", "current")
                 if name in names and command[name] != NONE]
        if max(slots, default=0) >= g.slots or max(cells, default=0) >= g.max_cells:
            self._error(ErrorCode.COMMAND, int.from_bytes(data[:8], "little"), 0)
            return
        match Opcode(opcode):
            case Opcode.LEARN:
                self._learn(command, payload)
            case Opcode.TRIAL:
                self._trial(slots[0], requested=True)
            case Opcode.CLEAR:
                self._clear(slots[0])
            case Opcode.PLACE:
                self._place(command)
            case Opcode.READ:
                self._read(slots[0], int(command["cell"]))
            case Opcode.WRITE:
                self._write(slots[0], int(command["cell"]), payload)
            case Opcode.FENCE:
                self._report(reports.FENCE, kind=Kind.FENCE, token=command["token"])
            case Opcode.RESET:
                pass

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
                data = payload[i * layout.size:]
            self._record(layout.unpack(data))

    def _record(self, record):
        g = self.geometry
        slot, label = int(record["slot"]), int(record["label"])
        if slot >= g.slots or label >= g.classes:
            self.events["bad_records"] += 1
            return
        minus = bool(record["flags"] & RecordFlag.MINUS)
        codes = [int(code) for code in record["codes"]]
        if g.naive_bayes and self.fields["report.predictions"]:
            self._predict(slot, codes)
        if record["flags"] & RecordFlag.TEST:
            self.events["nodes"] += 1
            self.events["beats"] += g.passes_for(len(codes))
            return
        self.events["records"] += 1
        for _ in range(PATH_LIMIT):
            self._count(slot, label, minus, codes)
            slot = self.entries[slot].link
            if slot == NONE:
                break

    def _count(self, slot, label, minus, codes):
        """Update one node with an instance; try it if its grace period is over."""
        g = self.geometry
        entry = self.entries[slot]
        if not minus:
            if entry.n == g.count_max:
                self._halve(slot)
            entry.n += 1
            entry.class_counts[label] = (entry.class_counts[label] + 1) & g.count_max
            entry.since = (entry.since + 1) & 0xFFFFFF
        elif entry.class_counts[label] and entry.n:
            entry.n -= 1
            entry.class_counts[label] -= 1
        else:
            entry.underflow = True
        for first in range(0, len(codes), g.lanes):
            beat = range(first, min(first + g.lanes, len(codes)))
            stuck = [self._count_cell(slot, cell, codes[cell], label, minus) for cell in beat]
            self.events["clamped"] += any(stuck)
            self.events["beats"] += 1
        self.events["nodes"] += 1
        period = entry.period or self.fields[
            "inner_grace.inner" if entry.inner else "grace.leaf"]
        if not minus and period and entry.since >= period:
            self._trial(slot, requested=False)

    def _count_cell(self, slot, cell, code, label, minus):
        """Count one code; True if the counter could not move."""
        index = self._bin(slot, cell, code)
        if index is None:
            return False
        counts = self.counts[slot][cell][index]
        limit = 0 if minus else self.geometry.count_max
        if counts[label] == limit:
            return True
        counts[label] += -1 if minus else 1
        return False

    def _bin(self, slot, cell, code):
        """The bin that counts a code, None if it is not counted."""
        config = self.cells[cell]
        last = self.geometry.bins - 1
        if code == MISSING or config.kind == CellKind.IGNORED:
            return None
        if config.kind == CellKind.NUMERIC:
            lo, shift = self.zoom[slot][cell]
            return min(max(code - lo, 0) >> shift, last)
        value = code - config.base
        if 0 <= value <= (last - 1 if config.other else last):
            return value
        return last if config.other else None

    # Naive Bayes

    def _predict(self, slot, codes):
        """Report a record's naive Bayes prediction from the statistics of its slot."""
        g = self.geometry
        scores = self._scores(slot, codes)
        label = scores.index(max(scores))  # ties go to the lower class
        if self.fields["report.predictions"] == 1:
            self._report(reports.PREDICTION, kind=Kind.PREDICTION, label=label, slot=slot)
        else:
            self._report(reports.scores_layout(g), kind=Kind.SCORES, label=label, slot=slot,
                         scores=scores)
        self.events["predictions"] += 1

    def _scores(self, slot, codes):
        """Log2 of every class's share up to what all have in common."""
        g = self.geometry
        class_counts = self.entries[slot].class_counts
        scores = []
        for k in range(g.classes):
            if k >= self.fields["classes.count"] or not class_counts[k]:
                scores.append(UNUSED_CLASS)
                continue
            # The shares' common factor 1 / BAYES_UNIT is left out.
            score = bayes_log2(class_counts[k])
            seen = bayes_log2(class_counts[k] + 1)
            for cell, code in enumerate(codes):
                index = self._own_bin(slot, cell, code)
                if index is not None:
                    count = self.counts[slot][cell][index][k]
                    score += bayes_log2(BAYES_UNIT * count + 1) - seen
            scores.append(score)
        return scores

    def _own_bin(self, slot, cell, code):
        """The bin of a code, None if its value is missing or counted by another cell."""
        index = self._bin(slot, cell, code)
        config = self.cells[cell]
        shared = config.other and config.kind != CellKind.NUMERIC
        return None if shared and index == self.geometry.bins - 1 else index

    def _halve(self, slot):
        entry = self.entries[slot]
        entry.n >>= 1
        entry.class_counts = [count >> 1 for count in entry.class_counts]
        entry.halved = True
        for bins in self.counts[slot]:
            for counts in bins:
                counts[:] = [count >> 1 for count in counts]
        self.events["halvings"] += 1

    # Trials

    def _trial(self, slot, requested):
        g = self.geometry
        entry = self.entries[slot]
        candidates = self._candidates(slot)
        flags = (SuggestionFlag.HALVED * entry.halved | SuggestionFlag.UNDERFLOW * entry.underflow
                 | SuggestionFlag.INNER * entry.inner | SuggestionFlag.REQUESTED * requested)
        head = {"flags": flags, "slot": slot, "n": entry.n, "class_counts": entry.class_counts}
        if self.fields["report.all"]:
            words = []
            for candidate in candidates:
                valid = candidate is not None and candidate.valid
                gain = candidate.gain & (1 << 64) - 1 if valid else 0
                cell, value = (candidate.cell, candidate.value) if valid else (NONE, 0)
                words += [cell | value << 16 | valid << 24, gain & 0xFFFFFFFF, gain >> 32]
            self._report(reports.gains_layout(g, self.cells_in_use), kind=Kind.GAINS, **head,
                         candidates=words)
        else:
            best, second, current = self._top(candidates, entry.current)
            named = {f"{name}_{key}": getattr(candidate, key)
                     for name, candidate in (("best", best), ("second", second),
                                             ("current", current))
                     for key in ("cell", "value", "valid", "gain")}
            self._report(reports.suggestion_layout(g), kind=Kind.SUGGESTION, **head, **named,
                         left=best.left or [0] * g.classes)
        entry.since = 0
        entry.halved = entry.underflow = False
        self.events["trials"] += 1

    def _candidates(self, slot):
        """Per cell in use: an attribute's candidate at its last cell, None elsewhere."""
        found = []
        for cell in range(self.cells_in_use):
            config = self.cells[cell]
            part = self._gain(slot, cell)
            continued = not config.first and config.kind != CellKind.IGNORED
            if continued and found:
                group = found[-1]
                found[-1] = None
                if config.kind == CellKind.MULTIWAY:
                    group.gain = self._wrap(group.gain + part.gain)
                elif part.gain > group.gain:
                    part.cell = group.cell
                    group = part
                found.append(group)
            else:
                found.append(part)
        return found

    @staticmethod
    def _top(candidates, current_cell):
        """Best, second best and the current split attribute; ties go to the lower cell."""
        best, second, current = Candidate(), Candidate(), Candidate()
        for candidate in candidates:
            if candidate is None or not candidate.valid:
                continue
            if candidate.cell == current_cell:
                current = candidate
            if not best.valid or candidate.gain > best.gain:
                best, second = candidate, best
            elif not second.valid or candidate.gain > second.gain:
                second = candidate
        return best, second, current

    def _gain(self, slot, cell):
        """The best candidate of one cell (multiway: its share of the attribute's gain)."""
        g = self.geometry
        config = self.cells[cell]
        if config.kind == CellKind.IGNORED:
            return Candidate()
        classes = range(min(self.fields["classes.count"], g.classes))
        bins = self.counts[slot][cell]
        total = self._sum(bins, classes)
        own_values = bins[:-1] if config.other else bins
        if config.kind == CellKind.MULTIWAY:
            gain = self._impurity(total) if config.first else 0
            for counts in own_values:
                gain -= self._impurity([counts[k] for k in classes])
            return Candidate(cell, 0, self._wrap(gain), [0] * g.classes)
        best = None
        left = [0 for _ in classes]
        for value in range(g.bins - 1 if config.kind == CellKind.NUMERIC else len(own_values)):
            side = [bins[value][k] for k in classes]
            if config.kind == CellKind.NUMERIC:
                left = [(a + b) & g.count_max for a, b in zip(left, side, strict=True)]
            else:
                left = side
            right = [(a - b) & g.count_max for a, b in zip(total, left, strict=True)]
            gain = self._wrap(self._impurity(total) - self._impurity(left) - self._impurity(right))
            if best is None or gain > best.gain:
                shown = value if config.kind == CellKind.NUMERIC else config.base + value & 0xFF
                best = Candidate(cell, shown, gain, left + [0] * (g.classes - len(left)))
        return best

    def _sum(self, bins, classes):
        return [sum(counts[k] for counts in bins) & self.geometry.count_max for k in classes]

    def _impurity(self, counts):
        """n times the impurity of the counts, by the criterion."""
        g = self.geometry
        match g.criterion:
            case "gini":
                return gini(counts, g.count_width)
            case "kearns_mansour":
                return kearns_mansour(*counts) if len(counts) == 2 else 0
            case "classification_error":
                return classification_error(counts, g.count_width)
        n = sum(counts) & g.count_max
        return xlog2x(n) - sum(xlog2x(count) for count in counts)

    def _wrap(self, gain):
        """Two's complement of ``gain_width`` bits; consistent counts never reach it."""
        half = 1 << self.geometry.gain_width - 1
        return (gain + half) % (2 * half) - half

    # Slots

    def _bins(self):
        return [[0] * self.geometry.classes for _ in range(self.geometry.bins)]

    def _entry(self):
        return Entry([0] * self.geometry.classes)

    def _clear(self, slot):
        g = self.geometry
        self.entries[slot] = self._entry()
        self.counts[slot] = [self._bins() for _ in range(g.max_cells)]
        self.zoom[slot] = [(0, g.root_shift)] * g.max_cells

    def _place(self, command):
        slot = int(command["slot"])
        if not command["flags"] & CommandFlag.KEEP:
            zoom = list(self.zoom[int(command["parent"])])
            self._clear(slot)
            if command["cell"] != NONE:
                zoom[int(command["cell"])] = (int(command["lo"]), int(command["shift"]) & 7)
            self.zoom[slot] = zoom
        entry = self.entries[slot]
        entry.since = 0
        entry.link = int(command["link"])
        entry.current = int(command["current"])
        entry.period = int(command["period"])
        entry.inner = bool(command["flags"] & CommandFlag.INNER)

    # READ and WRITE

    def _read(self, slot, cell):
        g = self.geometry
        if cell == NONE:
            entry = self.entries[slot]
            flags = (EntryFlag.HALVED * entry.halved | EntryFlag.UNDERFLOW * entry.underflow
                     | EntryFlag.INNER * entry.inner)
            self._report(reports.entry_layout(g), kind=Kind.ENTRY, slot=slot, n=entry.n,
                         since=entry.since, link=entry.link, current=entry.current,
                         entry_flags=flags, period=entry.period, class_counts=entry.class_counts)
        else:
            counts = [count for bin_ in self.counts[slot][cell] for count in bin_]
            self._report(reports.statistics_layout(g), kind=Kind.STATISTICS, slot=slot, cell=cell,
                         counts=counts)

    def _write(self, slot, cell, payload):
        g = self.geometry
        words = [int.from_bytes(payload[i:i + 4], "little") for i in range(0, len(payload), 4)]
        if cell == NONE:
            link, current, flags = words[2] & 0xFFFF, words[2] >> 16, words[3]
            self.entries[slot] = Entry(
                [count & g.count_max for count in words[4:4 + g.classes]],
                words[0] & g.count_max, words[1] & 0xFFFFFF,
                # A link or cell that does not exist is none.
                link if link < g.slots else NONE, current if current < g.max_cells else NONE,
                bool(flags & EntryFlag.INNER), bool(flags & EntryFlag.HALVED),
                bool(flags & EntryFlag.UNDERFLOW), words[3] >> 16)
        else:
            for index in range(g.bins):
                row = words[index * g.classes:(index + 1) * g.classes]
                self.counts[slot][cell][index] = [count & g.count_max for count in row]
