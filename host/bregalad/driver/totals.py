"""The classes of the instances that a tree has learnt, of all of them or of a window's."""

import numpy as np


class Totals:
    """How many instances of each class count, at any instance of the stretch that is being learnt.

    ``counts`` are those before the first stretch, int64 (classes,); of a window only so many instances count. ``now``
    are the counts as compiled code keeps them, of trees whose alternates are tested by them.
    """

    def __init__(self, counts, window=None):
        self.now = np.array(counts, np.int64)
        self._window = window
        self._before = self.now.copy()
        self._labels = self._going = np.zeros(0, np.int32)
        self._learnt = 0

    def begin(self, labels, learnt, past):
        """A stretch of these labels is to be learnt, after so many instances in all; ``past``: those of the window."""
        self._before = self.at(learnt)  # what an error has kept from being learnt does not count
        self._labels, self._learnt = np.array(labels), learnt
        self._going = np.concatenate([past, self._labels]) if self._window else self._labels[:0]
        self.now[:] = self._before

    def at(self, number):
        """The counts when the tree had learnt so many instances, or all of the stretch."""
        learnt = min(max(0, number - self._learnt), len(self._labels))
        gone = 0
        if self._window:
            gone = max(0, self._learnt + learnt - self._window) - max(0, self._learnt - self._window)
        return self._before + self._counted(self._labels[:learnt]) - self._counted(self._going[:gone])

    def _counted(self, labels):
        return np.bincount(labels, minlength=len(self._before))
