"""Which SNAPs may go beside operations, where a lane's counters lie in two banks."""

from collections import deque

from bregalad_hw.array.control import SNAP_DISTANCE
from bregalad_hw.array.operation import Op

__all__ = ["Beside"]


class Beside:
    """The slots that the latest operations change, one by one, and the one that the last reads."""

    def __init__(self):
        self.changed = deque([None] * (SNAP_DISTANCE - 1), maxlen=SNAP_DISTANCE - 1)
        self.read = None

    def allows(self, slot):
        """Whether a SNAP of the slot may go in the clock after these operations."""
        return slot not in self.changed and (self.read is None or (self.read ^ slot) & 1)

    def note(self, op):
        """A clock's operation."""
        self.read = None if op["code"] is Op.NONE else op["slot"]
        tests = op["code"] is Op.COUNT and op["test"]
        self.changed.append(None if tests else self.read)
