"""A tree whose board counts records: they go out with the slots of their leaves, reports come back late."""

import numpy as np

from ...boards.base import as_bytes
from ...engine.alternate_tests import chances_of, contest_of
from ...engine.arguments import BUSY
from ...engine.drift import watch_of
from ...protocol.commands import Opcode
from ...tree.blocks import FAR, due_nodes
from ..requirements import check_window
from . import sending
from .device import DeviceDriver
from .feed import open_feed

__all__ = ["RecordDriver"]


class RecordDriver(DeviceDriver):
    """`Driver` of boards whose trees the host holds.

    Parameters
    ----------
    trainer : Trainer
    feed : "stream" or "memory"
        Whether records go with the commands or through the board's memory and DMA.
    """

    def __init__(self, trainer, feed):
        super().__init__(trainer)
        self._fed_by = feed
        self._waiting = np.zeros((0, sending.WAITING), np.int32)  # predictions that the board is to report
        self._progress = np.zeros(3, np.int64)  # of these, as `sending` takes it

    def begin(self):
        trainer, board, policy = self.trainer, self.board, self.trainer.policy
        self.feed = open_feed(self._fed_by, board, len(trainer.cells))
        if policy.window:
            check_window(board.geometry, policy)
            if len(self.feed.out) < 2 * self.feed.size:
                raise ValueError(f"board {board.name} has no memory for two records: feed it through the stream")
        super().begin()
        self._multiple = int(policy.inner_grace) if policy.tree_wide else 0
        self._alternates, self._watch = trainer.growth.style.alternates, watch_of(policy)
        self._rules, self._chances = contest_of(policy), chances_of(policy, trainer.trials.totals)

    def check_weights(self, weights):
        if self._fed_by != "stream":
            raise ValueError(f"feed={self._fed_by!r} takes no weights: choose feed='stream'")

    def learning(self, position, end):
        trainer, feed = self.trainer, self.feed
        nodes, policy, block, memory = trainer.nodes, trainer.policy, trainer.block, trainer.memory
        window, most, attribute = trainer.window, self.board.geometry.count_max, trainer.cells.attribute
        instances = as_bytes(window.codes), window.labels, window.predictions, window.weights
        if not position:
            self._progress[:] = 0
        while position < end:
            while feed.full:
                self.handle((yield True))
            if trainer.predictor:
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
                trainer.predictor,
                policy.anytime,
                self._alternates,
                self._multiple,
                trainer.rule,
                block,
                trainer.tally.counts,
                most,
                self._progress,
                attribute,
                feed.out,
                nodes.base,
                memory.read,
                memory.codes,
                memory.labels,
                self._watch,
                self._rules,
                self._chances,
            )
            self.flush()
            if used:
                feed.send(used)
            self.handle((yield False))
            if position == started and (lacking := int(self._progress[sending.LACKING])):
                feed.make_room(lacking)
            if trainer.tally.instances == trainer.tally.ends:
                yield from self._end_block()
        while trainer.trials.outstanding or self._unanswered:
            self.handle((yield True))

    def _end_block(self):
        """Have take effect what was decided before the block, and try the nodes that are due; a generator."""
        trainer = self.trainer
        nodes, trials, block = trainer.nodes, trainer.trials, trainer.block
        if trainer.policy.watched:
            yield from self.drained()
        if block[BUSY]:
            yield from self._judged()
            yield from trainer.effects(trainer.tally.begun)
            due = due_nodes(nodes.table, nodes.rows)
            for slot in nodes.slot[due].tolist():
                self.command(Opcode.TRIAL, slot=slot)
            trials.start(due)
            self.flush()
            # What is forgotten meanwhile would be missing where a trial is judged.
            if trainer.rule.fixed == 1 or len(trainer.memory):
                yield from self._judged()
            if trainer.rule.fixed == 1:
                yield from trainer.effects(FAR)
        trainer.begin_block(trainer.tally.ends)

    def _judged(self):
        """Until all split attempts have come back; a generator."""
        while self.trainer.trials.outstanding:
            self.handle((yield True))

    def drained(self):
        while self._unanswered:
            self.handle((yield True))

    def take_predictions(self, found):
        """Take in the classes that the board predicts, int32 array, in order."""
        trainer, window = self.trainer, self.trainer.window
        sending.answer(
            trainer.nodes.table,
            trainer.nodes.windows,
            window.labels,
            window.predictions,
            window.weights,
            self._waiting,
            self._progress,
            trainer.predictor,
            found,
            self._watch,
            trainer.rule,
            trainer.block,
            trainer.tally.counts,
        )

    def settling(self):
        yield from self.trainer.effects(FAR)
        self.flush()  # what the board is told to do must be done before its codes change

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
