"""Which SNAPs may go beside operations, where a lane's counters lie in two banks."""

from collections import deque

from bregalad_hw.array.operation import Op
from bregalad_hw.array.snaps import SNAP_DISTANCE

from .levels import concerned

__all__ = ["Beside"]


class Beside:
    """The slots that the latest operations change, and those that the last reads."""

    def __init__(self, geometry):
        self.geometry = geometry
        self.changed = deque([[]] * (SNAP_DISTANCE - 1), maxlen=SNAP_DISTANCE - 1)
        self.read = []

    def allows(self, slot):
        """Whether a SNAP of the slot may go in the clock after these operations; with one bank it may.

        Not where the last operation reads in the slot's level and bank, which the next bit tells.
        """
        g = self.geometry
        return g.banks == 1 or not (
            any(slot in slots for slots in self.changed)
            or any((each ^ slot) % (2 * g.levels) == 0 for each in self.read)
        )

    def note(self, op):
        """A clock's operation."""
        self.read = [] if op["code"] is Op.NONE else concerned(self.geometry, op)
        tests = op["code"] is Op.COUNT and op["test"]
        self.changed.append([] if tests else self.read)
