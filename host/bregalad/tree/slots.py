"""The slots of a board, and which of them are free."""

import numpy as np

from ..compiled import njit


@njit()
def joined(together, slot, levels):
    """Levels, a bit each, of what the board counts together with a slot.

    ``together`` are those of the slot that its link leads to, 0 without one. No two of one level
    are counted together.
    """
    own = 1 << slot % levels
    return own if together & own else together | own


@njit()
def best_level(stack, levels, together):
    """The level for the next slot: one that can be counted together with those.

    Of these, or of all where these have no slot left, it is that with most free slots: below a
    node all levels but its own and those above it are of use, and the leaves, which are most of
    the nodes, should find one wherever they are.
    """
    free = np.zeros(levels, np.int64)
    for at in range(1, stack[0] + 1):
        free[stack[at] % levels] += 1
    best, best_free = -1, 0
    for level in range(levels):
        if not together >> level & 1 and free[level] > best_free:
            best, best_free = level, free[level]
    if best < 0:
        best = 0
        for level in range(levels):
            if free[level] > free[best]:
                best = level
    return best


@njit()
def take_slot(stack, slot_node, node, level, levels):
    """As ``SlotPool.take``, for compiled code."""
    free = stack[0]
    at = free
    while at > 0 and stack[at] % levels != level:
        at -= 1
    if at == 0:
        at = free
    slot = stack[at]
    for place in range(at, free):
        stack[place] = stack[place + 1]
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
    """Free slots.

    Parameters
    ----------
    slots : int
        S of the board.
    levels : int
        As many as the board's geometry has.
    first : int
        The first slot.

    Attributes
    ----------
    node : int64 array (first + slots,)
        Node of every slot, -1: free.
    stack : int64 array (slots + 1,)
        How many slots are free, then these, the next one last.
    """

    def __init__(self, slots, levels=1, first=0):
        self.slots = slots
        self.levels = levels
        self.first = first
        self.node = np.full(first + slots, -1, np.int64)
        self.stack = np.append(slots, np.arange(first + slots - 1, first - 1, -1))

    @property
    def free(self):
        """How many slots hold no node."""
        return int(self.stack[0])

    def take(self, node, level=0):
        """Give a node a free slot, of a level if it has one, else of another; return the slot.

        Of all that would do it is the one that was freed last.
        """
        return int(take_slot(self.stack, self.node, node, level, self.levels))
