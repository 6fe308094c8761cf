"""Verdicts that come late, carried out as if they had come at once.

Where slots are short, which leaf loses its slot to a split depends on what every leaf has seen by
the instance that made the trial due. Instances after it need not wait for the verdict: what they
have changed is known, and is taken back while the verdict is carried out.
"""

from contextlib import contextmanager

import numpy as np

__all__ = ["Hindsight"]


class Hindsight:
    """Which leaf has counted which instance, and which trials there were.

    Parameters
    ----------
    nodes : Nodes
        Of a tree whose leaves alone count, and keep their slots but for splits.
    labels : int32 array (n,)
    leaves : int32 array (n,)
        Leaf that has counted an instance, -1: none yet; written elsewhere.
    """

    def __init__(self, nodes, labels, leaves):
        self._nodes = nodes
        self._labels = labels
        self._leaves = leaves
        self._trials = []  # (leaf, instance that it was due with, whether counts were halved)

    def tried(self, leaves, halved):
        """Note trials whose reports are in; arrays (trials,)."""
        self._trials += zip(leaves.tolist(), self._nodes.due_at[leaves].tolist(), halved.tolist(), strict=True)

    @contextmanager
    def back_at(self, instance, stop):
        """Leaves that hold a slot have the counts that they had once ``instance`` was learnt.

        Until the context is left; instances from ``stop`` on have not been learnt. A leaf that
        loses its slot meanwhile does not get back into ``own`` what it has counted since.
        """
        nodes = self._nodes
        later = self._leaves[instance + 1 : stop]
        counted = np.flatnonzero(later >= 0)
        leaves, places = np.unique(later[counted], return_inverse=True)
        counts = np.zeros((len(leaves), nodes.classes), np.int64)
        np.add.at(counts, (places, self._labels[instance + 1 : stop][counted]), 1)
        held = nodes.slot[leaves] >= 0
        leaves, counts = leaves[held], counts[held]
        own = counts.sum(axis=1)
        nodes.counts[leaves] -= counts
        nodes.own[leaves] -= own
        yield
        nodes.counts[leaves] += counts
        holds = nodes.slot[leaves] >= 0
        nodes.own[leaves[holds]] += own[holds]

    def forget(self, leaf, instance):
        """Forget a leaf's trials after an instance.

        Returns
        -------
        trials, halvings : int
            How many there were, and how many of them found halved counts.
        """
        gone = [trial for trial in self._trials if trial[0] == leaf and trial[1] > instance]
        self._trials = [trial for trial in self._trials if trial[0] != leaf or trial[1] <= instance]
        return len(gone), sum(halved for *_, halved in gone)
