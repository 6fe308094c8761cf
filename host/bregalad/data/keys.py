"""Edges as the board's quantiser compares them: integers in the order of the numbers."""

import numpy as np

from ..protocol.rows import RowKind

_LIMITS = {RowKind.U8: (0, 0xFF), RowKind.U16: (0, 0xFFFF), RowKind.I32: (-(1 << 31), (1 << 31) - 1)}


def edge_keys(edges, kind):
    """Keys such that a number of a kind has the code that `CodeBook` gives it: uint32 array, rising.

    An edge becomes the next number of that kind at or above it: no number of that kind lies between the two. So below
    one is below the other. Two edges may become one number; the codes between them then have none. Edges above all
    numbers of that kind are left out. ValueError if the kind is that of a code, or an edge, of these float64 that rise,
    not finite.
    """
    if kind is RowKind.CODE:
        raise ValueError("a code is taken as it is: it has no edges")
    edges = np.asarray(edges, np.float64)
    if not np.isfinite(edges).all():
        raise ValueError(f"edges must be finite, not {edges[~np.isfinite(edges)][0]}")
    if kind is RowKind.F32:
        return _float_keys(edges)
    low, high = _LIMITS[kind]
    above = np.clip(np.ceil(edges), low, None)
    # Integers that are signed begin at key 0, too.
    return (above[above <= high].astype(np.int64) - low).astype(np.uint32)


def _float_keys(edges):
    with np.errstate(over="ignore"):  # the next float32 above the largest is infinity
        near = edges.astype(np.float32)
        near = np.where(near < edges, np.nextafter(near, np.float32(np.inf)), near)
    # 0 begins at -0.0, which equals it and has the key before.
    near = np.where(near == 0, np.float32(-0.0), near)
    bits = near.view(np.uint32)
    return bits ^ np.where(bits >> 31 != 0, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
