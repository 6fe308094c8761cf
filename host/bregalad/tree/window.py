"""The last instances of a stream, in order to forget them again."""

import numpy as np

from ..compiled import njit
from ..geometry import MISSING, NONE
from .table import NO_NODE, above


class Memory:
    """The last ``size`` instances that a tree has learnt.

    The instance with which the tree had learnt n is at (n - 1) modulo ``size``: there its successor takes its place.
    ``codes`` is a uint8 array (size * attributes,), ``read`` the same, read-only, ``labels`` an int32 array (size,).
    """

    def __init__(self, size, attributes):
        self.attributes = attributes
        self.codes = np.zeros(size * attributes, np.uint8)
        self.labels = np.zeros(size, np.int32)

    def __len__(self):
        return len(self.labels)

    @property
    def read(self):
        view = self.codes.view()
        view.flags.writeable = False  # as all codes that compiled code is given
        return view

    def in_order(self, learnt):
        """The labels, oldest first, of a tree that has learnt so many instances; int32 array (n,), a copy."""
        if learnt < len(self):
            return self.labels[:learnt].copy()
        return np.roll(self.labels, -(learnt % max(1, len(self))))

    def widen(self, attributes):
        """Have so many attributes from now on; of what there is the new ones are missing."""
        codes = np.full((len(self), attributes), MISSING, np.uint8)
        codes[:, : self.attributes] = self.codes.reshape(len(self), self.attributes)
        self.attributes, self.codes = attributes, codes.ravel()

    def state(self, learnt):
        """Arrays to save, of a tree that has learnt so many instances: (n, attributes) and (n,)."""
        count = min(learnt, len(self))
        return {
            "codes": self.codes.reshape(len(self), self.attributes)[:count].copy(),
            "labels": self.labels[:count].copy(),
        }

    @classmethod
    def from_state(cls, state, size, attributes, count, classes):
        """A memory as saved, of ``count`` instances of so many classes; ValueError if the arrays are none of such."""
        codes, labels = state["codes"], state["labels"]
        if (
            codes.dtype != np.uint8
            or codes.shape != (count, attributes)
            or labels.dtype != np.int32
            or labels.shape != (count,)
            or (count and not 0 <= labels.min() <= labels.max() < classes)
        ):
            raise ValueError("what is kept of the stream is not of its tree")
        memory = cls(size, attributes)
        memory.codes[: codes.size] = codes.ravel()
        memory.labels[:count] = labels
        return memory


@njit()
def date(table, node, number, inherit):
    """Say of new leaves from when on instances count: the node was split when the tree had learnt ``number``.

    ``inherit`` says whether they have got what the node had counted.
    """
    row = table[node]
    for leaf in range(row["child"], row["child"] + row["width"]):
        table[leaf]["born"] = number
        table[leaf]["made"] = row["born"] if inherit else number


@njit()
def count_off(table, counts, inherited, leaf, number, label):
    """Forget an instance, the tree's ``number``-th, at the leaf that it reaches now, and above.

    Returns the slot that it is to be taken off, and those that this one's link leads to; NONE: none.
    """
    row = table[leaf]
    if number > row["made"] and counts[leaf, label]:
        counts[leaf, label] -= 1
        if row["majority"] == label:
            best = 0
            for k in range(counts.shape[1]):
                if counts[leaf, k] > counts[leaf, best]:
                    best = k
            if counts[leaf, best]:  # an empty leaf predicts as before
                row["majority"] = best
    node = np.int64(leaf)
    while node != NO_NODE:
        row = table[node]
        if row["slot"] >= 0 and number > row["born"]:
            if node == leaf and row["observed"]:
                row["observed"] -= 1
            return np.int64(row["slot"])
        if number > row["made"] and inherited[node, label]:
            inherited[node, label] -= 1
        node = np.int64(above(table, node))
    return np.int64(NONE)
