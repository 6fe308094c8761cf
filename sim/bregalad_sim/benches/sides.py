"""What a lane makes of a COUNT for naive Bayes, its code's own bin or one beside it."""

from bregalad.fixed import BAYES_FALL, BAYES_UNIT, bayes_log2
from bregalad.protocol.registers import CellKind

SIDES = BELOW, ABOVE = 1, 2  # `side` of a COUNT


def bin_of(golden, slot, cell, code, side):
    """The bin that a COUNT reads, None if there is none; beside the outermost is the other end's."""
    index = golden._bin(slot, cell, code)
    if index is None or not side or golden.cells[cell].kind != CellKind.NUMERIC:
        return index
    return (index + (1 if side == ABOVE else -1)) % golden.geometry.bins


def terms_of(golden, slot, cell, code, side, least):
    """``(logarithms, known, least)`` of a cell before it is counted.

    ``least``: what the terms beside the last COUNT of a code's own bin are at least.
    """
    numeric = golden.cells[cell].kind == CellKind.NUMERIC
    index = golden._own_bin(slot, cell, code)
    known = index is not None
    if side:
        known = known and numeric and index != (0 if side == BELOW else golden.geometry.bins - 1)
    counts = golden.counts[slot][cell][bin_of(golden, slot, cell, code, side)] if known else []
    logs = [bayes_log2(BAYES_UNIT * n + 1) for n in counts] or [0] * golden.geometry.classes
    if side:
        return [max(pair) for pair in zip(logs, least, strict=True)], False, least
    return logs, known, [max(log - BAYES_FALL * numeric, 0) for log in logs]
