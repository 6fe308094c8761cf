"""What a trainer asks its board, and hears of it: commands that wait, reports, statistics."""

from contextlib import contextmanager
from itertools import count as count_from

import numpy as np

from ...boards.base import BoardError
from ...interrupt import check_interrupt, deferred_interrupt
from ...protocol.commands import Opcode, pack_command
from ...protocol.reports import ErrorCode, Kind, kind_of, layout_of
from ...protocol.tree import TreeKind
from . import sending
from .feed import FEED_TOKENS

__all__ = ["Hearing"]

# Taken many at once by compiled code.
_RUNS = (Kind.SUGGESTION, Kind.GAINS, Kind.PREDICTION, Kind.ENTRY, TreeKind.LABEL)
# No two fences have the same, so that none is taken for one whose answer a cut has held up.
_TOKENS = count_from(FEED_TOKENS)


class Hearing:
    """Mixin of `Trainer`."""

    def fence(self):
        """Wait until the board has done all that it was sent."""
        board, token = self.board, next(_TOKENS) & 0xFFFFFFFF
        board.send(pack_command(board.geometry, Opcode.FENCE, token=token))
        layout = layout_of(Kind.FENCE, board.geometry, 0)
        while not any(
            kind is Kind.FENCE and layout.unpack(report)["token"] == token
            for kind, report in self.reports(board.receive(wait=True))
        ):
            pass

    @contextmanager
    def asking(self):
        """Ask the board for something; what is left of it if that fails is swept up later.

        Yields a function that waits for reports and yields them as `reports`. Ctrl-C comes there,
        or where `check_interrupt` is called.
        """
        with deferred_interrupt():
            self.check_working()
            self._asked = True
            yield self._answers
            self._asked = False

    def _answers(self):
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

    def _read(self, places):
        for slot, cell in places:
            self.command(Opcode.READ, slot=slot, cell=cell)
        self.flush()

    def reading(self, places):
        """Statistics of slots; yields as `_run`.

        Parameters
        ----------
        places : list of (slot, cell)
            NONE for a slot's own entry.

        Returns
        -------
        list
            A cell's counts, int64 array (bins, classes); an entry as a record of its layout.
        """
        self._read(places)
        return (yield from self.found(len(places)))

    def found(self, count):
        """So many answers, once they are there; yields as `_run`."""
        while len(self._found) < count:
            self._handle((yield True))
        found, self._found = self._found, []
        return found

    def reports(self, data):
        """``(kind, bytes)`` of each report that is neither for the feed nor for `Walking.take`, one after the other.

        Trials and predictions in a row, which compiled code takes together, come as one.
        """
        at = 0 if self.walking is None else self.walking.take(data, 0)
        return self._reports(data, at) if at < len(data) else ()

    def _reports(self, data, at):
        geometry, cells = self.board.geometry, len(self.cells)
        while at < len(data):
            try:
                size = layout_of(data[at], geometry, cells).size
            except ValueError as error:
                self._failed = True
                raise BoardError(
                    f"board {self.board.name}: {error}; what the board tells cannot be "
                    "read: load the bitstream of this release"
                ) from None
            kind = kind_of(data[at])
            end = at + size * (_run(data, at, size) if kind in _RUNS else 1)
            report, at = data[at:end], end
            token = int(layout_of(kind, geometry, cells).unpack(report)["token"]) if (kind is Kind.FENCE) else 0
            if 0 < token < FEED_TOKENS:
                self._feed.done(token)
            else:
                yield kind, report
            if self.walking is not None and at < len(data):
                at = self.walking.take(data, at)

    def _handle(self, data):
        for kind, report in self.reports(data):
            if kind is Kind.PREDICTION:
                layout = layout_of(kind, self.board.geometry, 0)
                found = np.frombuffer(report, layout.dtype)["label"].astype(np.int32)
                window = self._window
                sending.answer(
                    self.nodes.table,
                    self.nodes.windows,
                    window.labels,
                    window.predictions,
                    window.weights,
                    self._waiting,
                    self._progress,
                    self.predictor,
                    found,
                    self._how.watch,
                    self._rule,
                    self._block,
                    self.tally.counts,
                )
            elif isinstance(kind, TreeKind):
                self.walking.take_other(kind, report)
            elif kind in (Kind.SUGGESTION, Kind.GAINS):
                self.trials.judge(report)
            elif kind is Kind.STATISTICS:
                counts = layout_of(kind, self.board.geometry, 0).unpack(report)["counts"]
                self._take(counts.astype(np.int64).reshape(self.board.geometry.bins, -1))
            elif kind is Kind.ENTRY:
                for entry in np.frombuffer(report, layout_of(kind, self.board.geometry, 0).dtype):
                    self._take(entry)
            elif kind is Kind.ERROR:
                raise self.error(report)

    def _take(self, statistics):
        if self.trials.reading:
            self.trials.take(statistics)
        else:
            self._found.append(statistics)

    def error(self, report):
        """The exception for an ERROR report, after which the board does nothing more."""
        self._failed = True
        error = layout_of(Kind.ERROR, self.board.geometry, 0).unpack(report)
        names = {int(code): code.name for code in ErrorCode}
        code = int(error["flags"])
        return BoardError(
            f"board {self.board.name} reports {names.get(code, f'unknown error {code}')} at "
            f"{int(error['address']):#x} after {int(error['count'])} records"
        )


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
