"""The tree on the board: records in, proposals out; what the front and the array do together.

One order of records; all that happens follows from it. A record is numbered as the tree's instances are,
from 1. It goes down the tree, its leaf predicts, and the array counts it. A trial that is due takes place at
once. If the judge says that it stays, that is all. Else it is a *proposal*: the host is told, and has as many
records as the delay says to answer; then the stream stands before the next record that reaches the node.
"""

from collections import deque
from dataclasses import dataclass

from bregalad.geometry import NONE
from bregalad.protocol.commands import Opcode, pack_command
from bregalad.protocol.leaf_rows import OUT, RowWord
from bregalad.protocol.nodes import NodeKind
from bregalad.protocol.reports import Kind, layout_of

from .board import Golden
from .candidates import Candidate
from .judge import Trial, judge
from .leaf_rows import LeafRows
from .walker import NodeTable, Walker

__all__ = ["Proposal", "TreeBoard"]


@dataclass(frozen=True)
class Proposal:
    """A trial that may change the tree.

    Parameters
    ----------
    node : int
    number : int
        The record that made it due.
    report : bytes
        SUGGESTION or GAINS.
    """

    node: int
    number: int
    report: bytes


class TreeBoard:
    """A board that holds trees, as a model.

    Parameters
    ----------
    geometry : Geometry
    nodes : int
        Rows of the node table.
    cells : int array
        Attribute of every cell in use.
    predictor : Predictor
    paths : bool
        Count at every node of a path.
    delay : int
        Records from a trial until what it has decided takes effect.
    every : int
        When the tree has learnt a multiple of it, all nodes of the path are tried; 0: never.
    rule : dict
        The judge's registers, as ``golden.judge`` takes them.

    Attributes
    ----------
    array : Golden
        Slots, cells and their registers; commands are given to it directly, between two records.
    table : NodeTable
    rows : LeafRows
        Of all nodes; of an inner one the period counts.
    number : int
        Records learnt.

    Source: Domingos and Hulten, KDD 2000, table 1, with a delay; docs/learners.md.
    """

    def __init__(self, geometry, nodes, cells, predictor, *, paths=False, delay=0, every=0, rule=None):
        self.geometry = geometry
        self.array = Golden(geometry)
        self.table = NodeTable(nodes, int(max(cells)) + 1, geometry.slots)
        self.rows = LeafRows(geometry, nodes, by=predictor, told=True, delay=delay)
        self.number = 0
        self._walker = Walker(self.table, paths)
        self._cells = [int(attribute) for attribute in cells]
        self._delay, self._every = delay, every
        self._rule = {"judge.decides": 0} if rule is None else rule
        self._open = deque()  # proposals, until they lock

    def stands(self, codes, root=0):
        """Whether a record has to wait: it reaches a node whose proposal is not answered in time."""
        while self._open and self._open[0].number + self._delay <= self.number:
            self.table.lock(self._open.popleft().node)
        return self._walker.stands(codes, root)

    def learn(self, codes, label, root=0):
        """Learn the next record, which does not have to wait.

        Parameters
        ----------
        codes : sequence of int
            One for each attribute.
        label : int
        root : int

        Returns
        -------
        predicted : int
            Its class by the tree that had learnt all before it.
        proposals : list of Proposal
            From the leaf up.
        """
        self.number += 1
        path = self._walker.give(codes, root)
        leaf = path[0]["node"]
        bayes = self._bayes(path[0]["slot"], codes)
        counted = [item for item in path if item["slot"] != NONE]
        due = {}
        for item in path:
            node = item["node"]
            if item is path[0]:
                result = self.rows.record(leaf, label, counted=item["slot"] != NONE, bayes=bayes)
                predicted = result.label
            else:
                asked = self._every > 0 and self.number % self._every == 0
                result = self.rows.arrive(node, asked=asked)
            if result is not None and result.due:
                due[node] = result
        for item in counted:
            self.array._count(item["slot"], label, False, [codes[attribute] for attribute in self._cells])
        return predicted, [found for item in counted if (found := self._try(item, due.get(item["node"])))]

    def edit(self, changes):
        """Write rows of the node table, all between two records; a row that is None stays, and the lock goes.

        Parameters
        ----------
        changes : sequence of (node, Node or None)
            Those that none leads to first.

        Raises
        ------
        ValueError
            If one is refused.
        """
        for node, row in changes:
            if (error := self.table.edit(node, row)) is not None:
                raise ValueError(f"node {node}: {error.name}")
            self._open = deque(proposal for proposal in self._open if proposal.node != node)

    def is_leaf(self, node):
        """Whether a walk ends at a node."""
        return self.table.rows[node].kind == NodeKind.LEAF

    def forget_trial(self, node):
        """A node's statistics begin anew: there was no trial of it."""
        self.rows.write(node, RowWord.MAJORITY, self.rows.read(node, RowWord.MAJORITY).word & ~OUT)
        self._open = deque(proposal for proposal in self._open if proposal.node != node)

    def _bayes(self, slot, codes):
        """The class by naive Bayes, None if the slot knows none."""
        if not self.geometry.naive_bayes or slot == NONE or not self.array.entries[slot].n:
            return None
        scores = self.array._scores(slot, [codes[attribute] for attribute in self._cells])
        return scores.index(max(scores))

    def _try(self, item, due):
        """A trial of the node, if it is due; a Proposal if it is one."""
        if due is None:
            return None
        node, slot = item["node"], item["slot"]
        report = self.array.execute(pack_command(self.geometry, Opcode.TRIAL, slot=slot))
        proposal = Proposal(node, self.number, report)
        if self._rule["judge.decides"]:
            head = layout_of(Kind.SUGGESTION, self.geometry, 0).unpack(report)
            best, second, current = (_candidate(head, name) for name in ("best", "second", "current"))
            inner = not self.is_leaf(node)
            outcome = Trial(
                int(head["n"]), due.base, due.ask_up_to, due.mixed, inner, best=best, second=second, current=current
            )
            if not judge(self._rule, outcome):
                return None
        self._open.append(proposal)
        return proposal


def _candidate(report, name):
    """One of a SUGGESTION's three."""
    return Candidate(*(int(report[f"{name}_{field}"]) for field in ("cell", "value", "gain")))
