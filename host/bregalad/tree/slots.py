"""The slots of a board, and which of them are free."""

import numpy as np

from ..compiled import njit


@njit()
def take_slot(stack, slot_node, node):
    """Give a node the slot of a `SlotPool` that was freed last; return the slot."""
    slot = stack[stack[0]]
    stack[0] -= 1
    slot_node[slot] = node
    return slot


@njit()
def give_back(stack, slot_node, slot):
    """Free a slot."""
    slot_node[slot] = -1
    stack[0] += 1
    stack[stack[0]] = slot


class SlotPool:
    """Free slots: so many, from the first one on.

    ``node`` has the node of every slot, -1: free, int64 (first + slots,); ``stack`` how many slots are free, then
    these, the next one last, int64 (slots + 1,).
    """

    def __init__(self, slots, first=0):
        self.slots = slots
        self.first = first
        self.node = np.full(first + slots, -1, np.int64)
        self.stack = np.append(slots, np.arange(first + slots - 1, first - 1, -1))

    @property
    def free(self):
        """How many slots hold no node."""
        return int(self.stack[0])
