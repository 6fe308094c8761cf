"""What passes between the memory controller unit and the attribute processor array."""

from amaranth import Cat, Const, signed
from amaranth.lib import data, enum
from bregalad.geometry import CODE_WIDTH
from bregalad.protocol.registers import Access, find

__all__ = [
    "Op",
    "operation_layout",
    "snap_layout",
    "cell_layout",
    "config_layout",
    "candidate_layout",
    "slot_shape",
    "row_shape",
    "rows_layout",
    "level_of",
    "place_of",
    "slot_of",
    "side_shape",
    "at_slot",
    "CELL_WIDTH",
]

CELL_WIDTH = 16  # bits of a cell index, as in commands and reports


class Op(enum.Enum, shape=3):
    """What a lane does in one clock. The array takes one operation per clock, without stalls."""

    NONE = 0
    COUNT = 1  # one beat: every lane counts its own code for (slot, pass)
    CLEAR = 2  # every lane: word (slot, pass, bin) becomes 0
    PLACE = 3  # every lane: zoom (slot, pass) becomes that of (parent, pass), or the root's
    SNAP = 4  # every lane: word (slot, pass, bin) goes to the lane's gain unit; of one bank only
    READ = 5  # one lane: class `label`'s count of (slot, pass, bin) goes to `count_out`
    WRITE = 6  # one lane: class `label`'s count of (slot, pass, bin) becomes `count_in`
    HALVE = 7  # every lane: each count of word (slot, pass, bin) is shifted right by one


def slot_shape(geometry):
    """Bits of a slot index."""
    return max(1, (geometry.slots - 1).bit_length())


def row_shape(geometry):
    """Bits of a slot's place among those of its level."""
    return max(1, (geometry.slots // geometry.levels - 1).bit_length())


def rows_layout(geometry):
    """A slot's place in every level."""
    return data.ArrayLayout(row_shape(geometry), geometry.levels)


def level_of(geometry, slot):
    """A slot's level, its lowest bits: none if there is but one."""
    return slot[: geometry.level_bits]


def place_of(geometry, slot):
    """A slot's place among those of its level."""
    return slot[geometry.level_bits :]


def slot_of(geometry, level, place):
    """The slot at a place of a level."""
    return Cat(Const(level, geometry.level_bits), place)


def side_shape(geometry):
    """Of a COUNT with `test`: the bin below or above the code's instead, a bit each; none without naive Bayes."""
    return 2 * geometry.naive_bayes


def operation_layout(geometry):
    """One operation, the same for all lanes; the codes of COUNT travel beside it.

    ``on`` tells the levels that it concerns and ``rows`` the slot's place in each: several of COUNT
    and HALVE, one of all others but PLACE, which depends on ``slot`` and ``parent`` alone. ``slot``
    of COUNT is the record's own, and among those.
    """
    g = geometry
    return data.StructLayout(
        {
            "code": Op,
            "slot": slot_shape(g),
            "pass_": max(1, (g.passes - 1).bit_length()),
            "bin": g.bin_bits,
            "label": max(1, (g.classes - 1).bit_length()),  # COUNT, READ, WRITE
            "minus": 1,  # COUNT: weight -1
            "test": 1,  # COUNT: nothing is counted
            "predict": 1,  # COUNT: the beat belongs to a prediction
            "last": 1,  # COUNT: of the record
            "side": side_shape(g),
            "parent": slot_shape(g),  # PLACE
            "root": 1,  # PLACE: zoom of the root, (0, root_shift), instead of the parent's
            "override": 1,  # PLACE: lane `lane` takes (lo, shift) instead of the parent's zoom
            "lane": max(1, (g.lanes - 1).bit_length()),  # READ, WRITE, PLACE with override
            "lo": CODE_WIDTH,
            "shift": 3,
            "on": g.levels,
            "rows": rows_layout(g),
        }
    )


def at_slot(geometry, op, slot):
    """Assignments by which ``op`` is one on ``slot`` alone."""
    g = geometry
    return [
        op.slot.eq(slot),
        *(op.on[level].eq(level_of(g, slot) == level) for level in range(g.levels)),
        *(row.eq(place_of(g, slot)) for row in op.rows),
    ]


def snap_layout(geometry):
    """A SNAP beside the operations, where a lane's counters lie in two banks.

    It reads its bank together with the operation of the clock before, which must be none, or of
    other levels or of the other bank in its own.
    """
    g = geometry
    return data.StructLayout(
        {
            "valid": 1,
            "slot": slot_shape(g),
            "pass_": max(1, (g.passes - 1).bit_length()),
            "bin": g.bin_bits,
        }
    )


def cell_layout():
    """Configuration of a cell that is known: its kind, and how its codes become values."""
    fields = config_layout().members
    return data.StructLayout({name: shape for name, shape in fields.items() if name != "index"})


def config_layout():
    """Configuration of the cell of an index, as its register has it."""
    return data.StructLayout({field.name: field.width for field in find("cell").fields if field.access is Access.RW})


def candidate_layout(geometry):
    """A candidate as it travels inside the array; `gain` is n G (see host/bregalad/fixed.py)."""
    g = geometry
    return data.StructLayout(
        {
            "cell": CELL_WIDTH,
            "valid": 1,
            "value": CODE_WIDTH,
            "gain": signed(g.gain_width),
        }
    )
