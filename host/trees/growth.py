"""Changes to a tree, and the commands that make the board follow: splits, kills, slots."""

import numpy as np

from ..geometry import MISSING, NONE
from ..protocol.commands import CommandFlag, Opcode, pack_command
from .nodes import LEAF, NUMERIC, ONE_VS_REST
from .slots import SlotPool

__all__ = ["Growth", "Split"]

_CODES = MISSING  # codes 0..254 are values


class Split:
    """An attribute's best split at a node, worked out from the attribute's bins.

    Parameters
    ----------
    cells : CellMap
    cell : int
        First cell of the attribute.
    value : int
        As in a suggestion.
    bins : list of int array (bins, classes)
        STATISTICS of the attribute's cells.

    Attributes
    ----------
    attribute, kind, value : int
    sides : int array (children, classes)
        Class counts of the instances with a known value.
    """

    def __init__(self, cells, cell, value, bins):
        self.attribute = int(cells.attribute[cell])
        self.kind = int(cells.kind[cell])
        self.cell = cell
        self.value = value
        self.bins = bins
        if self.kind == NUMERIC:
            self.sides = np.stack([bins[0][:value + 1].sum(axis=0),
                                   bins[0][value + 1:].sum(axis=0)])
            return
        values = cells.values(self.attribute, bins)
        if self.kind == ONE_VS_REST:
            self.sides = np.stack([values[value], values.sum(axis=0) - values[value]])
        else:
            # Branches up to the highest value seen here, as in MOA.
            self.sides = values[:1 + int(np.flatnonzero(values.any(axis=1)).max(initial=0))]


