"""What the board answers, word by word."""

from ...protocol.reports import Kind
from .state import HALTED, USED, compiled, inlined

__all__ = ["error", "has_room", "head", "put"]

ERROR = int(Kind.ERROR)


@inlined
def put(state, word):
    state.out[state.progress[USED]] = word & 0xFFFFFFFF
    state.progress[USED] += 1


@inlined
def head(state, kind, flags, slot):
    put(state, kind | flags << 8 | slot << 16)


@compiled
def has_room(state):
    return state.progress[USED] + state.reserve <= state.out.size


@inlined
def error(state, code, address_low, address_high, count):
    head(state, ERROR, code, 0)
    put(state, address_low)
    put(state, address_high)
    put(state, count)
    state.progress[HALTED] = 1
