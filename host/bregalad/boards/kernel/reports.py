"""What the board answers, word by word."""

import numpy as np

from ...protocol.commands import RECORD_HEADER
from ...protocol.reports import ERROR, HEADER, ErrorCode, Kind
from ...protocol.words import putter
from .state import HALTED, USED, inlined, inner

__all__ = ["DECODE", "RECORD_HEAD", "error", "has_room", "head", "put"]

FAILED, DECODE = int(Kind.ERROR), int(ErrorCode.DECODE)
RECORD_HEAD = RECORD_HEADER.size  # bytes of a record before its codes
HEADER_WORDS, ERROR_WORDS = HEADER.size // 4, ERROR.size // 4

_put_head = putter(HEADER, "kind", "flags", "slot")
_put_error = putter(ERROR, "kind", "flags", "slot", "address", "count")


@inner
def put(out, progress, word):
    out[progress[USED]] = word & 0xFFFFFFFF
    progress[USED] += 1


@inner
def head(out, progress, kind, flags, slot):
    _put_head(out, progress[USED], (kind, flags, slot))
    progress[USED] += HEADER_WORDS


@inlined
def has_room(state):
    return state.progress[USED] + state.reserve <= state.out.size


@inner
def error(out, progress, code, address, count):
    _put_error(out, progress[USED], (np.int64(FAILED), code, np.int64(0), address, count))
    progress[USED] += ERROR_WORDS
    progress[HALTED] = 1
