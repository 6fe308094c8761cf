"""A tree whose board is the engine: learnt, read and written as arrays in this process."""

import numpy as np

from ..boards.base import as_bytes
from ..compiled import njit
from ..engine import learn as engine
from ..engine.alternate_tests import alternate_test_of, chances_of
from ..engine.arguments import LEFT, PHASE, TRIED, make_arguments
from ..engine.drift import watch_of
from ..engine.statistics.bayes import classify_all
from ..engine.statistics.counting import obey, read_entries, write_entries
from ..engine.statistics.state import COUNTS, EXTENT, TERMS, N, slots_of
from ..tree.blocks import FAR, next_of
from ..tree.routing import GROUP
from .decisions import carrying_out
from .interface import Driver
from .steps import at_once

# Of nodes that compiled code finds free: a split for which there are none is done outside, which takes long.
_ROWS = 256
_NOTHING = as_bytes(np.zeros((0, 1), np.uint8)), np.zeros(0, np.int32), np.zeros(0, np.int32)  # no instances


class EngineDriver(Driver):
    """`Driver` of the engine."""

    widens = rows = True

    def __init__(self, trainer):
        super().__init__(trainer)
        self.state = trainer.board.state

    def begin(self):
        trainer, policy = self.trainer, self.trainer.policy
        style = trainer.growth.style
        self._words = np.zeros(trainer.form.size, np.int64)
        self._walks = np.empty(GROUP, np.uint32), np.empty(GROUP, np.uint32)
        self._multiple = int(policy.inner_grace) if policy.tree_wide else 0
        # How the leaves predict and what counts: what is None, nothing is compiled for.
        self._how = (
            trainer.predictor or None,
            style.anytime,
            style.alternates,
            watch_of(policy),
            len(trainer.memory) or None,
            alternate_test_of(policy),
            chances_of(policy, trainer.totals),
        )

    def configure(self):
        self._configure(slice(0, len(self.trainer.cells)))

    def _configure(self, new):
        cells, config = self.trainer.cells, self.state.config
        config[:, new] = cells.kind[new], cells.first[new], cells.other[new], cells.base[new]

    def widen(self, known):
        """Count more attributes: the cells from ``known`` on are new."""
        self._configure(slice(known, len(self.trainer.cells)))
        self.state.entries[:, TERMS] = 0

    def count_classes(self, classes):
        pass

    def apply(self, edits):
        _apply(self.state, edits)

    # Learning

    def learning(self, position, end):
        trainer = self.trainer
        window = trainer.window
        instances = as_bytes(window.codes), window.labels, window.predictions, window.weights
        while position < end:
            trainer.nodes.reserve(max(_ROWS, trainer.cells.most_branches))
            position = engine.learn(self.arguments_of(*instances), position, end, *self._how)
            self._end_block()
        return iter(())

    def _end_block(self):
        """Carry out what the engine has left at a block's end, which is over then."""
        trainer = self.trainer
        nodes, block = trainer.nodes, trainer.block
        failed, trainer.failed = trainer.failed, True
        while block[LEFT]:
            made = FAR if block[PHASE] == TRIED else trainer.event_counts.begun
            at_once(carrying_out(trainer, int(next_of(nodes.table, nodes.rows, made))))
            nodes.reserve(max(_ROWS, trainer.cells.most_branches))
            engine.learn(self.arguments_of(*_NOTHING), 0, 0, *self._how)
        trainer.failed = failed

    def check_working(self):
        if self.trainer.block[LEFT]:
            self._end_block()

    def arguments_of(self, codes, labels, predictions, weights=None):
        """What ``engine.learn`` works on."""
        trainer = self.trainer
        growth, memory = trainer.growth, trainer.memory
        plan = (
            trainer.form,
            trainer.policy.options,
            trainer.classes,
            int(trainer.cells.has_numbers),
            self._multiple,
            trainer.rule,
        )
        instances = memory.read, memory.codes, memory.labels, codes, labels, predictions
        clock = trainer.block, trainer.event_counts.counts
        return make_arguments(self.state, self._words, weights, *self._walks, *clock, *growth.arrays, *instances, *plan)

    # One instance at a time

    def learn_row(self, arguments):
        """Learn the one instance of a given; whether nothing is left to be done outside."""
        engine.learn(arguments, 0, 1, *self._how)
        return not self.trainer.block[LEFT]

    def predict_row(self, arguments):
        """What `engine.predict` does."""
        return engine.predict(arguments, self._how[0])

    def predict_row_shares(self, arguments, shares):
        """The same for the class shares; see `engine.predict_shares`."""
        engine.predict_shares(arguments, self._how[0], shares)

    # Statistics

    def reading(self, slot, cells):
        state = self.state
        entry = state.entries[slot]
        own = entry[COUNTS:].copy()
        return int(entry[N]), own, [state.counts[slot, :, :, cell].astype(np.int64) for cell in cells]
        yield

    def counts_of(self, slots, cells):
        return self.state.counts[slots[:, np.newaxis], :, :, cells].astype(np.int64)
        yield

    def write_counts(self, slots, cells, counts):
        state = self.state
        state.counts[slots[:, np.newaxis], :, :, cells] = counts
        state.entries[slots, TERMS], state.entries[slots, EXTENT] = 0, counts.shape[2]

    def predict(self, codes, leaves, scores):
        trainer = self.trainer
        labels = np.zeros(len(codes), np.int32)
        found = np.zeros((len(codes), trainer.board.geometry.classes) if scores else (0, 0), np.int64)
        classify_all(
            self.state,
            as_bytes(codes),
            codes.shape[1],
            trainer.nodes.slot[leaves].astype(np.int64),
            trainer.form.attribute,
            int(trainer.cells.has_numbers),
            trainer.classes,
            labels,
            found,
        )
        return found if scores else labels

    def read(self, nodes, entries):
        slots = self.trainer.nodes.slot[nodes]
        read_entries(self.state, slots, entries)
        counts = self.state.counts[slots][..., : len(self.trainer.cells)]  # (n, bins, classes, cells)
        return np.ascontiguousarray(np.moveaxis(counts, -1, 1)).reshape(len(nodes), counts.shape[-1], -1)

    def write(self, nodes, entries, counts):
        slots, shape = self.trainer.nodes.slot[nodes], self.state.counts.shape
        write_entries(self.state, slots, entries)
        counts = counts.reshape(*counts.shape[:2], *shape[1:3]) & np.uint32(self.state.count_max)
        self.state.counts[slots, ..., : counts.shape[1]] = np.moveaxis(counts, 1, -1)


@njit()
def _apply(state, edits):
    obey(slots_of(state), edits, len(edits))
