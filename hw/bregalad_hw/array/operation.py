"""What passes between the memory controller unit and the attribute processor array."""

from amaranth import signed
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH
from bregalad.protocol.registers import Access, find

CELL_WIDTH = 16  # bits of a cell index, as in commands and reports
# Configuration of the cell of an index, as its register has it; of a cell that is known: its kind, and how its codes
# become values.
CONFIG = data.StructLayout({field.name: field.width for field in find("cell").fields if field.access is Access.RW})
CELL = data.StructLayout({name: shape for name, shape in CONFIG.members.items() if name != "index"})


class Op(enum.Enum, shape=3):
    """What a lane does in one clock. The array takes one operation per clock, without stalls."""

    NONE = 0
    COUNT = 1  # one beat: every lane counts its own code for (slot, pass)
    CLEAR = 2  # every lane: word (slot, pass, bin) becomes 0
    PLACE = 3  # every lane: bin window (slot, pass) becomes that of (parent, pass), or the root's
    SNAP = 4  # every lane: word (slot, pass, bin) goes to the lane's gain unit
    READ = 5  # lane `lane`: class `label`'s count of (slot, pass, bin), or the bin window, goes to `count_out`
    WRITE = 6  # lane `lane`: class `label`'s count of (slot, pass, bin) becomes `count_in`
    HALVE = 7  # every lane: each count of word (slot, pass, bin) is shifted right by one


def slot_shape(geometry):
    """Bits of a slot index."""
    return max(1, (geometry.slots - 1).bit_length())


def pass_bits(geometry):
    """Bits of a pass in an address; a single pass needs none."""
    return (geometry.passes - 1).bit_length()


def side_shape(geometry):
    """Of a COUNT with `test`: the bin below or above the code's instead, a bit each; none without naive Bayes."""
    return 2 * geometry.naive_bayes


def operation_layout(geometry):
    """One operation, the same for all lanes; the codes of COUNT travel beside it."""
    g = geometry
    return data.StructLayout(
        {
            "code": Op,
            "slot": slot_shape(g),
            "pass_": max(1, pass_bits(g)),
            "bin": g.bin_bits,
            "label": max(1, (g.classes - 1).bit_length()),  # COUNT, READ, WRITE
            "minus": 1,  # COUNT: weight -1
            "test": 1,  # COUNT: nothing is counted
            "predict": 1,  # COUNT: the beat belongs to a prediction
            "last": 1,  # COUNT: of the record
            "side": side_shape(g),
            "parent": slot_shape(g),  # PLACE
            "root": 1,  # PLACE: bin window of the root, (0, root_shift), instead of the parent's
            "bin_window": 1,  # READ: lo and shift of the bin window, in place of a count
            "override": 1,  # PLACE: lane `lane` takes (lo, shift) instead of the parent's bin window
            "each": 1,  # READ, WRITE, PLACE with override: every lane, each from `counts_in` or to `counts_out`
            "lane": max(1, (g.lanes - 1).bit_length()),  # READ, WRITE, PLACE with override
            "lo": CODE_WIDTH,
            "shift": 3,
        }
    )


def operations_signature(geometry):
    """The array's operations and the counts that they ask for, seen from who gives them."""
    g = geometry
    of_lanes = data.ArrayLayout(g.count_width, g.lanes)
    return wiring.Signature(
        {
            "op": Out(operation_layout(g)),
            "codes": Out(data.ArrayLayout(CODE_WIDTH, g.lanes)),  # a clock after COUNT
            "count_in": Out(g.count_width),  # beside WRITE
            "counts_in": Out(of_lanes),  # beside WRITE and PLACE of each lane
            "attempt_current": Out(CELL_WIDTH),  # beside the first SNAP of an attempt
            "count_out": In(g.count_width),  # of READ
            "count_valid": In(1),
            "counts_out": In(of_lanes),  # of READ of each lane
            "counts_valid": In(1),
        }
    )


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
