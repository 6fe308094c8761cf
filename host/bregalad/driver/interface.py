"""What a tree asks of its board, in meaning: learn, edit slots, read, write, predict."""

import weakref
from abc import ABC, abstractmethod

import numpy as np

from ..tree.blocks import FAR, next_of
from .decisions import carrying_out


class Driver(ABC):
    """One tree's use of its board, of a trainer that keeps the driver.

    What may wait for the board is a generator, as of `Steps`: it yields whether to wait, and is sent what the board's
    ``receive`` returned.
    """

    widens = False  # whether `widen` is for it
    rows = False  # whether `arguments_of`, `learn_row` and `predict_row` are

    def __init__(self, trainer) -> None:
        self._trainer = weakref.ref(trainer)  # a board is free as soon as its tree is gone

    @property
    def trainer(self):
        return self._trainer()

    @property
    def board(self):
        return self.trainer.board

    @abstractmethod
    def begin(self) -> None:
        """Set up what the tree needs here; ValueError if the board cannot do with it, which is not touched yet."""

    @abstractmethod
    def configure(self) -> None:
        """Set the board up for the tree's attributes, classes and policy."""

    @abstractmethod
    def apply(self, edits: np.ndarray) -> None:
        """Have edits of slots carried out, in their order and before anything that follows; int64 array (n, EDIT)."""

    @abstractmethod
    def learning(self, position, end):
        """Learn the instances ``position`` to ``end`` of the trainer's window; a generator."""

    @abstractmethod
    def reading(self, slot, cells):
        """What a slot has counted, for a decision; a generator.

        Returns n, the class counts, int64 array (classes,), and a list of the cells' bins, int64 arrays (bins,
        classes).
        """

    @abstractmethod
    def counts_of(self, slots, cells):
        """What cells of slots have counted, for a change of their codes; a generator.

        Both are int64 arrays. Returns an int64 array (slots, cells, bins, classes).
        """

    @abstractmethod
    def write_counts(self, slots, cells, counts):
        """Set what cells of slots have counted, as of `counts_of`; before anything that follows."""

    @abstractmethod
    def predict(self, codes, leaves, scores):
        """Naive Bayes predictions of instances, int32 array (n,).

        ``codes`` are uint8 (n, attributes), ``leaves`` theirs, int (n,), all with a slot. With ``scores`` instead the
        scores of all classes, for ``bayes.class_shares``: int array (n, classes of the board).
        """

    @abstractmethod
    def read(self, nodes, entries):
        """Statistics of nodes with a slot, int64 array (n,): uint32 array (n, cells, bins * classes).

        ``entries`` is written, a structured array (n,) as of ``checkpoint.ENTRY``.
        """

    @abstractmethod
    def write(self, nodes, entries, counts):
        """Set the statistics of nodes to what `read` has given; before anything that follows."""

    @abstractmethod
    def count_classes(self, classes):
        """Count so many classes from now on; the board has counters for them."""

    def check_working(self):  # noqa: B027 (most boards need nothing)
        """Be ready to learn or to ask, after whatever was interrupted."""

    def check_weights(self, weights):  # noqa: B027 (most boards need nothing)
        """Refuse weights, int32 array, that the board does not take."""

    def settling(self):
        """Have all decisions take effect now, before codes change; a generator."""
        nodes = self.trainer.nodes
        while (node := int(next_of(nodes.table, nodes.rows, FAR))) >= 0:
            yield from carrying_out(self.trainer, node)

    def changed(self):  # noqa: B027 (most boards need nothing)
        """Somebody else has changed the tree."""

    def fence(self):  # noqa: B027 (most boards need nothing)
        """Wait until all that the board was told to do is done."""

    def leave(self):  # noqa: B027 (most boards need nothing)
        """The board goes to another tree."""
