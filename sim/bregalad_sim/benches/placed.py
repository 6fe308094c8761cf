"""PLACEs one behind the other, for benches that write operations as dicts."""

from collections import deque

from bregalad_hw.array.operation import Op

__all__ = ["Placed"]


class Placed:
    """Slots of the latest PLACEs, whose zooms may be on their way to memory."""

    def __init__(self, rng):
        self.rng = rng
        self.latest = deque([None, None], maxlen=2)  # (slot, pass) by clock
        self.passed_on = 0  # zooms taken on from one of them

    def follow(self, op):
        """The operation, or now and then the PLACE of a slot whose parent is one of them."""
        placed = self.rng.choice(self.latest)
        if placed is None or self.rng.random() < 0.5:
            return op
        parent, pass_ = placed
        return {**op, "code": Op.PLACE, "parent": parent, "pass_": pass_, "root": 0, "override": 0}

    def note(self, op):
        """A clock's operation."""
        if op["code"] is not Op.PLACE:
            self.latest.append(None)
            return
        if not op["root"] and not op["override"]:
            self.passed_on += (op["parent"], op["pass_"]) in self.latest
        self.latest.append((op["slot"], op["pass_"]))
