"""Which leaves hold a slot on the board when there are more leaves than slots."""

import numpy as np

from ...compiled import njit

__all__ = ["SlotPool", "take_slot"]


@njit(cache=True)
def take_slot(stack, slot_node, node):
    """As ``SlotPool.take``, for compiled code."""
    slot = stack[stack[0]]
    stack[0] -= 1
    slot_node[slot] = node
    return slot


class SlotPool:
    """Free slots, and the choice of the leaves that keep one.

    The least promising leaf, by the share of instances that reach it times its error, is the
    first to lose its slot (Domingos and Hulten 2000, section 3.3).

    Parameters
    ----------
    slots : int
        S of the board.

    Attributes
    ----------
    node : int64 array (slots,)
        Node of every slot, -1: free.
    stack : int64 array (slots + 1,)
        How many slots are free, then these, the next one last.
    """

    def __init__(self, slots):
        self.slots = slots
        self.node = np.full(slots, -1, np.int64)
        self.stack = np.append(slots, np.arange(slots - 1, -1, -1))

    @property
    def free(self):
        """How many slots hold no node."""
        return int(self.stack[0])

    def take(self, node):
        """Give a free slot to a node; return the slot."""
        return int(take_slot(self.stack, self.node, node))

    def give_back(self, slot):
        """Free a slot."""
        self.node[slot] = -1
        self.stack[0] += 1
        self.stack[self.stack[0]] = slot

    def keepers(self, nodes, leaves, room):
        """The ``room`` most promising of ``leaves``, which are given from left to right."""
        if len(leaves) <= room:
            return leaves
        # Of equals the left one stays: node numbers depend on when reports arrived.
        order = np.argsort(-nodes.promise(leaves), kind="stable")
        return leaves[np.sort(order[:max(0, room)])]