class Growth:
    """One tree's nodes and their slots on one board.

    Parameters
    ----------
    geometry : Geometry
    cells : CellMap
    policy : SplitPolicy
    nodes : Nodes
    commands : list
        Commands for the board are appended to it, packed.
    """

    def __init__(self, geometry, cells, policy, nodes, commands):
        self.geometry = geometry
        self.bins = geometry.bins
        self.cells = cells
        self.policy = policy
        self.nodes = nodes
        self.pool = SlotPool(geometry.slots)
        self._commands = commands

    def command(self, opcode, **values):
        """Queue a command."""
        self._commands.append(pack_command(self.geometry, opcode, **values))

    def start(self):
        """Give a new tree's root its slot."""
        self._begin(np.array([0]), self.policy.first_wait)
        self.nodes.slot[0] = slot = self.pool.take(0)
        self.command(Opcode.CLEAR, slot=slot)

    def _begin(self, leaves, wait):
        self.nodes.period[leaves] = self.policy.grace
        self.nodes.wait[leaves] = wait

    # Splits

    def split(self, node, split, own, tie):
        """Turn a leaf into a test, or replace an inner node's test and all below.

        Parameters
        ----------
        node : int
        split : Split
        own : int array (classes,)
            The board's class counts of the node.
        tie : bool
        """
        nodes, policy = self.nodes, self.policy
        sides = split.sides.copy()
        default = int(np.argmax(sides.sum(axis=1)))
        # Instances with the value missing go where later ones will go.
        sides[default] += np.maximum(own - sides.sum(axis=0), 0)
        majority = int(np.argmax(own + nodes.base[node]))
        self._kill(node)
        child = nodes.add(len(sides))
        family = np.arange(child, child + len(sides))
        nodes.kind[node] = split.kind
        nodes.attribute[node] = split.attribute
        nodes.threshold[node] = split.value
        nodes.child[node] = child
        nodes.width[node] = len(sides)
        nodes.default[node] = default
        nodes.parent[family] = node
        nodes.majority[family] = np.where(sides.any(axis=1), sides.argmax(axis=1), majority)
        if split.kind == NUMERIC:
            low, high = self._code_range(node, split.attribute)
            nodes.threshold[node] = low + (split.value + 1 << self._shift(high - low))
            self._set_ranges(node, split, low, high)
        if policy.child_counts == "inherit":
            nodes.counts[family] = nodes.base[family] = sides
        self._begin(family, policy.child_wait(int(nodes.wait[node]), tie))
        if policy.anytime:
            self._enter_role(node)
        self._settle(node, family)

    def current_split(self, node, split):
        """The split that an inner node has, from the statistics of another on the attribute."""
        value = int(self.nodes.threshold[node])
        if split.kind == NUMERIC:
            low, high = self._code_range(node, split.attribute)
            value = (value - low >> self._shift(high - low)) - 1
        return Split(self.cells, split.cell, value, split.bins)

    def restate(self, node):
        """Tell the board a node's period; its statistics stay."""
        self.place(node, int(self.nodes.slot[node]), CommandFlag.KEEP)

    def prune(self, node, own):
        """Turn an inner node back into a leaf that keeps its statistics."""
        nodes = self.nodes
        self._kill(node)
        nodes.counts[node] = own + nodes.base[node]
        nodes.majority[node] = int(np.argmax(nodes.counts[node]))
        nodes.own[node] = own.sum()
        nodes.right[node] = 0
        self._enter_role(node)

    def _kill(self, node):
        slots = self.nodes.slot[self.nodes.descendants(node)[1:]]
        for slot in slots[slots >= 0]:
            self.pool.give_back(int(slot))
        self.nodes.kill(node)

    def _enter_role(self, node):
        """Tell the board whether a node that keeps its statistics is a leaf or an inner one."""
        nodes = self.nodes
        inner = nodes.kind[node] != LEAF
        nodes.since[node] = 0
        nodes.period[node] = (0 if self.policy.tree_wide else self.policy.inner_grace) if inner \
            else self.policy.grace
        self.place(node, int(nodes.slot[node]), CommandFlag.KEEP)

    def place(self, node, parent_slot, flags=0, **zoom):
        """Set up the slot of a node."""
        nodes = self.nodes
        slot = int(nodes.slot[node])
        role = {"link": self.link(node)}
        if nodes.kind[node] != LEAF:
            flags |= CommandFlag.INNER
            role["current"] = int(self.cells.first_cell[nodes.attribute[node]])
        else:
            standard = nodes.period[node] == self.policy.grace
            role["period"] = 0 if standard else int(nodes.period[node])
        self.command(Opcode.PLACE, flags=flags, slot=slot, parent=parent_slot, **role, **zoom)

    def link(self, node):
        """The slot that counts a node's instances, too; NONE at the root, and in VFDT."""
        parent = int(self.nodes.parent[node])
        return int(self.nodes.slot[parent]) if self.policy.anytime and parent >= 0 else NONE

    # Zoom

    def _code_range(self, node, attribute):
        return self.nodes.code_range(node, attribute, _CODES)

    def _shift(self, codes):
        shift = 0
        while self.bins << shift < codes:
            shift += 1
        return shift

    def _set_ranges(self, node, split, low, high):
        """The codes that the bins of a numeric test's children cover."""
        nodes = self.nodes
        left, right = nodes.children(node)
        threshold = int(nodes.threshold[node])
        if self.policy.zoom == "seen":
            held = np.flatnonzero(split.bins[0].any(axis=1))
            shift = self._shift(high - low)
            low, high = low + (int(held[0]) << shift), min(high, low + (int(held[-1]) + 1 << shift))
        # A split at a trivial threshold may leave one side without codes.
        threshold = min(max(threshold, low), high)
        nodes.low[left], nodes.high[left] = low, threshold
        nodes.low[right], nodes.high[right] = threshold, high

    def _zoom(self, leaf):
        """Where a child's bins for its parent's numeric attribute differ from its parent's."""
        nodes = self.nodes
        parent = int(nodes.parent[leaf])
        if nodes.kind[parent] != NUMERIC:
            return {}
        low, high = int(nodes.low[leaf]), int(nodes.high[leaf])
        return {"cell": int(self.cells.first_cell[nodes.attribute[parent]]), "lo": low,
                "shift": self._shift(high - low)}

    def rezoom(self, node):
        """Set a cleared slot's zoom to what its node's path asks for."""
        slot = int(self.nodes.slot[node])
        for step in [*self.nodes.path(node)][-2::-1]:
            zoom = self._zoom(step)
            if zoom:
                self.command(Opcode.PLACE, slot=slot, parent=slot, **zoom)

    # Slots

    def _settle(self, node, family):
        """Hand free slots, and that of a node that counts no more, to new leaves."""
        nodes, pool = self.nodes, self.pool
        slot = int(nodes.slot[node])
        keeps = self.policy.anytime
        if not keeps:
            nodes.slot[node] = -1
        if len(family) <= pool.free + (not keeps):
            keepers = family
        else:
            leaves = nodes.leaves()
            active = leaves[nodes.slot[leaves] >= 0]
            keep = pool.keepers(nodes, leaves[np.isin(leaves, [*active, *family])],
                                self._slots_for_leaves)
            for leaf in np.setdiff1d(active, keep):
                self._deactivate(int(leaf))
            keepers = np.intersect1d(family, keep)
        # A slot that is handed over comes last: until then its zoom is what the others inherit.
        for leaf in keepers[not keeps:]:
            nodes.slot[leaf] = pool.take(leaf)
            self.place(int(leaf), slot, **self._zoom(int(leaf)))
        if keeps:
            return
        if len(keepers):
            pool.hand_over(slot, int(keepers[0]))
            nodes.slot[keepers[0]] = slot
            self.place(int(keepers[0]), slot, **self._zoom(int(keepers[0])))
        else:
            pool.give_back(slot)

    @property
    def _slots_for_leaves(self):
        if not self.policy.anytime:
            return self.pool.slots
        return self.pool.slots - (len(self.nodes) - len(self.nodes.leaves()))

    def _deactivate(self, leaf):
        self.pool.give_back(int(self.nodes.slot[leaf]))
        self.nodes.slot[leaf] = -1
        self.nodes.since[leaf] = 0

    def _activate(self, node):
        """Give a node without a slot one; its statistics start anew."""
        nodes = self.nodes
        nodes.slot[node] = slot = self.pool.take(node)
        nodes.since[node] = nodes.own[node] = 0
        if nodes.kind[node] == LEAF and self.policy.child_counts == "inherit":
            nodes.base[node] = nodes.counts[node]
        else:
            nodes.base[node] = 0
        self.command(Opcode.CLEAR, slot=slot)
        self.rezoom(node)
        self.place(node, slot, CommandFlag.KEEP)

    def review(self):
        """Let all leaves compete for the slots if some have none."""
        nodes = self.nodes
        leaves = nodes.leaves()
        if (nodes.slot[leaves] >= 0).all():
            return
        keep = self.pool.keepers(nodes, leaves, self._slots_for_leaves)
        for leaf in np.setdiff1d(leaves[nodes.slot[leaves] >= 0], keep):
            self._deactivate(int(leaf))
        for leaf in keep[nodes.slot[keep] < 0]:
            self._activate(int(leaf))

    def restart(self):
        """Give all nodes that count a slot each, with empty statistics."""
        nodes = self.nodes
        nodes.slot[:] = -1
        self.pool = SlotPool(self.pool.slots)
        if self.policy.anytime:
            for node in nodes.descendants().tolist():
                if nodes.kind[node] != LEAF:
                    self._activate(node)
        self.review()

    # The future

    def slots_needed(self, count):
        """An upper bound on the slots that ``count`` more instances can take."""
        nodes, policy = self.nodes, self.policy
        leaves = nodes.leaves()
        active = leaves[nodes.slot[leaves] >= 0]
        branches = self.cells.most_branches
        trials = _most_trials(nodes.period[active] - nodes.since[active], policy.grace, count)
        if not policy.anytime:
            return trials * (branches - 1)
        inner = nodes.descendants()
        inner = inner[nodes.kind[inner] != LEAF]
        # An instance passes one inner node per level, those of splits to come among them.
        arrivals = count * (nodes.deepest + min(trials, count // policy.grace))
        changes = 0 if not len(inner) and not trials else _most_trials(
            policy.inner_grace - nodes.since[inner] if not policy.tree_wide else np.zeros(0),
            policy.inner_grace, arrivals)
        # A subtree that is replaced gives back what its children hold, mostly.
        freed = 2 if len(active) == len(leaves) else 0
        return trials * branches + changes * (branches - freed)


def _most_trials(remaining, period, count):
    """An upper bound on the trials that ``count`` arrivals at nodes can make due.

    Parameters
    ----------
    remaining : int array
        Per node, arrivals until its next trial.
    """
    reach = np.searchsorted(np.cumsum(np.sort(remaining)), count, side="right")
    return int(reach) + count // period
