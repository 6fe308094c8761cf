"""A trainer's tree on a board at the end of a link: records go out with their slots, reports come back late."""

import numpy as np

from ...boards.base import as_bytes
from . import sending

__all__ = ["Streaming"]


class Streaming:
    """Mixin of `Trainer`."""

    def _run_streaming(self, position, end):
        """Learn instances on a board at the end of a link until ``end``.

        Yields whether to wait for reports, and is sent those that came.
        """
        feed, nodes, trials, policy, tally = self._feed, self.nodes, self.trials, self.policy, self.tally
        window, most, attribute = self._window, self.board.geometry.count_max, self.cells.attribute
        instances = as_bytes(window.codes), window.labels, window.predictions, window.weights
        alternates = self._how.alternates
        locked = False
        while True:
            while feed.full:
                self._handle((yield True))
            # Decisions take effect in the order of their instances.
            ahead = self.due_next
            if ahead <= tally.instances and ahead < trials.deadline:
                # With alternates nodes move: nothing that is to come may name one.
                if policy.alternates and (trials.reading or self._unanswered):
                    self._handle((yield True))
                else:
                    self._take_effect()
                locked = False
                continue
            budget = trials.budget
            stop = end
            if budget < 0:  # which leaf loses its slot depends on what all have counted by then
                left = 0 if trials.reading else min(ahead, trials.deadline) - tally.instances
                stop = min(end, position + max(0, left))
            if position < stop and not locked:
                due = np.empty((2 * len(nodes.table), 2), np.int64)
                if self.predictor:
                    self._make_room(len(feed.out) // feed.size)
                done, used, tried = sending.advance(
                    nodes.table,
                    nodes.counts,
                    nodes.windows,
                    *instances,
                    self._waiting,
                    position,
                    stop,
                    tally.instances,
                    self.predictor,
                    policy.anytime,
                    alternates,
                    self._multiple,
                    policy.delay,
                    most,
                    self._progress,
                    attribute,
                    feed.out,
                    due,
                    budget,
                    nodes.base,
                    self.memory.read,
                    self.memory.codes,
                    self.memory.labels,
                    self._how.watch,
                    self._how.rules,
                    self._how.chances,
                )
                started, position = position, done
                tally.instances += done - started
                trials.start(due[:tried, 1])
                if alternates:
                    self.look_ahead()
                self.flush()
                if used:
                    feed.send(used, due[:tried], nodes.slot[due[:tried, 1]].astype(np.int64))
                self._handle((yield False))
                if done == started:
                    lacking = int(self._progress[sending.LACKING])
                    if lacking:
                        feed.make_room(lacking)
                    locked = not lacking and (trials.outstanding or self._unanswered)
            elif trials.outstanding or self._unanswered:
                self._handle((yield True))
                locked = False
            else:
                return

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
