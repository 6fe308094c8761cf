"""Operations on several levels, for benches that write them as dicts."""

from collections import deque

from bregalad_hw.array.operation import Op, row_shape

__all__ = ["Placed", "concerned", "level_of", "on_levels"]


def level_of(geometry, slot):
    """A slot's level."""
    return slot % geometry.levels


def concerned(geometry, op):
    """Slots that a COUNT or a HALVE is of; the lowest levels are first."""
    return [row << geometry.level_bits | level for level, row in enumerate(op["rows"]) if op["on"] >> level & 1]


def on_levels(geometry, rng, op, rows):
    """The operation with its levels and rows: of HALVE any, of COUNT any beside its slot's, of others that.

    Parameters
    ----------
    geometry : Geometry
    rng : random.Random
    op : dict
        Fields of the operation, `slot` among them unless it is none.
    rows : int
        The first of so many are chosen from; where a level is not concerned, from all there are,
        and more if the field holds them.
    """
    g = geometry
    if "on" in op:
        return op
    slot = op.get("slot", rng.randrange(g.slots))
    level, on = level_of(g, slot), 1 << level_of(g, slot)
    if op["code"] in (Op.COUNT, Op.HALVE):
        more = rng.choice([on, (1 << g.levels) - 1, rng.randrange(1 << g.levels)])
        on = more | on if op["code"] is Op.COUNT else more
    elif op["code"] in (Op.PLACE, Op.NONE):
        on = rng.randrange(1 << g.levels)
    chosen = [rng.randrange(rows if on >> b & 1 else 1 << row_shape(g)) for b in range(g.levels)]
    if op["code"] not in (Op.PLACE, Op.NONE, Op.HALVE):
        chosen[level] = slot >> g.level_bits
    return {**op, "on": on, "rows": chosen}


class Placed:
    """Slots of the latest PLACEs, whose zooms may be on their way to memory."""

    def __init__(self, geometry, rng):
        self.geometry, self.rng = geometry, rng
        self.latest = deque([None, None], maxlen=2)  # (slot, pass) by clock
        self.across = 0  # zooms taken on by a slot of another level

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
        if not op["root"] and not op["override"] and (op["parent"], op["pass_"]) in self.latest:
            self.across += level_of(self.geometry, op["parent"]) != level_of(self.geometry, op["slot"])
        self.latest.append((op["slot"], op["pass_"]))
