"""Which SNAPs may go beside operations, where a lane's counters lie in two banks."""

from collections import deque

from ...hw.array.control import SNAP_DISTANCE
from ...hw.array.operation import Op

__all__ = ["Beside"]


class Beside:
    """The slots of the latest operations, one by one."""

    def __init__(self):
        self.slots = deque([None] * (SNAP_DISTANCE - 1), maxlen=SNAP_DISTANCE - 1)

    def allows(self, slot):
        """Whether a SNAP of the slot may go in the clock behind these operations."""
        beside = self.slots[-1]
        return slot not in self.slots and (beside is None or (beside ^ slot) & 1)

    def note(self, op):
        """A clock's operation."""
        self.slots.append(None if op["code"] is Op.NONE else op["slot"])
