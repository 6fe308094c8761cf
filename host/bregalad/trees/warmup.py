"""Instances held back until the code books can be learnt from them."""

import numpy as np
import pandas as pd

__all__ = ["WarmUp"]


class WarmUp:
    """Hold the head of a stream; predict by the majority class meanwhile.

    Parameters
    ----------
    head : int
        Instances to hold.
    classes : int

    Attributes
    ----------
    count : int
        Instances held.
    """

    def __init__(self, head, classes):
        self.head = head
        self.counts = np.zeros(classes, np.int64)
        self._parts = []

    @property
    def count(self):
        return int(self.counts.sum())

    @property
    def room(self):
        """Instances still to come."""
        return max(0, self.head - self.count)

    def hold(self, X, labels):
        """Hold instances back.

        Returns
        -------
        int32 array (n,)
            Each one's prediction: the majority class of those before it.
        """
        predictions = _majorities(self.counts, labels)
        # A caller may fill the same array again for the next instances.
        self._parts.append((X.copy(), labels.copy()))
        return predictions

    def shares(self):
        """Class shares so far; equal ones before the first instance."""
        if not self.count:
            return np.full(len(self.counts), 1 / len(self.counts))
        return self.counts / self.counts.sum()

    def instances(self):
        """All that is held: ``(X, labels)``."""
        frames = [X for X, _ in self._parts]
        X = _one(frames) if isinstance(frames[0], pd.DataFrame) else np.concatenate(frames)
        return X, np.concatenate([labels for _, labels in self._parts])


def _majorities(counts, labels):
    """The majority class before each label; they are counted."""
    one = labels[:, np.newaxis] == np.arange(len(counts))
    before = counts + one.cumsum(axis=0) - one
    counts += one.sum(axis=0)
    return before.argmax(axis=1).astype(np.int32)


def _one(frames):
    """Data frames below one another."""
    try:
        return pd.concat(frames, ignore_index=True)
    except ValueError:  # no type of Arrow's holds large integers and floats
        return pd.concat([frame.astype(object) for frame in frames], ignore_index=True)
