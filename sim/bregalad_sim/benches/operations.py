"""Operations as dicts: PLACEs one behind the other, and what cells make of each."""

from collections import deque

from bregalad_hw.array.operation import Op

from .sides import bin_of


class Placed:
    """Slots of the latest PLACEs, whose bin windows may be on their way to memory."""

    def __init__(self, rng):
        self.rng = rng
        self.latest = deque([None, None], maxlen=2)  # (slot, pass) by clock
        self.passed_on = 0  # bin windows taken on from one of them

    def follow(self, op):
        """The operation, or now and then the PLACE of a slot whose parent is one of them."""
        placed = self.rng.choice(self.latest)
        if placed is None or self.rng.random() < 0.5:
            return op
        parent, pass_ = placed
        return {**op, "code": Op.PLACE, "parent": parent, "pass_": pass_, "root": 0, "override": 0}

    def record(self, op):
        """A clock's operation."""
        if op["code"] is not Op.PLACE:
            self.latest.append(None)
            return
        if not op["root"] and not op["override"]:
            self.passed_on += (op["parent"], op["pass_"]) in self.latest
        self.latest.append((op["slot"], op["pass_"]))


def execute(golden, op, cell, code, count, mine):
    """``(bin, read, clamped)`` of an operation on a cell of the golden model; one for a single lane may be ``mine``.

    ``count`` is the cell's own in an operation of each lane, where a bin window takes its lower 11 bits. ``bin`` is
    that of the word that it leads to, ``read`` the count that it asks for, each None if there is none.
    """
    slot, bin_, read, clamped = op["slot"], op["bin"], None, False
    each = op.get("each", 0)
    mine = mine or each
    bins = golden.counts[slot][cell]
    match op["code"]:
        case Op.COUNT:
            bin_ = bin_of(golden, slot, cell, code, op.get("side", 0))
            if not op["test"]:
                clamped = golden._count_cell(slot, cell, code, op["label"], op["minus"])
        case Op.CLEAR:
            bins[bin_] = [0] * golden.geometry.classes
        case Op.HALVE:
            bins[bin_] = [count >> 1 for count in bins[bin_]]
        case Op.READ if mine:
            read = bins[bin_][op["label"]]
        case Op.WRITE if mine:
            bins[bin_][op["label"]] = count
        case Op.PLACE:
            bin_window = (0, golden.geometry.root_shift) if op["root"] else golden.bin_window[op["parent"]][cell]
            given = (count & 255, count >> 8 & 7) if each else (op["lo"], op["shift"])
            golden.bin_window[slot][cell] = given if op["override"] and mine else bin_window
            bin_ = None
        case Op.NONE | Op.READ | Op.WRITE:
            bin_ = None
    return bin_, read, clamped


def execute_pass(golden, op, codes, count, counts=()):
    """``(reads, clamped)`` of an operation on all cells of its pass: what a READ reads, and whether any counter stayed.

    ``counts`` are those of an operation of each lane.
    """
    first, counts = op["pass_"] * golden.geometry.lanes, counts if op.get("each") else [count] * len(codes)
    done = [
        execute(golden, op, first + lane, code, count, lane == op["lane"])
        for lane, (code, count) in enumerate(zip(codes, counts, strict=True))
    ]
    return [read for _, read, _ in done if read is not None], any(clamped for *_, clamped in done)
