"""Trials that are out, and what becomes of a tree when a decision takes effect.

A node that is tried at a block's end keeps the verdict (``Nodes.verdict``) until it takes effect, at the next
block's end, whenever its report comes. So tree and predictions follow from the stream alone, never from timing
(docs/learners.md, "Blocks").
"""

from ..policy.decide import ALTERNATE, CONSULT, KEEP, PRUNE, RELOCATE, SWAP, TIE, form_of
from ..tree.split import Split
from ..tree.table import LEAF, ROWS, has_alternate
from ..tree.window import date


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
        self.form = form_of(geometry.classes, cells, policy.reports_all)

    def carrying_out(self, node, reading):
        """Have a node's decision take effect; a generator.

        Parameters
        ----------
        node : int
        reading : callable
            ``Driver.reading``: of the attribute that wins, or of all. For an alternate nothing is read.
        """
        nodes, tally = self.nodes, self.tally
        verdict, cell, value = (int(getattr(nodes, name)[node]) for name in ("verdict", "cell", "value"))
        nodes.verdict[node] = KEEP
        if verdict >= ALTERNATE and not (verdict == ALTERNATE and self.policy.rivals):
            self._change_alternate(node, verdict)
            return
        if verdict == CONSULT:
            cells = list(range(len(self.cells)))
        else:
            cells = [] if verdict == PRUNE else self.cells.cells_of(int(self.cells.attribute[cell])).tolist()
        n, own, bins = yield from reading(int(nodes.slot[node]), cells)
        if verdict == PRUNE:
            self.growth.prune(node, own, n)
            tally.pruned += 1
            return
        if verdict == CONSULT:
            totals = self.totals.at(tally.instances)
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
        if nodes.room[ROWS] > self.growth.style.most_rows:  # the board's table has no room for children
            return
        inner, tie = nodes.kind[node] != LEAF, verdict == TIE
        self.growth.split(node, split, own, tie)
        if self.policy.window is not None:
            date(nodes.table, node, tally.instances, self.growth.style.inherit)
        tally.replaced += int(inner)
        tally.splits += int(not inner)
        tally.ties += tie

    def _change_alternate(self, node, verdict):
        nodes, growth, tally = self.nodes, self.growth, self.tally
        if verdict == SWAP:
            growth.swap(node)
            tally.swapped += 1
            return
        begins = verdict == ALTERNATE
        if begins and not growth.may_fork(node):
            return
        if not begins or has_alternate(nodes.table, node):
            node = int(nodes.parent[node]) if begins else node
            growth.drop(node)
            tally.dropped += 1
        if begins:
            growth.fork(node)
            tally.alternates += 1

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
