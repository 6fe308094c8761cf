"""Verdicts that change the tree, kept until their statistics are there and it is their turn."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from ..structure.nodes import TRIAL_OUT, Nodes

__all__ = ["Decision", "Decisions"]


@dataclass
class Decision:
    """What a trial has come to.

    ``own``: the board's class counts of the node; ``bins``: STATISTICS of the winner's cells, of
    which ``missing`` more are to come, less what they hold from after the trial, ``early``.
    """

    node: int
    verdict: int
    own: np.ndarray
    cell: int
    value: int
    missing: int = 0
    bins: list = field(default_factory=list)
    early: list = field(default_factory=list)


class Decisions:
    """Decisions in the order of the instances that they are due with, at related nodes.

    Of the trials that one instance makes due the upper node's comes first, and if its subtree is
    killed the lower ones are void. A trial's report may overtake the statistics that an earlier
    decision in its subtree waits for.

    Parameters
    ----------
    nodes : Nodes
    """

    def __init__(self, nodes: Nodes):
        self.nodes = nodes
        self._reads: deque = deque()  # decisions, one for each STATISTICS report to come
        self._waiting: dict = {}  # node: decision

    def add(self, decision, reads):
        """Queue a decision that asks for ``reads`` STATISTICS reports."""
        decision.missing = reads
        self._reads.extend([decision] * reads)
        self._waiting[decision.node] = decision

    @property
    def reading(self):
        """Whether STATISTICS reports are to come, be it for decisions that were dropped."""
        return bool(self._reads)

    def statistics(self, bins):
        """Take in the next STATISTICS report."""
        decision = self._reads.popleft()
        if decision.early:
            bins = bins - decision.early[len(decision.bins)]
        decision.bins.append(bins)
        decision.missing -= 1

    def __len__(self):
        return len(self._waiting)

    def earliest(self):
        """Remove and return the decision of the earliest instance."""
        return self._waiting.pop(min(self._waiting, key=lambda node: self.nodes.due_at[node]))

    def drop(self, nodes):
        """Forget the decisions at nodes that are killed; return how many there were."""
        gone = [node for node in nodes if node in self._waiting]
        for node in gone:
            del self._waiting[node]
        return len(gone)

    def take(self):
        """Remove and return a decision whose turn it is, None if there is none."""
        for node, decision in self._waiting.items():
            if not decision.missing and self._first(node):
                return self._waiting.pop(node)
        return None

    def _first(self, node):
        nodes = self.nodes
        due_at = nodes.due_at[node]
        above = list(nodes.path(node))[1:]
        if any(nodes.gate[other] & TRIAL_OUT and nodes.due_at[other] == due_at for other in above):
            return False
        return not any(
            nodes.due_at[other] < due_at and node in nodes.path(other) for other in self._waiting if other != node
        )
