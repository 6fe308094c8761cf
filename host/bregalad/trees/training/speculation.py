"""Withheld instances that the board counts before the verdict that they wait for.

Few trials come to a split. So where the driver has nothing else to send, the board goes on with the
leaf under trial: its snapshot is taken, and what follows does not change the verdict. If that is to
split, what the leaf has counted since goes with its slot, but for the statistics of the winner,
which the driver puts right; the instances are counted anew, by the leaf's children.
"""

import numpy as np

from ..structure import router
from ..structure.nodes import HOLDING, TRIAL_OUT

__all__ = ["Speculation"]


class Speculation:
    """Which withheld instances a board has counted already.

    Parameters
    ----------
    board : Board
    cells : CellMap
    nodes : Nodes
        Of a tree whose leaves alone count.
    window
        As ``router.advance`` takes it; ``early`` tells of each instance.
    """

    def __init__(self, board, cells, nodes, window):
        self._room = board.early_bytes
        self._most = board.geometry.count_max
        self._bins = board.geometry.bins
        self._cells = cells
        self._nodes = nodes
        self._window = window

    def send(self, out, at):
        """Write records of what is withheld at leaves under trial, the earliest trial's first.

        Parameters
        ----------
        out : uint8 array
        at : int
            Where the records begin.

        Returns
        -------
        int
            Bytes in ``out``.
        """
        nodes, window = self._nodes, self._window
        waiting = np.flatnonzero(nodes.gate == TRIAL_OUT | HOLDING)
        return router.send_early(
            nodes.table,
            window.codes,
            window.labels,
            window.follower,
            window.early,
            waiting[np.argsort(nodes.due_at[waiting])],
            self._most,
            self._cells.attribute,
            out[: at + self._room],
            at,
        )

    def counted(self, leaf, cells):
        """What the board has counted early at a leaf.

        Parameters
        ----------
        leaf : int
        cells : int array
            Of one attribute.

        Returns
        -------
        list of int64 array (bins, classes)
            One of each cell; empty if it has counted nothing early.
        """
        early = self._early(leaf)
        if not len(early):
            return []
        labels = self._window.labels[early]
        found = []
        for cell in cells:
            attribute = self._cells.attribute[cell]
            bins = self._cells.bins_of(
                cell, self._window.codes[early, attribute], self._bins, *self._nodes.code_range(leaf, attribute)
            )
            counts = np.zeros((self._bins, self._nodes.classes), np.int64)
            np.add.at(counts, (bins[bins >= 0], labels[bins >= 0]), 1)
            found.append(counts)
        return found

    def forget(self, leaf):
        """Instances withheld at a leaf are to be counted elsewhere; how many have been here."""
        early = self._early(leaf)
        self._window.early[early] = False
        return len(early)

    def _early(self, leaf):
        """The withheld instances that the board has counted; they are the first ones."""
        found = []
        if self._nodes.gate[leaf] & HOLDING:
            instance = int(self._nodes.head[leaf])
            while instance >= 0 and self._window.early[instance]:
                found.append(instance)
                instance = int(self._window.follower[instance])
        return np.array(found, np.int64)
