"""A look at a tree: its sizes, its text, its difference from another one, its board's counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..words import counted
from . import draw
from .shared import Shared
from .structure.table import LEAF
from .turns import reading, together

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..hints import Frame
    from ..link import Statistics
    from .estimator import StreamTree

__all__ = ["Inspection"]


class Inspection(Shared):
    """Mixin of ``StreamTree``: what a tree tells of itself."""

    @reading
    def report(self) -> dict[str, Any]:
        """Sizes and counts as a dict: instances, nodes, leaves, depth, splits, ties, trials ...

        ``leaf_prediction``: what leaves predict by.
        ``slots``: those in use on the board, or that it will take when it is opened.
        """
        self._fitted()
        events = self._tally.as_dict()
        del events["begun"]
        if self._nodes is None:
            return {
                **events,
                "nodes": 1,
                "leaves": 1,
                "inactive_leaves": 0,
                "slots": 1,
                "depth": 0,
                "leaf_prediction": self.leaf_prediction_,
            }
        nodes = self._nodes
        predicting = nodes.predicting()
        leaves = predicting[nodes.kind[predicting] == LEAF]
        return {
            **events,
            "nodes": len(predicting),
            "leaves": len(leaves),
            "inactive_leaves": int((nodes.slot[leaves] < 0).sum()),
            "slots": self._slots_in_use,
            "depth": int(nodes.deepest),
            "leaf_prediction": self.leaf_prediction_,
        }

    @reading
    def leaf_counts(self, X: Frame) -> NDArray[np.int64]:
        """How many instances of each class the leaf of every instance counts; int array (n, classes).

        Those that its majority class is found by: with ``child_counts="inherit"`` the split above
        has given it some.
        """
        leaves = self.apply(X)
        return self._nodes.counts[leaves, : len(self.classes_)]

    @property
    def _slots_in_use(self):
        trainer = self.__dict__.get("_trainer")
        if trainer is not None:
            return trainer.growth.pool.slots - trainer.growth.pool.free
        return 0 if self._checkpoint is None else len(self._checkpoint["nodes"])

    @reading
    def draw(self, max_depth: int | None = None) -> str:
        """The tree as text; where nothing is split, also how far that is and what predicts."""
        draw.check_depth(max_depth)
        drawn = draw.text(self._shown(), max_depth)
        return drawn if self._nodes.deepest else f"{drawn}\n{self._unsplit()}"

    @reading
    def to_graphviz(self, max_depth: int | None = None) -> str:
        """The tree in Graphviz's DOT language."""
        draw.check_depth(max_depth)
        return draw.dot(self._shown(), max_depth)

    def _unsplit(self):
        leaf = self._nodes.table[self._nodes.standing(0)]
        how = self.leaf_prediction_
        bayes = how == "nb" or how == "nba" and leaf["right"] <= 0
        return (
            f"No split {'is left' if self._tally.splits else 'yet'}: {counted(self._tally.instances, 'instance')}, "
            f"{counted(self._tally.trials, 'trial')}, one every {leaf['period']} (grace). "
            f"The leaf predicts {'by naive Bayes' if bayes else 'its majority class'} ({how})."
        )

    def _shown(self):
        self._grown()
        return draw.View(self._nodes, self._quantiser, self.schema_, self.classes_)

    def difference(self, other: StreamTree) -> str | None:
        """The first difference from another tree in words, or None."""
        with together(self, other):
            for tree in (self, other):
                tree._grown()
            return self._nodes.difference(other._nodes)

    @reading
    def counters(self) -> dict[str, int]:
        """The board's performance counters; see ``Board.counters``."""
        self._fitted()
        trainer = self._open_trainer()
        trainer.driver.fence()  # or the last records would still be under way
        return trainer.board.counters()

    @reading
    def link_statistics(self) -> Statistics | None:
        """Frames and bytes to and from the board; see ``Board.statistics``. None: no link."""
        return None if self._trainer is None else self._trainer.board.statistics()

    @reading
    def quantiser_summary(self) -> dict[str, Any]:
        """Codes used and values lost per attribute; see ``Quantiser.summary``."""
        self._fitted()
        return self._quantiser.summary()
