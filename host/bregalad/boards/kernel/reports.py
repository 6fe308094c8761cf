"""What the board answers, word by word."""

import numpy as np

from ...protocol.commands import RECORD_HEADER
from ...protocol.reports import ErrorCode, Kind
from .state import HALTED, USED, inlined, inner

__all__ = ["DECODE", "RECORD_HEAD", "error", "has_room", "head", "put"]

ERROR, DECODE = int(Kind.ERROR), int(ErrorCode.DECODE)
RECORD_HEAD = RECORD_HEADER.size  # bytes of a record before its codes


@inner
def put(out, progress, word):
    out[progress[USED]] = word & 0xFFFFFFFF
    progress[USED] += 1


@inner
def head(out, progress, kind, flags, slot):
    put(out, progress, kind | flags << 8 | slot << 16)


@inlined
def has_room(state):
    return state.progress[USED] + state.reserve <= state.out.size


@inner
def error(out, progress, code, address_low, address_high, count):
    head(out, progress, np.int64(ERROR), code, np.int64(0))
    put(out, progress, address_low)
    put(out, progress, address_high)
    put(out, progress, count)
    progress[HALTED] = 1
