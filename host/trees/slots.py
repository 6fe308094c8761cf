"""Which leaves hold a slot on the board when there are more leaves than slots."""

import numpy as np

__all__ = ["SlotPool"]


class SlotPool:
    """Free slots, and the choice of the leaves that keep one.

    The least promising leaf, by the share of instances that reach it times its error, is the
    first to lose its slot (Domingos and Hulten 2000, section 3.3).

    Parameters
    ----------
    slots : int
        S of the board.
    """

    def __init__(self, slots):
        self.slots = slots
        self.node = np.full(slots, -1, np.int64)  # node of every slot, -1: free
        self._free = list(range(slots - 1, -1, -1))

    @property
    def free(self):
        """How many slots hold no node."""
        return len(self._free)

    def take(self, node):
        """Give a free slot to a node; return the slot."""
        slot = self._free.pop()
        self.node[slot] = node
        return slot

    def hand_over(self, slot, node):
        """Let another node have a slot that is taken."""
        self.node[slot] = node

    def give_back(self, slot):
        """Free a slot."""
        self.node[slot] = -1
        self._free.append(slot)

    def keepers(self, nodes, leaves, room):
        """The ``room`` most promising of ``leaves``, which are given from left to right."""
        if len(leaves) <= room:
            return leaves
        # Of equals the left one stays: node numbers depend on when reports arrived.
        order = np.argsort(-nodes.promise(leaves), kind="stable")
        return leaves[np.sort(order[:max(0, room)])]
