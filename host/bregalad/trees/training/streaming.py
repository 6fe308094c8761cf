"""A trainer's tree on a board at the end of a link: records go out with their slots, reports come back late."""

import numpy as np

from ...boards.base import as_bytes
from ...protocol.commands import Opcode
from ..structure.blocks import FAR, due_nodes, next_of
from . import sending
from .desk import BUSY, END

__all__ = ["Streaming"]


class Streaming:
    """Mixin of `Trainer`."""

    def _run_streaming(self, position, end):
        """Learn instances on a board at the end of a link until ``end``.

        Yields whether to wait for reports, and is sent those that came.
        """
        feed, nodes, policy, block = self._feed, self.nodes, self.policy, self._block
        window, most, attribute = self._window, self.board.geometry.count_max, self.cells.attribute
        instances = as_bytes(window.codes), window.labels, window.predictions, window.weights
        while position < end:
            while feed.full:
                self._handle((yield True))
            if self.predictor:
                self._make_room(len(feed.out) // feed.size)
            started = position
            position, used = sending.advance(
                nodes.table,
                nodes.counts,
                nodes.windows,
                *instances,
                self._waiting,
                position,
                end,
                self.predictor,
                policy.anytime,
                self._how.alternates,
                self._multiple,
                self._rule,
                block,
                self.tally.counts,
                most,
                self._progress,
                attribute,
                feed.out,
                nodes.base,
                self.memory.read,
                self.memory.codes,
                self.memory.labels,
                self._how.watch,
                self._how.rules,
                self._how.chances,
            )
            self.flush()
            if used:
                feed.send(used)
            self._handle((yield False))
            if position == started and (lacking := int(self._progress[sending.LACKING])):
                feed.make_room(lacking)
            if self.tally.instances == block[END]:
                yield from self._end_block()
        while self.trials.outstanding or self._unanswered:
            self._handle((yield True))

    def _end_block(self):
        """Have take effect what was decided before the block, and try the nodes that are due; yields as `learning`."""
        nodes, trials, policy, block = self.nodes, self.trials, self.policy, self._block
        if policy.watched:
            while self._unanswered:
                self._handle((yield True))
        if block[BUSY]:
            while trials.outstanding:
                self._handle((yield True))
            yield from self._effects(self.tally.begun)
            due = due_nodes(nodes.table, nodes.rows)
            for slot in nodes.slot[due].tolist():
                self.command(Opcode.TRIAL, slot=slot)
            trials.start(due)
            self.flush()
            # What is forgotten meanwhile would be missing where a trial is judged.
            if self._rule.fixed == 1 or len(self.memory):
                while trials.outstanding:
                    self._handle((yield True))
            if self._rule.fixed == 1:
                yield from self._effects(FAR)
        self.begin_block(int(block[END]))

    def _effects(self, made):
        """Have decisions take effect that were made when so many instances had been learnt; yields as `learning`."""
        nodes, trials = self.nodes, self.trials
        while (node := int(next_of(nodes.table, nodes.rows, made))) >= 0:
            while self.policy.alternates and self._unanswered:  # nodes move: nothing that is to come may name one
                self._handle((yield True))
            self._read(trials.begin(node))
            while trials.outstanding:
                self._handle((yield True))

    @property
    def _unanswered(self):
        """Whether predictions are to come."""
        return bool(self._progress[sending.ANSWERED] < self._progress[sending.SENT])

    def _make_room(self, rows):
        """Make sure that so many more predictions can be waited for."""
        sent, answered = self._progress[[sending.SENT, sending.ANSWERED]].tolist()
        if len(self._waiting) - sent < rows:
            left = self._waiting[answered:sent]
            self._waiting = np.zeros((2 * (len(left) + rows), sending.WAITING), np.int32)
            self._waiting[: len(left)] = left
            self._progress[[sending.SENT, sending.ANSWERED]] = len(left), 0
