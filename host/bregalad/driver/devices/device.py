"""A board that is reached by commands and reports: what it is told, asked, and hears of it."""

from abc import abstractmethod
from contextlib import contextmanager
from itertools import count as count_from

import numpy as np

from ...boards.base import BoardError
from ...geometry import NONE
from ...interrupt import check_interrupt, deferred_interrupt
from ...protocol.commands import COMMAND_BYTES, COMMANDS, CommandFlag, Opcode, pack_command
from ...protocol.layout import Layout
from ...protocol.reports import ErrorCode, Kind, entry_body, entry_layout, kind_of, layout_of, statistics_layout
from ...protocol.tree import TreeKind
from ...tree import edits
from ..interface import Driver
from .attempts import report_of

# Taken many at once by compiled code.
_RUNS = (Kind.ENTRY, TreeKind.LABEL)
# No two fences have the same, so that none is taken for one whose answer a cut has held up.
_TOKENS = count_from(1)
_PLACE = COMMANDS[Opcode.PLACE]  # CLEAR has its slot at the same place, and nothing more
_OF_PLACE = {
    "slot": edits.SLOT,
    "parent": edits.PARENT,
    "cell": edits.CELL,
    "lo": edits.LO,
    "shift": edits.SHIFT,
    "link": edits.LINK,
    "current": edits.CURRENT,
}


def configure_cells(board, cells):
    """Write to a device's registers how its cells count: a `CellMap`."""
    board.write("cells.count", len(cells))
    for cell in range(len(cells)):
        board.write_fields(
            "cell",
            index=cell,
            kind=int(cells.kind[cell]),
            first=int(cells.first[cell]),
            other=int(cells.other[cell]),
            base=int(cells.base[cell]),
            write=1,
        )


