"""Trials that are out, and what becomes of a tree when their verdicts are in."""

import numpy as np

from ...protocol.commands import Opcode
from ...protocol.reports import HEADER, Kind, SuggestionFlag, layout_of
from ..policy.judge import slot_of
from ..policy.policy import KEEP, PRUNE, RELOCATE, TIE, report_form
from ..structure import router
from ..structure.growth import Split
from ..structure.nodes import LEAF
from .decisions import Decision, Decisions

__all__ = ["Trials"]


class Trials:
    """One tree's trials on one board.

    Parameters
    ----------
    geometry : Geometry
    cells : CellMap
    policy : SplitPolicy
    growth : Growth
        Carries out what is decided; takes the commands that ask for statistics.
    classes : int
        Classes in use.
    tally : Tally
        Counts trials and changes.

    Attributes
    ----------
    form : named tuple of ``report_form``
        Of the reports.
    outstanding : int
        Trials whose verdict is not in.
    ready : list of int
        Nodes that withhold instances and have no trial out.
    before : int
        Instances learnt before those that ``due_at`` of a node counts.
    hindsight : Hindsight or None
        Decisions wait until `decide_in_order` is called, and are made with it.
    speculation : Speculation or None
        What the board has counted before a verdict, if anything.
    recounted : int
        Instances that the board counted at a leaf before it split, and then below it.
    """

    def __init__(self, geometry, cells, policy, growth, classes, tally):
        self.geometry = geometry
        self.cells = cells
        self.policy = policy
        self.growth = growth
        self.nodes = growth.nodes
        self.classes = classes
        self.tally = tally
        self.form = report_form(geometry, cells, policy.reports_all)
        self.outstanding = 0
        self.ready = []
        self.before = 0
        self.hindsight = None
        self.speculation = None
        self.recounted = 0
        self._decisions = Decisions(self.nodes)

    def start(self, count):
        """So many trials are out now."""
        self.outstanding += count
        self.tally.trials += count

    @property
    def settled(self):
        """Whether no trial is out and no statistics are to come."""
        return not self.outstanding and not self._decisions.reading

    def find_ready(self):
        """Whether a node may let go an instance now; brings ``ready`` up to date."""
        if not self.ready and self.policy.anytime:
            # Also those where an instance has waited for others below, that are counted now.
            self.ready = router.releasable(self.nodes.table, self.nodes.rows, self.geometry.count_max).tolist()
        return bool(self.ready)

    # Reports

    def judge(self, report):
        """Take in SUGGESTION or GAINS reports, one or several in a row."""
        words = np.frombuffer(report, np.uint32).reshape(-1, self.form.size)
        heads = np.ascontiguousarray(words[:, 0]).view(HEADER.dtype)
        slots, halved = heads["slot"], heads["flags"] & SuggestionFlag.HALVED
        self.tally.halvings += int(halved.sum())
        found = self.policy.judge(words, self.form, self.nodes, self.growth.pool.node, self.classes, self.before)
        nodes = self.growth.pool.node[slots]
        if self.hindsight is not None:
            self.hindsight.tried(nodes, halved)
        still = found.verdict == KEEP
        self._keep(nodes[still & (found.period == 0)])
        change = ~still | (found.period != 0)
        if change.any():
            self.change(nodes[change], *(column[change] for column in found), words[change])
        else:
            self._decide()  # a node that is kept may have been what one below it waited for

    def statistics(self, report):
        """Take in a STATISTICS report."""
        counts = layout_of(Kind.STATISTICS, self.geometry, 0).unpack(report)["counts"]
        self._decisions.statistics(counts.astype(np.int64).reshape(self.geometry.bins, -1))
        self._decide()

    # Changes

    def change(self, nodes, verdicts, cells, values, periods, words):
        """Begin to do what trials have come to, other than nothing.

        Parameters
        ----------
        nodes, verdicts, cells, values, periods : int arrays (trials,)
            As in ``SplitPolicy.judge``.
        words : uint32 array (trials, form.size)
            Their reports.
        """
        self._keep(nodes[verdicts == KEEP])
        for row, node in enumerate(nodes.tolist()):
            if verdicts[row] == KEEP:
                self.growth.restate(node)
                continue
            own = words[row, self.form.class_counts :][: self.nodes.classes].astype(np.int64)
            decision = Decision(node, int(verdicts[row]), own, int(cells[row]), int(values[row]))
            reads = []
            if decision.verdict != PRUNE:
                # A suggestion holds the class counts of one side of the best split; those of all
                # children, and of the missing values, are in the attribute's bins.
                reads = self.cells.cells_of(int(self.cells.attribute[decision.cell]))
                for cell in reads:
                    self.growth.command(Opcode.READ, slot=int(slot_of.py_func(words[row], 0)), cell=int(cell))
                if self.speculation is not None:
                    decision.early = self.speculation.counted(node, reads)
            self._decisions.add(decision, len(reads))
        self._decide()

    def _keep(self, nodes):
        """Verdicts that change nothing."""
        self.outstanding -= len(nodes)
        self.ready += router.open_gates(self.nodes.table, nodes).tolist()

    def _decide(self):
        """Carry out the decisions whose turn it is."""
        while self.hindsight is None and (decision := self._decisions.take()) is not None:
            node = decision.node
            if decision.verdict == PRUNE:
                self._void(node)
                self.growth.prune(node, decision.own)
                self.tally.pruned += 1
            else:
                self._split(node, decision)
            self._keep(np.array([node]))

    @property
    def deciding(self):
        """Whether a decision waits for its turn."""
        return self.hindsight is not None and len(self._decisions) > 0

    @property
    def decidable(self):
        """Whether all that was learnt has come to decisions, whose statistics are there."""
        return (
            self.deciding
            and not self.ready
            and not self._decisions.reading
            and self.outstanding == len(self._decisions)
        )

    def decide_in_order(self, stop):
        """Carry out decisions with hindsight, the earliest first.

        A leaf that loses its slot has lost it with the instance of the split: its own later trials
        are void. What the board has counted there since goes with the slot's statistics.

        Parameters
        ----------
        stop : int
            Instances from there on have not been learnt.
        """
        while self.decidable:
            decision = self._decisions.earliest()
            instance = int(self.nodes.due_at[decision.node])
            with self.hindsight.back_at(instance, stop):
                losers = self._split(decision.node, decision)
            for leaf in losers.tolist():
                trials, halvings = self.hindsight.forget(leaf, instance)
                self.tally.trials -= trials
                self.tally.halvings -= halvings
            void = [leaf for leaf in losers.tolist() if self._decisions.drop([leaf])]
            self._keep(np.array([decision.node, *void]))

    def _split(self, node, decision):
        """Carry out a split; return the leaves that lose their slots."""
        nodes = self.nodes
        split = Split(self.cells, decision.cell, decision.value, decision.bins)
        verdict = decision.verdict
        if verdict == RELOCATE:
            verdict = self._relocate(node, split, decision)
            if verdict == KEEP:
                return np.zeros(0, np.int64)
        inner = nodes.kind[node] != LEAF
        self._void(node)
        if self.speculation is not None:
            self.recounted += self.speculation.forget(node)
        tie = verdict == TIE
        losers = self.growth.split(node, split, decision.own, tie)
        self.tally.replaced += int(inner)
        self.tally.splits += int(not inner)
        self.tally.ties += tie
        return losers

    def _void(self, node):
        """Drop the trials below a node that is about to change."""
        below = self.nodes.descendants(node)[1:].tolist()
        self.outstanding -= self._decisions.drop(below)

    def _relocate(self, node, split, decision):
        """The verdict on another threshold for the attribute that an inner node has."""
        nodes = self.nodes
        old = self.growth.current_split(node, split)
        if old.value == split.value:
            return KEEP
        own = decision.own
        gap = self.policy.gap(split.sides, old.sides, int(own.sum()))
        return self.policy.moved(
            gap,
            int((own + nodes.base[node]).sum()),
            self.classes,
            nodes.depth(node),
            self.before + int(nodes.due_at[node]) + 1,
            len(self.cells.first_cell),
        )
