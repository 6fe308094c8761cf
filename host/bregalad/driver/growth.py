"""Changes to a tree, and the edits of slots that make the board follow: splits, kills, slots."""

import numpy as np

from ..engine.history import record_event
from ..tree import deactivation
from ..tree.alternates import begin, end
from ..tree.edits import CLEAR, EDIT, SLOT, WHAT
from ..tree.slots import SlotPool, take_slot
from ..tree.split import Split, enter_role, link, shift_of, style_of
from ..tree.table import NUMERIC, Tree


class Growth:
    """One tree's nodes and their slots, from ``first_slot`` on, on one board.

    ``apply`` is given the edits of slots, int64 array (n, EDIT), and has the board carry them out in their order.
    ``out``, int64 array (rows, EDIT), has edits that compiled code writes, and is of nobody for longer than a call.
    """

    def __init__(self, geometry, cells, policy, nodes, apply, event_counts, first_slot=0):
        self.geometry = geometry
        self.cells = cells
        self.policy = policy
        self.nodes = nodes
        self.event_counts = event_counts
        self.pool = SlotPool(geometry.slots, first_slot)
        # Of a tree that was learnt by another policy; any other wait than this is not 0.
        nodes.wait[nodes.wait == 0] = policy.first_wait
        self.style = style_of(geometry, policy, cells)
        self._apply = apply
        # Edits at most that compiled code writes: it looks at no bounds. A split has one for the node, for every
        # child, and for all slots whose links go; a node that gets a slot one for every attribute. An attribute has
        # as many children as bins at most, whatever these have counted, be it what a damaged file says.
        cells = np.bincount(cells.attribute)
        self.most_edits = max(1 + geometry.bins * int(cells.max()) + geometry.slots, 2 + len(cells))
        # In a review every slot may go from one leaf to another.
        self.review_edits = geometry.slots * (3 + len(cells))
        # Memory that nothing is written to is none.
        self.out = np.zeros((max(self.most_edits, self.review_edits), EDIT), np.int64)

    def start(self):
        """Give a new tree's root its slot."""
        self.nodes.period[0] = self.policy.grace
        self.clear(self.take(0))

    # Splits

    def split(self, node, split, observed, tie):
        """Turn a leaf into a test, or replace an inner node's test and all below; others as in `sprout`."""
        self.nodes.reserve(len(split.sides))
        found = split.attribute, split.kind, split.value, split.values, split.sides.copy(), observed, tie
        self._send(deactivation.divide(self.arrays, node, *found, self.style.anytime, 1))

    def current_split(self, node, split):
        """The split that an inner node has, from the statistics of another on the attribute."""
        value = int(self.nodes.threshold[node])
        if split.kind == NUMERIC:
            low, high = self.nodes.code_range(node, split.attribute)
            # Since a code book has changed it may lie within a bin, which counts as below it then.
            shift = shift_of(self.geometry.bins, high - low)
            value = (value - low + (1 << shift) - 1 >> shift) - 1
        return Split(self.cells, split.cell, value, split.bins)

    def prune(self, node, observed, n):
        """Turn an inner node back into a leaf with its statistics: ``n`` instances, ``observed`` of each class."""
        nodes = self.nodes
        deactivation.clear_below(self.arrays, node)
        nodes.counts[node] = observed + nodes.inherited[node]
        nodes.majority[node] = int(np.argmax(nodes.counts[node]))
        nodes.observed[node] = n
        nodes.right[node] = 0
        self._send(enter_role(self.arrays, node, 0))

    # Alternates

    def fork(self, node):
        """Let an alternate grow beside a node; return it: a leaf that has seen nothing.

        Where no slot is free for it, the least promising leaf loses its own; where inner nodes have all, it has none.
        """
        if not self.pool.free:
            deactivation.free_slot(self.arrays)
        nodes = self.nodes
        nodes.reserve(2)
        alternate, used = begin(self.arrays, node, self.event_counts.instances)
        self._send(used)
        return alternate

    def join(self, fork, branch):
        """As `alternates.end`: let the alternate, 1, or the node beside it, 0, stay alone."""
        self._send(end(self.arrays, fork, branch))

    @property
    def arrays(self):
        """What compiled code changes a tree and its slots by: a `Tree`."""
        nodes, pool = self.nodes, self.pool
        mine, log = (nodes.table, nodes.matrices, nodes.room, nodes.blank), self.event_counts.history.log
        return Tree(*mine, self.style, self.cells.first_cell, pool.stack, pool.node, self.out, log)

    def record(self, event, node):
        """Have the tree's history know what happens to a node, see ``history.record_event``."""
        record_event(self.arrays, event, int(node), self.event_counts.instances)

    def clear(self, slot):
        """Have a slot begin anew."""
        self.out[0, [WHAT, SLOT]] = CLEAR, slot
        self._send(1)

    def _send(self, used):
        if used:
            self._apply(self.out[:used])

    def link(self, node):
        """The slot that counts a node's instances, too; NONE at the root, and in VFDT."""
        return int(link(self.arrays, node))

    def set_bin_windows(self, node):
        """Set a cleared slot's bin window to what its node's path asks for."""
        self._send(deactivation.set_bin_windows(self.arrays, node, 0))

    # Slots

    def take(self, node):
        """Give a node a free slot; return the slot."""
        self.nodes.slot[node] = slot = int(take_slot(self.pool.stack, self.pool.node, node))
        return slot

    def review(self):
        """Let all leaves compete for the slots if some have none; whether that has changed anything."""
        if not deactivation.competing(self.nodes.table, self.nodes.room):
            return False
        changed, used = deactivation.review(self.arrays, self.event_counts.instances)
        self._send(used)
        return changed > 0

    def restart(self):
        """Give all nodes that count a slot each, with empty statistics."""
        nodes = self.nodes
        nodes.slot[:] = -1
        self.pool = SlotPool(self.pool.slots, self.pool.first)
        if self.policy.anytime:
            for node in nodes.inner().tolist():
                self._send(deactivation.activate(self.arrays, node, self.event_counts.instances, 0))
        self.review()