class DeviceDriver(Driver):
    """What learning on a device is built on: commands, registers, and what nodes have counted."""

    def __init__(self, trainer):
        super().__init__(trainer)
        self._commands = []  # to send before the next records
        self._found = []  # answers to READ, in order

    def begin(self):
        self.report = report_of(self.board.geometry, len(self.trainer.cells), self.trainer.policy.reports_all)

    def configure(self):
        trainer, board, policy = self.trainer, self.board, self.trainer.policy
        board.send(pack_command(board.geometry, Opcode.RESET))
        self.fence()
        configure_cells(board, trainer.cells)
        self.count_classes(trainer.classes)
        # The driver says when a slot is tried, or a trial might come before the last one has taken effect.
        board.write("grace.leaf", 0)
        board.write("inner_grace.inner", 0)
        board.write_fields(
            "report",
            all=int(policy.reports_all),
            neighbours=int(trainer.cells.has_numbers),  # without, the board need not look for nothing
        )

    def count_classes(self, classes):
        self.board.write("classes.count", classes)

    def check_working(self):
        trainer = self.trainer
        if self.board.take_turn(trainer) or trainer.asked:
            self.flush()
            self.fence()  # after all that an interrupted call had asked for
            trainer.asked = False

    # Commands

    def command(self, opcode, **values):
        """Queue a command; it is sent before the next records, or by ``flush``."""
        self._commands.append(pack_command(self.board.geometry, opcode, **values))

    def apply(self, changes):
        out = np.zeros(len(changes), _PLACE.dtype)
        places = changes[:, edits.WHAT] == edits.PLACE
        out["opcode"] = np.where(places, Opcode.PLACE, Opcode.CLEAR)
        flags = changes[:, edits.FLAGS]
        out["flags"] = (flags & edits.KEEP != 0) * CommandFlag.KEEP | (flags & edits.INNER != 0) * CommandFlag.INNER
        out["slot"] = changes[:, edits.SLOT]
        for name, column in _OF_PLACE.items():
            out[name][places] = changes[places, column]
        padded = np.zeros((len(out), max(COMMAND_BYTES, self.board.geometry.bus_bytes)), np.uint8)
        padded[:, :COMMAND_BYTES] = out.view(np.uint8).reshape(-1, COMMAND_BYTES)
        self._commands.append(padded.tobytes())

    def fence(self):
        """Wait until the board has done all that it was sent; a BoardError if it refuses to tell."""
        board, token = self.board, next(_TOKENS) & 0xFFFFFFFF
        command = pack_command(board.geometry, Opcode.FENCE, token=token)
        board.send(command)
        layout, error = (layout_of(kind, board.geometry, 0) for kind in (Kind.FENCE, Kind.ERROR))
        while True:
            for kind, report in self.reports(board.receive(wait=True)):
                if kind is Kind.FENCE and layout.unpack(report)["token"] == token:
                    return
                if kind is Kind.ERROR and int(error.unpack(report)["address"]) == int.from_bytes(command[:8], "little"):
                    raise self.error(report)

    @contextmanager
    def asking(self):
        """Ask the board for something; what is left of it if that fails is swept up later.

        Yields a function that waits for reports and yields them as `reports`. Ctrl-C comes there,
        or where `check_interrupt` is called.
        """
        with deferred_interrupt():
            self.trainer.check_working()
            self.trainer.asked = True
            yield self._awaited
            self.trainer.asked = False

    def _awaited(self):
        check_interrupt()
        for kind, report in self.reports(self.board.receive(wait=True)):
            if kind is Kind.ERROR:
                raise self.error(report)
            yield kind, report

    def flush(self):
        """Send the commands that wait."""
        if self._commands:
            with deferred_interrupt():
                data = b"".join(self._commands)
                self._commands.clear()  # first: what is sent, and then fails, must not go again
                self.board.send(data)

    def counts_of(self, slots, cells):
        found = yield from self._reading([(slot, cell) for slot in slots.tolist() for cell in cells.tolist()])
        shape = len(slots), len(cells), self.board.geometry.bins, self.board.geometry.classes
        return np.array(found, np.int64).reshape(shape)

    def write_counts(self, slots, cells, counts):
        counts = counts.astype(np.uint32)
        for slot, own in zip(slots.tolist(), counts, strict=True):
            for cell, bins in zip(cells.tolist(), own, strict=True):
                self.command(Opcode.WRITE, slot=slot, cell=cell, payload=bins.tobytes())
        self.flush()

    def _reading(self, places):
        """Statistics of slots; a generator.

        Parameters
        ----------
        places : list of (slot, cell)
            NONE for a slot's own entry.

        Returns
        -------
        list
            A cell's counts, int64 array (bins, classes); an entry as a record of its layout.
        """
        for slot, cell in places:
            self.command(Opcode.READ, slot=slot, cell=cell)
        self.flush()
        return (yield from self.found(len(places)))

    def reading(self, slot, cells):
        entry, *bins = yield from self._reading([(slot, NONE), *((slot, cell) for cell in cells)])
        return int(entry["n"]), entry["class_counts"].astype(np.int64), bins

    def found(self, count):
        """So many answers, once they are there; a generator."""
        while len(self._found) < count:
            self.handle((yield True))
        found, self._found = self._found, []
        return found

    def reports(self, data):
        """``(kind, bytes)`` of each report that is for nobody else, one after the other.

        Trials and predictions in a row, which compiled code takes together, come as one.
        """
        at = self.take(data, 0)
        return self._reports(data, at) if at < len(data) else ()

    @abstractmethod
    def take(self, data, at):
        """Take in reports, whole ones, that compiled code takes from byte ``at`` on; where the first other one begins.

        It may be the end.
        """

    @abstractmethod
    def take_other(self, kind, report):
        """Take in a run of reports of one `TreeKind` that `take` leaves."""

    def _reports(self, data, at):
        geometry, cells = self.board.geometry, len(self.trainer.cells)
        while at < len(data):
            try:
                size = layout_of(data[at], geometry, cells).size
            except ValueError as error:
                self.trainer.failed = True
                raise BoardError(
                    f"board {self.board.name}: {error}; what the board tells cannot be "
                    "read: load the bitstream of this release"
                ) from None
            kind = kind_of(data[at])
            end = at + size * (_run(data, at, size) if kind in _RUNS else 1)
            report, at = data[at:end], end
            yield kind, report
            if at < len(data):
                at = self.take(data, at)

    def handle(self, data):
        """Take in reports."""
        geometry = self.board.geometry
        for kind, report in self.reports(data):
            if isinstance(kind, TreeKind):
                self.take_other(kind, report)
            elif kind is Kind.STATISTICS:
                counts = layout_of(kind, geometry, 0).unpack(report)["counts"]
                self._found.append(counts.astype(np.int64).reshape(geometry.bins, -1))
            elif kind is Kind.ENTRY:
                self._found.extend(np.frombuffer(report, layout_of(kind, geometry, 0).dtype))
            elif kind is Kind.ERROR:
                raise self.error(report)

    def error(self, report):
        """The exception for an ERROR report, after which the board does nothing more."""
        self.trainer.failed = True
        error = layout_of(Kind.ERROR, self.board.geometry, 0).unpack(report)
        names = {int(code): code.name for code in ErrorCode}
        code = int(error["flags"])
        return BoardError(
            f"board {self.board.name} reports {names.get(code, f'unknown error {code}')} at "
            f"{int(error['address']):#x} after {int(error['count'])} records"
        )

    # Statistics

    def read(self, nodes, entries):
        """As of `Driver`. Ctrl-C comes between two reports."""
        slots, cells, board = self.trainer.nodes.slot[nodes], len(self.trainer.cells), self.board
        found = np.zeros(len(nodes), Layout("entry", *entry_body(board.geometry)).dtype)
        counts = np.zeros((len(nodes), cells, board.geometry.bins * board.geometry.classes), np.uint32)
        most = board.saves(cells)
        with self.asking() as answers:
            self.flush()
            for at in range(0, len(slots), most) if most else ():
                check_interrupt()
                rows, part = board.save(slots[at : at + most], cells), slice(at, at + most)
                found[part] = rows["entry"]["body"].copy().view(found.dtype).reshape(-1)
                counts[part] = rows["cells"]["body"]
            if not most:
                self._read(slots, cells, answers, found, counts)
        self.take_entries(nodes, found, entries)
        return counts

    def _read(self, slots, cells, answers, found, counts):
        """The same of a board that reports them."""
        layout, bins = entry_layout(self.board.geometry), statistics_layout(self.board.geometry).offset("counts")
        for slot in slots.tolist():
            check_interrupt()
            for cell in (NONE, *range(cells)):
                self.command(Opcode.READ, slot=slot, cell=cell)
            self.flush()
        entry = cell = 0
        while entry + cell < len(slots) * (1 + cells):
            for kind, report in answers():
                if kind is Kind.ENTRY:
                    rows = np.frombuffer(report, layout.dtype)  # one, or several in a row
                    for name in found.dtype.names:
                        found[name][entry : entry + len(rows)] = rows[name]
                    entry += len(rows)
                elif kind is Kind.STATISTICS:
                    counts.reshape(-1, counts.shape[-1])[cell] = np.frombuffer(report[bins:], np.uint32)
                    cell += 1

    @abstractmethod
    def take_entries(self, nodes, found, entries):
        """Entries as the board has them, as entries of any board, which are written."""

    @abstractmethod
    def entry_of(self, node, entry):
        """An entry of any board, a record, as bytes for this one."""

    def write(self, nodes, entries, counts):
        board, cells = self.board, counts.shape[1]
        slots = self.trainer.nodes.slot[nodes]
        whole = [self.entry_of(*pair) for pair in zip(nodes.tolist(), entries, strict=True)]
        if most := board.saves(cells):
            self.flush()
            for at in range(0, len(slots), most):
                part = slice(at, at + most)
                rows = board.rows(slots[part], cells)
                rows["entry"]["body"] = [np.frombuffer(entry, np.uint32) for entry in whole[part]]
                rows["cells"]["body"] = counts[part]
                board.put_back(rows)
            return
        for slot, entry, matrix in zip(slots.tolist(), whole, counts, strict=True):
            self.command(Opcode.WRITE, slot=slot, cell=NONE, payload=entry)
            for cell, bins in enumerate(matrix):
                self.command(Opcode.WRITE, slot=slot, cell=cell, payload=bins.tobytes())

    def leave(self):
        if self._commands:
            self.flush()
            self.fence()


def _run(data, at, size):
    """How many reports of a kind, of ``size`` bytes each, lie in a row from the one at ``at`` on."""
    kinds = np.frombuffer(data, np.uint8)[at::size]
    count, step = 1, 16
    while count < len(kinds):
        other = np.flatnonzero(kinds[count : count + step] != kinds[0])
        if other.size:
            return count + int(other[0])
        count, step = count + step, 2 * step
    return len(kinds)
