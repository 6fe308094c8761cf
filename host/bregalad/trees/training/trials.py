"""Trials that are out, and what becomes of a tree when a decision takes effect.

A node that is tried at a block's end keeps the verdict (``Nodes.verdict``) until it takes effect, at the next
block's end, whenever its report comes. So tree and predictions follow from the stream alone, never from timing
(docs/learners.md, "Blocks").
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from ...geometry import NONE
from ...protocol.reports import HEADER, SuggestionFlag
from ..policy.policy import ALTERNATE, CONSULT, KEEP, PRUNE, RELOCATE, SWAP, TIE, report_form
from ..structure.growth import Split
from ..structure.memory import date
from ..structure.table import ASKED, LEAF, has_alternate

__all__ = ["Trials"]


@dataclass
class _Decision:
    """What a trial has decided, while ``wanted`` statistics are read for it; ``due``: the node's ``due_at``."""

    node: int
    due: int
    verdict: int
    cell: int
    value: int
    wanted: int
    found: list = field(default_factory=list)


class Trials:
    """One tree's trials on one board.

    Parameters
    ----------
    geometry : Geometry
    cells : CellMap
    policy : SplitPolicy
    growth : Growth
        Carries out what is decided.
    classes : int
        Classes in use.
    tally : Tally
        Counts trials and changes.

    Attributes
    ----------
    form : named tuple of ``report_form``
        Of the reports.
    totals : Totals or None
        What a policy that consults wants to know of the stream.
    """

    totals = None

    def __init__(self, geometry, cells, policy, growth, classes, tally):
        self.cells = cells
        self.policy = policy
        self.growth = growth
        self.nodes = growth.nodes
        self.classes = classes
        self.tally = tally
        self.form = report_form(geometry, cells, policy.reports_all)
        self._out = deque()  # (node, its ``due_at``) of those whose reports are to come, in order
        self._reading = deque()  # decisions, of those whose statistics are

    def start(self, tried):
        """Trials of these nodes are out now; int64 array."""
        nodes = self.nodes
        nodes.since[tried], nodes.due_at[tried], nodes.verdict[tried] = 0, self.tally.instances, ASKED
        self._out.extend((node, self.tally.instances) for node in tried.tolist())
        self.tally.trials += len(tried)

    @property
    def outstanding(self):
        """Whether the report of any trial, or statistics for a decision, are to come."""
        return bool(self._out or self._reading)

    def judge(self, report):
        """Take in SUGGESTION or GAINS reports, one or several in a row."""
        words = np.frombuffer(report, np.uint32).reshape(-1, self.form.size)
        flags = np.ascontiguousarray(words[:, 0]).view(HEADER.dtype)["flags"]
        self.tally.halvings += int(((flags & SuggestionFlag.HALVED) != 0).sum())
        nodes, due = np.array([self._out.popleft() for _ in words], np.int64).T.copy()
        found = self.policy.judge(words, self.form, self.nodes, nodes, due, self.classes)
        still = self.nodes.due_at[nodes] == due
        for name, column in found._asdict().items():
            getattr(self.nodes, name)[nodes[still]] = column[still]

    def begin(self, node):
        """A node's decision takes effect now.

        Returns
        -------
        list of (slot, cell)
            What is to be read for it: the node's entry, by NONE, and the bins of the attribute that wins, or of all. A
            suggestion holds the class counts of one side of the best split, and not those of missing values.
            Nothing for an alternate: that is done.
        """
        nodes = self.nodes
        verdict, cell, value, due = (int(getattr(nodes, name)[node]) for name in ("verdict", "cell", "value", "due_at"))
        if verdict >= ALTERNATE and not (verdict == ALTERNATE and self.policy.rivals):
            self._change_alternate(node, verdict)
            return []
        if verdict == CONSULT:
            cells = list(range(len(self.cells)))
        else:
            cells = [] if verdict == PRUNE else self.cells.cells_of(int(self.cells.attribute[cell])).tolist()
        nodes.verdict[node] = ASKED
        self._reading.append(_Decision(node, due, verdict, cell, value, 1 + len(cells)))
        slot = int(nodes.slot[node])
        return [(slot, NONE), *((slot, cell) for cell in cells)]

    def _change_alternate(self, node, verdict):
        nodes, growth, tally = self.nodes, self.growth, self.tally
        nodes.verdict[node] = KEEP
        if verdict == SWAP:
            growth.swap(node)
            tally.swapped += 1
            return
        begins = verdict == ALTERNATE
        if not begins or has_alternate(nodes.table, node):
            node = int(nodes.parent[node]) if begins else node
            growth.drop(node)
            tally.dropped += 1
        if begins:
            growth.fork(node)
            tally.alternates += 1

    @property
    def reading(self):
        """Whether the next statistics are for a decision."""
        return bool(self._reading)

    def take(self, statistics):
        """Take in what was to be read, one after the other; with the last, True, the decision is carried out."""
        decision = self._reading[0]
        decision.found.append(statistics)
        if len(decision.found) < decision.wanted:
            return False
        self._reading.popleft()
        if self.nodes.due_at[decision.node] == decision.due:  # else it is no more
            self._carry_out(decision)
        return True

    def _carry_out(self, decision):
        nodes, tally, node, verdict = self.nodes, self.tally, decision.node, decision.verdict
        nodes.verdict[node] = KEEP
        entry, *bins = decision.found
        own = entry["class_counts"].astype(np.int64)
        if verdict == PRUNE:
            self.growth.prune(node, own, int(entry["n"]))
            tally.pruned += 1
            return
        cell, value = decision.cell, decision.value
        if verdict == CONSULT:
            totals = self.totals.at(max(decision.due + self.policy.delay, tally.instances))
            verdict, cell, value = self.policy.consult(self.growth, node, own, bins, totals)
            if verdict == KEEP:
                return
            bins = [bins[place] for place in self.cells.cells_of(int(self.cells.attribute[cell]))]
        split = Split(self.cells, cell, value, bins)
        if verdict == RELOCATE:
            verdict = self._relocate(node, split, own)
            if verdict == KEEP:
                return
            verdict = ALTERNATE if self.policy.rivals else verdict
        if verdict == ALTERNATE:
            self._begin_rival(node, split, own)
            return
        inner, tie = nodes.kind[node] != LEAF, verdict == TIE
        self.growth.split(node, split, own, tie)
        if self.policy.window is not None:
            date(nodes.table, node, tally.instances, self.growth.style.inherit)
        tally.replaced += int(inner)
        tally.splits += int(not inner)
        tally.ties += tie

    def _begin_rival(self, node, split, own):
        """Let an alternate begin beside a node, with a split that the node's statistics have told."""
        nodes, growth, tally, seen = self.nodes, self.growth, self.tally, self.tally.instances
        alternate = growth.fork(node)
        beside = int(nodes.child[node])
        if nodes.slot[alternate] < 0:
            growth.drop(node)
            return
        nodes.born[alternate] = nodes.made[alternate] = seen
        nodes.base[alternate] = nodes.base[beside]  # for the majority class of empty children
        growth.split(alternate, split, own, False)
        nodes.base[alternate] = 0
        date(nodes.table, alternate, seen, False)
        if growth.style.inherit:
            nodes.made[list(nodes.children(alternate))] = nodes.born[beside]
        tally.alternates += 1

    def _relocate(self, node, split, own):
        """The verdict on another threshold for the attribute that an inner node has."""
        nodes = self.nodes
        old = self.growth.current_split(node, split)
        if old.value == split.value:
            return KEEP
        return self.policy.moved(
            self.policy.gap(split.sides, old.sides, int(own.sum())),
            int((own + nodes.base[node]).sum()),
            self.classes,
            nodes.depth(node),
            int(nodes.due_at[node]),
            len(self.cells.first_cell),
        )
