"""The classes of all instances that a tree has learnt."""

import numpy as np

__all__ = ["Totals"]


class Totals:
    """How many instances of each class there have been, at any instance of the stretch that is being learnt.

    Parameters
    ----------
    counts : int64 array (classes,)
        Before the first stretch.
    """

    def __init__(self, counts):
        self._before = np.array(counts, np.int64)
        self._labels = np.zeros(0, np.int32)
        self._learnt = 0

    def begin(self, labels, learnt):
        """A stretch of these labels is to be learnt, after so many instances in all."""
        self._before = self.at(learnt)  # what an error has kept from being learnt does not count
        self._labels, self._learnt = np.array(labels), learnt

    def at(self, number):
        """The counts when the tree had learnt so many instances."""
        stretch = self._labels[: max(0, number - self._learnt)]
        return self._before + np.bincount(stretch, minlength=len(self._before))
