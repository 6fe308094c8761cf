"""Which counters an instance falls into."""

import numpy as np

from ...geometry import MISSING
from ...protocol.registers import CellKind
from .state import BASE, KIND, OTHER, compiled, inlined, inner

# Plain integers, since Numba types every enumeration anew.
IGNORED, NUMERIC, MULTIWAY = CellKind.IGNORED, CellKind.NUMERIC, CellKind.MULTIWAY
ALL_NUMERIC, ALL_NOMINAL, MIXED = range(3)  # what the cells in use count


@inner
def mixture(config, cells):
    """Whether the cells in use are all numeric, all nominal and counted from code 0, or mixed."""
    numeric = nominal = 0
    for cell in range(cells):
        kind = config[KIND, cell]
        numeric += kind == NUMERIC
        nominal += kind != NUMERIC and kind != IGNORED and not config[BASE, cell] and not config[OTHER, cell]
    return ALL_NUMERIC if numeric == cells else ALL_NOMINAL if nominal == cells else MIXED


@inlined
def gather(mix, shape, data, at, where, codes, places):
    """Take an instance's codes, that of cell c from ``data[at + where[c]]``.

    Returns the bins in use, from 0 on. Nominal cells' places are those in all slots, so they are
    found here for good.
    """
    for cell in range(len(codes)):
        # Unsigned, since an index that may be negative is tested for it.
        codes[cell] = data[np.uint64(at + where[cell])]
    rows = shape[1]
    if mix == ALL_NOMINAL:
        bins, row = np.int32(shape[1]), np.int32(shape[2] * shape[3])
        most = np.int32(-1)
        for cell in range(len(codes)):
            index = codes[cell] if codes[cell] < bins else np.int32(-1)
            places[cell] = index * row + np.int32(cell) if index >= 0 else np.int32(-1)
            most = max(most, index)
        rows = np.int64(most) + 1
    return rows


@inlined
def locate(slots, mix, slot, codes, places):
    """Find the places that count an instance in a slot; ``codes`` as `gather` left them."""
    config, lo, shift, shape = slots.config, slots.lo, slots.shift, slots.shape
    last, row = np.int32(shape[1] - 1), np.int32(shape[2] * shape[3])
    slot = np.uint64(slot)
    if mix == ALL_NUMERIC:
        for cell in range(len(codes)):
            code = codes[cell]
            index = max(code - np.int32(lo[slot, cell]), np.int32(0)) >> np.int32(shift[slot, cell])
            index = min(index, last)
            place = index * row + np.int32(cell)
            places[cell] = place if code != np.int32(MISSING) else np.int32(-1)
    elif mix == MIXED:
        for cell in range(len(codes)):
            index = bin_of(
                config[KIND, cell],
                config[BASE, cell],
                config[OTHER, cell],
                lo[slot, cell],
                shift[slot, cell],
                last,
                np.int64(codes[cell]),
            )
            places[cell] = index * row + cell if index >= 0 else -1


@compiled
def bin_of(kind, base, other, lo, shift, last, code):
    """The bin of a cell that counts a code, -1: none."""
    if kind == IGNORED or code == MISSING:
        return -1
    if kind == NUMERIC:
        return min(max(code - lo, 0) >> shift, last)
    value = code - base
    if 0 <= value <= (last - 1 if other else last):
        return value
    return last if other else -1


@inner
def is_shared(config, cell):
    """Whether a cell's last bin counts the values of other cells."""
    return config[OTHER, cell] and config[KIND, cell] != NUMERIC
