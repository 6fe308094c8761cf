"""A trainer's tree on a board in this process: no link between, all in `direct`."""

import numpy as np

from ...boards.base import as_bytes
from ...interrupt import deferred_interrupt
from ..structure.blocks import FAR, next_of
from . import direct
from .desk import LEFT, PHASE, TRIED, make_desk
from .shares import predict_shares

__all__ = ["Nearby"]

# Of nodes that compiled code finds free: a split for which there are none is done outside, which takes long.
_ROWS = 256
_NOTHING = as_bytes(np.zeros((0, 1), np.uint8)), np.zeros(0, np.int32), np.zeros(0, np.int32)  # no instances


class Nearby:
    """Mixin of `Trainer`."""

    def _run_directly(self, position, end):
        """Learn instances on a board in this process until ``end``."""
        self.flush()
        self._handle(self.board.receive())
        window = self._window
        instances = as_bytes(window.codes), window.labels, window.predictions, window.weights
        while position < end:
            self.nodes.reserve(max(_ROWS, self.cells.most_branches))
            position = direct.learn(self._desk_of(*instances), position, end, *self._how)
            self._end_block_here()

    def _end_block_here(self):
        """Carry out what `direct` has left at a block's end, which is over then."""
        failed, self._failed = self._failed, True
        while self._block[LEFT]:
            made = FAR if self._block[PHASE] == TRIED else self.tally.begun
            self._read(self.trials.begin(int(next_of(self.nodes.table, self.nodes.rows, made))))
            while self.trials.outstanding:
                self._handle(self.board.receive(wait=True))
            self.flush()
            self.nodes.reserve(max(_ROWS, self.cells.most_branches))
            direct.learn(self._desk_of(*_NOTHING), 0, 0, *self._how)
        self._failed = failed

    def _desk_of(self, codes, labels, predictions, weights=None):
        """What ``direct`` works on."""
        nodes, growth = self.nodes, self.growth
        return make_desk(
            self.board.state,
            nodes.table,
            nodes.matrices,
            nodes.room,
            nodes.blank,
            growth.style,
            self.cells.first_cell,
            growth.pool.stack,
            growth.pool.node,
            self._direct.written,
            self._direct.read,
            self.classes,
            self.trials.form,
            self.policy.options,
            self._multiple,
            self._rule,
            self._block,
            self.tally.counts,
            self.memory.read,
            self.memory.codes,
            self.memory.labels,
            codes,
            labels,
            predictions,
            weights,
        )

    def row_desk(self, codes, labels, predictions):
        """What `learn_row` and `direct.predict` work on; None if that is not for them now.

        Parameters
        ----------
        codes : uint8 array (attributes,), read-only
        labels, predictions : int32 array (1,)
            The latter is written.
        """
        if self._direct is None or self._failed or self._asked or self._commands:
            return None
        # What else is to be done is done by `learn`.
        self.rows_left = self.until_review - 1
        self.rows_only = True
        return self._desk_of(codes, labels, predictions)

    def predict_row(self, desk):
        """What `direct.predict` does, if ``rows_only``."""
        return direct.predict(desk, self._how.predictor)

    def predict_row_shares(self, desk, shares):
        """The same for the class shares; see `predict_shares`."""
        predict_shares(desk, self._how.predictor, shares)

    def learn_row(self, desk):
        """`learn` of one instance, if ``rows_only`` and there are ``rows_left``."""
        # Ctrl-C comes before or after `direct.learn`, and what that leaves is done by whoever
        # comes next. So are instances too many taken off here, at worst.
        self.rows_left -= 1
        direct.learn(desk, 0, 1, *self._how)
        if self._block[LEFT]:
            self.rows_only = False
            with deferred_interrupt():
                self._end_block_here()
