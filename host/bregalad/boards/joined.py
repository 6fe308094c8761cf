"""Several boards as one: each counts a share of the attributes, and a trial takes the best of all.

As in the vertical Hoeffding tree (Kourtellis et al., VHT: Vertical Hoeffding Tree, IEEE Big Data 2016), but exact:
a board gets of every record its own codes, and tells of a trial its best two attributes and the current one. Nobody
moves counts, but for the winner of a split, and where a code book changes.
"""

from collections import deque

import numpy as np

from ..geometry import NONE
from ..protocol.commands import COMMAND_BYTES, COMMANDS, RECORD_HEADER, CommandFlag, Opcode, pack_command
from ..protocol.layout import Layout
from ..protocol.registers import EVENTS, identity_fields
from ..protocol.reports import CANDIDATE, Kind, entry_body, layout_of
from .base import Board

__all__ = ["JoinedBoard"]

_SAME = ("bins", "classes", "slots", "count_width", "criterion")  # of all boards
_ALONE = (Kind.STATISTICS, Kind.ENTRY)  # what one board reports, not all


class JoinedBoard(Board):
    """Boards that share the attributes of one tree, as one board; without naive Bayes, and without memory.

    Parameters
    ----------
    boards : list of Board
        Of the same bins, classes, slots, count_width and criterion. They are closed with this one.

    Members
    -------
    sent, received : list of int
        Bytes of commands to each board, and of reports from it.

    Raises
    ------
    ValueError
        If there is none, or they differ.
    """

    name = "joined"

    def __init__(self, boards):
        boards = list(boards)
        if not boards:
            raise ValueError("there must be 1 board at least to join")
        first = boards[0].geometry
        for number, board in enumerate(boards):
            if board.geometry.nodes:
                raise ValueError(f"board {number} ({board.name}) holds a tree itself: choose a geometry with nodes=0")
            for name in _SAME:
                if (found := getattr(board.geometry, name)) != (wanted := getattr(first, name)):
                    raise ValueError(
                        f"board {number} ({board.name}) has {name} = {found}, board 0 ({boards[0].name}) {wanted}: "
                        "boards that are joined must have the same"
                    )
        super().__init__(
            first.replace(
                lanes=sum(board.geometry.lanes for board in boards),
                passes=min(board.geometry.passes for board in boards),
                naive_bayes=False,
                levels=1,
                banks=1,
            )
        )
        self.boards = boards
        self.sent, self.received = [0] * len(boards), [0] * len(boards)
        self._fixed = identity_fields(self.geometry) | {"ram.bytes": 0}
        self._pending = b""
        self._count, self._cells = 1, {}  # cells in use, and how they are configured
        self._bounds = [0] * len(boards) + [1]  # the first cell of each board, and the end
        self._used = range(len(boards))
        self._heads = [deque() for _ in boards]  # reports that wait for those of the other boards
        self._alone = deque()  # boards that shall report something alone, in order
        self._current = {}  # by slot, the cell that it was told as its current one
        self._body = Layout("entry", *entry_body(self.geometry)).dtype
        self._entry = self._body.itemsize
        self._statistics = 4 * self.geometry.bins * self.geometry.classes

    # Registers

    def _read_register(self, register):
        if register.name in EVENTS:  # each board has the same records; one has most beats
            return max(board.read_register(register.name) for board in self.boards)
        if register.name == "status":
            return max(board.read_register(register.name) for board in self.boards)
        if register.name == "cells":
            return self._count
        value = 0
        for field, lsb in register.layout():
            full = f"{register.name}.{field.name}"
            value |= (self._fixed[full] if full in self._fixed else self.boards[0].read(full)) << lsb
        return value

    def _write_register(self, register, value):
        if register.name == "cells":
            self._count, self._cells = value, {}
        elif register.name == "cell":
            fields = register.taken(value, self.geometry)
            if fields.pop("write"):
                self._cells[fields.pop("index")] = fields
            if len(self._cells) == self._count:
                self._divide()
        else:
            for board in self.boards:
                board.write_register(register.name, value)

    def _divide(self):
        """Give each board whole attributes, of about as many cells."""
        boards, count = self.boards, self._count
        firsts = [cell for cell in range(count) if self._cells[cell]["first"]] + [count]
        self._bounds, at = [0], 0
        for left in range(len(boards), 0, -1):
            wanted = firsts[at] + (count - firsts[at]) / left
            if at < len(firsts) - 1:
                at = min(range(at + 1, len(firsts)), key=lambda place, wanted=wanted: abs(firsts[place] - wanted))
            self._bounds.append(firsts[at])
        self._used = [number for number in range(len(boards)) if self._bounds[number] < self._bounds[number + 1]]
        for number in self._used:
            board, (start, end) = boards[number], self._bounds[number : number + 2]
            if end - start > board.geometry.max_cells:
                raise ValueError(
                    f"board {number} ({board.name}) has {board.geometry.max_cells} cells, its share of the attributes "
                    f"takes {end - start}: take boards of more cells, or more of them"
                )
            board.write("cells.count", end - start)
            for cell in range(start, end):
                board.write_fields("cell", index=cell - start, **self._cells[cell], write=1)

    def _place_of(self, cell):
        """The board that has a cell, and which one of its own that is."""
        number = next(number for number in self._used if cell < self._bounds[number + 1])
        return number, cell - self._bounds[number]

    # Commands

    def send(self, data):
        data = self._pending + self._words(data).tobytes()
        out = [[] for _ in self.boards]
        at = 0
        while size := self._size(data, at):
            self._pass_on(data[at : at + size], out)
            at += size
        self._pending = data[at:]
        for number, parts in enumerate(out):
            if parts:
                part = b"".join(parts)
                self.sent[number] += len(part)
                self.boards[number].send(part)

    def _size(self, data, at):
        """Bytes of a command with what follows it; 0 if it is not all there."""
        head = max(COMMAND_BYTES, self.geometry.bus_bytes)
        if len(data) - at < head:
            return 0
        opcode = data[at]
        payload = 0
        if opcode == Opcode.LEARN and not data[at + 1] & CommandFlag.MEMORY:
            payload = int(_unpacked(data[at:])["count"]) * (RECORD_HEADER.size + self._count)
        elif opcode == Opcode.WRITE:
            payload = self._entry if _unpacked(data[at:])["cell"] == NONE else self._statistics
        elif opcode not in COMMANDS or opcode == Opcode.LOAD or opcode == Opcode.LEARN and data[at + 1]:
            raise ValueError(f"boards that are joined take no command {opcode} with flags {data[at + 1]}")
        size = head + payload + -payload % self.geometry.bus_bytes
        return size if size <= len(data) - at else 0

    def _pass_on(self, command, out):
        """Add to ``out`` what each board gets of a command."""
        opcode = Opcode(command[0])
        found = _unpacked(command)
        names = [field.name for field in COMMANDS[opcode].fields if field.count is None]
        values = {name: int(found[name]) for name in names}
        flags = values.pop("flags")
        del values["opcode"]
        payload = command[max(COMMAND_BYTES, self.geometry.bus_bytes) :]
        own = [dict(values) for _ in self.boards]
        asked, payloads = self._used, [b""] * len(self.boards)
        if opcode is Opcode.LEARN:
            payloads = self._records(payload, values["count"])
        elif opcode is Opcode.PLACE and flags & CommandFlag.KEEP and values["cell"] != NONE:  # its zoom alone
            number, own_cell = self._place_of(values["cell"])
            asked, own[number]["cell"] = [number], own_cell
        elif opcode is Opcode.PLACE:
            self._current[values["slot"]] = values["current"]
            for number in self._used:
                own[number] |= {name: self._local(number, values[name]) for name in ("cell", "current")}
        elif opcode is Opcode.CLEAR:
            self._current[values["slot"]] = NONE
        elif opcode is Opcode.READ:
            number, cell = (self._used[0], NONE) if values["cell"] == NONE else self._place_of(values["cell"])
            asked, own[number]["cell"] = [number], cell
            self._alone.append(number)
        elif opcode is Opcode.WRITE and values["cell"] == NONE:
            for number in self._used:
                payloads[number] = self._entry_of(number, values["slot"], payload)
        elif opcode is Opcode.WRITE:
            number, own_cell = self._place_of(values["cell"])
            asked, own[number]["cell"], payloads[number] = [number], own_cell, payload[: self._statistics]
        for number in asked:
            geometry = self.boards[number].geometry
            out[number].append(pack_command(geometry, opcode, flags=flags, payload=payloads[number], **own[number]))

    def _local(self, number, cell):
        """A board's own number of a cell; NONE if it is another one's."""
        start, end = self._bounds[number : number + 2]
        return cell - start if start <= cell < end else NONE

    def _records(self, payload, count):
        head = RECORD_HEADER.size
        table = np.frombuffer(payload, np.uint8)[: count * (head + self._count)].reshape(count, head + self._count)
        parts = [b""] * len(self.boards)
        for number in self._used:
            start, end = self._bounds[number : number + 2]
            parts[number] = np.concatenate([table[:, :head], table[:, head + start : head + end]], axis=1).tobytes()
        return parts

    def _entry_of(self, number, slot, payload):
        """What a board is to have as a slot's entry."""
        body = np.frombuffer(payload[: self._entry], self._body).copy()
        self._current[slot] = int(body["current"][0])
        body["current"] = self._local(number, self._current[slot])
        return body.tobytes()

    # Reports

    def receive(self, wait=False):
        for number in self._used:
            self._take(number, False)
        found = b"".join(self._merged())
        while wait and not found:
            for number in self._silent():
                self._take(number, True)
            found = b"".join(self._merged())
        return found

    def _silent(self):
        """The boards whose next report all others wait for."""
        if self._alone and not self._heads[self._alone[0]]:
            return [self._alone[0]]
        return [number for number in self._used if not self._heads[number]]

    def _take(self, number, wait):
        board, (start, end) = self.boards[number], self._bounds[number : number + 2]
        data, at = board.receive(wait), 0
        self.received[number] += len(data)
        while at < len(data):
            kind = Kind(data[at])
            size = layout_of(kind, board.geometry, end - start).size
            self._heads[number].append((kind, data[at : at + size]))
            at += size

    def _merged(self):
        """Reports as one board makes them, as far as all boards have told their part."""
        heads = self._heads
        while True:
            if self._alone and heads[self._alone[0]] and heads[self._alone[0]][0][0] in _ALONE:
                number = self._alone.popleft()
                yield self._renumbered(number, *heads[number].popleft())
                continue
            first = [heads[number][0] if heads[number] else (None, b"") for number in self._used]
            kinds = {kind for kind, _ in first}
            if Kind.ERROR in kinds:  # a board has halted: the others may tell nothing
                number = next(n for n, (kind, _) in zip(self._used, first, strict=True) if kind is Kind.ERROR)
                yield heads[number].popleft()[1]
                continue
            if len(kinds) > 1 or None in kinds or kinds & set(_ALONE):
                return
            for number in self._used:
                heads[number].popleft()
            reports = [report for _, report in first]
            (kind,) = kinds
            if kind is Kind.SUGGESTION:
                yield self._best(reports)
            elif kind is Kind.GAINS:
                yield self._all_gains(reports)
            else:
                yield reports[0]

    def _renumbered(self, number, kind, report):
        """A report that one board makes, with the cells of all."""
        found = np.frombuffer(report, layout_of(kind, self.geometry, self._count).dtype).copy()
        if kind is Kind.STATISTICS:
            found["cell"] += self._bounds[number]
        else:
            found["current"] = self._current.get(int(found["slot"][0]), NONE)
        return found.tobytes()

    def _best(self, reports):
        """The SUGGESTION of all boards: the best two of theirs, ties to the lower cell."""
        layout = layout_of(Kind.SUGGESTION, self.geometry, self._count)
        told = [np.frombuffer(report, layout.dtype)[0] for report in reports]
        found = np.frombuffer(reports[0], layout.dtype).copy()
        candidates = []
        current = None
        for number, report in zip(self._used, told, strict=True):
            offset = self._bounds[number]
            for name in ("best", "second"):
                if report[f"{name}_valid"]:
                    candidates.append(
                        (-int(report[f"{name}_gain"]), int(report[f"{name}_cell"]) + offset, name, report)
                    )
            if report["current_valid"]:
                current = (0, int(report["current_cell"]) + offset, "current", report)
        chosen = [*sorted(candidates, key=lambda each: each[:2])[:2], None, None][:2] + [current]
        for name, each in zip(("best", "second", "current"), chosen, strict=True):
            for field in CANDIDATE.fields:
                found[f"{name}_{field.name}"] = (
                    (NONE if field.name == "cell" else 0) if each is None else each[3][f"{each[2]}_{field.name}"]
                )
            if each is not None:
                found[f"{name}_cell"] = each[1]
        if chosen[0] is not None:  # the left side of a board's best is told only
            found["left"] = chosen[0][3]["left"]
        return found.tobytes()

    def _all_gains(self, reports):
        """The GAINS of all boards, side by side."""
        words = CANDIDATE.size // 4
        found = np.zeros(1, layout_of(Kind.GAINS, self.geometry, self._count).dtype)
        parts = []
        for number, report in zip(self._used, reports, strict=True):
            start, end = self._bounds[number : number + 2]
            told = np.frombuffer(report, layout_of(Kind.GAINS, self.geometry, end - start).dtype)[0]
            rows = told["candidates"].reshape(-1, words).copy()
            valid = rows[:, 0] & 0xFFFF != NONE
            rows[valid, 0] += start
            parts.append(rows)
        for name in ("kind", "flags", "slot", "n", "class_counts"):
            found[name] = told[name]  # the same on every board
        found["candidates"] = np.concatenate(parts).reshape(-1)
        return found.tobytes()

    # Links

    @property
    def cut(self):
        return any(board.cut for board in self.boards)

    @property
    def lost(self):
        return any(board.lost for board in self.boards)

    def resume(self):
        for board in self.boards:
            if board.cut:
                board.resume()

    def load(self, address, data):
        raise ValueError("boards that are joined have no memory: feed them through the stream")

    def close(self):
        for board in self.boards:
            board.close()


def _unpacked(data):
    """The fields of the command that ``data`` begins with."""
    return COMMANDS[Opcode(data[0])].unpack(data)
