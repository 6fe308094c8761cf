"""A board that is reached by commands and reports: what it is told, asked, and hears of it."""

from abc import abstractmethod
from itertools import count as count_from

import numpy as np

from ...boards.base import BoardError
from ...boards.device import run_of
from ...geometry import NONE
from ...interrupt import check_interrupt, deferred_interrupt
from ...policy.decide import MAX_PERIOD
from ...protocol.commands import Opcode, pack_command
from ...protocol.reports import EntryFlag, ErrorCode, Kind, entry_body, kind_of, layout_of
from ...protocol.tree import TreeKind
from ...tree.table import LEAF, NEVER
from ..interface import Driver
from ..steps import Steps

# Taken many at once by compiled code.
_RUNS = (Kind.ENTRY, TreeKind.LABEL)
# No two fences have the same, so that none is taken for one whose answer a cut has held up.
_TOKENS = count_from(1)


class DeviceDriver(Driver):
    """What learning on a device is built on: commands, registers, and what nodes have counted."""

    def __init__(self, trainer):
        super().__init__(trainer)
        self._commands = []  # to send before the next records
        self._found = []  # answers to READ, in order

    @abstractmethod
    def take(self, data, at):
        """Take in whole reports from byte ``at`` on that are for compiled code; where the first other one begins."""

    @abstractmethod
    def take_other(self, kind, report):
        """Take in a run of reports of one `TreeKind` that `take` leaves."""

    def configure(self):
        trainer, board, policy, cells = self.trainer, self.board, self.trainer.policy, self.trainer.cells
        board.send(pack_command(board.geometry, Opcode.RESET))
        self.fence()
        board.write("cells.count", len(cells))
        for cell in range(len(cells)):
            values = {name: int(getattr(cells, name)[cell]) for name in ("kind", "first", "other", "base")}
            board.write_fields("cell", index=cell, **values, write=1)
        self.count_classes(trainer.classes)
        board.write_fields(
            "report",
            all=int(policy.reports_all),
            neighbours=int(cells.has_numbers),  # without, the board need not look for nothing
        )

    def count_classes(self, classes):
        self.board.write("classes.count", classes)

    def check_working(self):
        trainer = self.trainer
        if self.board.take_turn(trainer) or trainer.requested:
            self.flush()
            self.fence()  # after all that an interrupted call had asked for
            self._found = []
            trainer.requested = False

    # Commands

    def command(self, opcode, **values):
        """Queue a command; it is sent before the next records, or by ``flush``."""
        self._commands.append(pack_command(self.board.geometry, opcode, **values))

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

        ``places`` are a list of (slot, cell), NONE for a slot's own entry. Returns a list: of a cell its counts, int64
        array (bins, classes), of an entry a record of its layout.
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

        Attempts and predictions in a row, which compiled code takes together, come as one.
        """
        end = 0
        while (at := self.take(data, end)) < len(data):
            words, geometry, cells = np.frombuffer(data, "<u4"), self.board.geometry, len(self.trainer.cells)
            kind, (size, count) = kind_of(data[at]), run_of(words[at // 4 :], geometry, cells)
            end = at + 4 * size * (count if kind in _RUNS else 1)
            yield kind, data[at:end]
            if end == len(data):
                return

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
        slots, cells = self.trainer.nodes.slot[nodes], len(self.trainer.cells)
        with deferred_interrupt():
            self.trainer.check_working()
            self.trainer.requested = True  # what is left of it if this fails is swept up later
            places = [(slot, cell) for slot in slots.tolist() for cell in (NONE, *range(cells))]
            received = Steps(self._reading(places)).run(self._receive)
            self.trainer.requested = False
        plain_entries(self.trainer, nodes, np.array(received[:: 1 + cells]), entries)
        counts = [each for place, each in enumerate(received) if place % (1 + cells)]
        return np.array(counts, np.uint32).reshape(len(nodes), cells, -1)

    def _receive(self, wait):
        check_interrupt()
        return self.board.receive(wait)

    def write(self, nodes, entries, counts):
        slots = self.trainer.nodes.slot[nodes].tolist()
        for node, slot, entry, matrix in zip(nodes.tolist(), slots, entries, counts, strict=True):
            self.command(Opcode.WRITE, slot=slot, cell=NONE, payload=whole_entry(self.trainer, node, entry))
            for cell, bins in enumerate(matrix):
                self.command(Opcode.WRITE, slot=slot, cell=cell, payload=bins.tobytes())

    def leave(self):
        if self._commands:
            self.flush()
            self.fence()


_MOST_SINCE = (1 << 24) - 1  # that a slot counts


def plain_entries(trainer, nodes, found, entries):
    """Write entries of nodes' slots, structured array (n,), as of a board without a node table.

    What those ``found`` say of the last attempts goes to the tree.
    """
    tree, learnt, flags = trainer.nodes, trainer.event_counts.instances, found["entry_flags"]
    due, tried = flags & EntryFlag.DUE != 0, flags & EntryFlag.TRIED != 0
    ago = np.uint32(learnt & 0xFFFFFFFF) - found["tried"]  # records; numbers go round
    tree.due_at[nodes[tried]] = learnt - ago[tried].astype(np.int64)
    tree.since[nodes] = np.where(due, np.maximum(found["since"], tree.period[nodes]), found["since"])
    for name in entries.dtype.names:
        entries[name] = found[name]
    entries["entry_flags"] &= ~np.uint16(EntryFlag.DUE | EntryFlag.TRIED)


def relinked(trainer, node, entry):
    """The entry of a node's slot as it was told, but with the link that the node has now; bytes."""
    layout = entry_body(trainer.board.geometry)
    return layout.pack(**{name: entry[name] for name in layout.dtype.names} | {"link": trainer.growth.link(node)})


def whole_entry(trainer, node, plain):
    """The entry of a node's slot, from that of `plain_entries`; bytes."""
    tree = trainer.nodes
    layout = entry_body(trainer.board.geometry)
    since, due_at, flags = int(tree.since[node]), int(tree.due_at[node]), int(plain["entry_flags"])
    values = {name: plain[name] for name in plain.dtype.names} | {"since": min(since, _MOST_SINCE)}
    if since >= tree.period[node]:
        flags |= EntryFlag.DUE
    if due_at != NEVER:
        flags |= EntryFlag.TRIED
        values["tried"] = due_at & 0xFFFFFFFF
    if trainer.policy.adaptive_grace and tree.kind[node] == LEAF:
        values["period"] = min(int(tree.period[node]), MAX_PERIOD)
    return layout.pack(**values | {"entry_flags": flags})
