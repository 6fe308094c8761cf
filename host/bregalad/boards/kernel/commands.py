"""The board's commands, executed one after the other; records and trials are the caller's."""

import numpy as np

from ...geometry import NONE
from ...protocol.commands import COMMAND_BYTES, COMMANDS, CommandFlag, Opcode
from ...protocol.reports import ErrorCode, Kind
from .arithmetic import u16, u32
from .reports import DECODE, RECORD_HEAD, error, has_room, head, put
from .slots import (
    CELL_AT,
    CURRENT_AT,
    LINK_AT,
    PARENT_AT,
    PLACE_CELL_AT,
    SLOT_AT,
    place,
    read,
    reset,
    write,
)
from .state import ADDRESS, ASKED, CELLS, DONE, HALTED, IN_MEMORY, LEFT, SKIP, compiled, inlined, inner

__all__ = ["execute"]

# Plain integers, since Numba types every enumeration anew.
LEARN, TRIAL, CLEAR, PLACE, READ, WRITE, FENCE, RESET = map(int, (
    Opcode.LEARN, Opcode.TRIAL, Opcode.CLEAR, Opcode.PLACE, Opcode.READ, Opcode.WRITE,
    Opcode.FENCE, Opcode.RESET))
MEMORY = int(CommandFlag.MEMORY)
FENCED, BAD_COMMAND = int(Kind.FENCE), int(ErrorCode.COMMAND)

COUNT_AT = COMMANDS[Opcode.LEARN].offset("count")
ADDRESS_AT = COMMANDS[Opcode.LEARN].offset("address")
TOKEN_AT = COMMANDS[Opcode.FENCE].offset("token")

FAR = 1 << 62  # no memory reaches here; below it, addresses do not overflow


@compiled
def execute(state, stream):
    """Execute commands until ``stream`` holds no whole one or there is no room for reports.

    Also until records are to be learnt (``progress[LEFT]``) or a slot is to be tried
    (``progress[ASKED]``, 0: none). That is done by whoever calls, with `learn` and `trial`, as most
    trees never ask for it and compiling both takes longest. Returns the bytes consumed.
    """
    progress = state.progress
    head_bytes = max(COMMAND_BYTES, state.bus_bytes)
    at = np.int64(0)
    while not progress[LEFT] and not progress[ASKED]:
        if progress[SKIP]:
            step = min(progress[SKIP], stream.size - at)
            progress[SKIP] -= step
            at += step
            if progress[SKIP]:
                return at
        if at + head_bytes > stream.size or not has_room(state):
            return at
        step = command(state, stream, at, head_bytes)
        if not step:
            return at
        at += step
    return at


@inlined
def payload_bytes(state, stream, at):
    """Bytes after a command's head, without padding."""
    opcode = stream[at]
    if opcode == LEARN and not stream[at + 1] & MEMORY:
        return u32(stream, at + COUNT_AT) * (RECORD_HEAD + state.registers[CELLS])
    if opcode == WRITE:
        bins, classes = state.counts.shape[1:3]
        return 4 * (4 + classes if u16(stream, at + CELL_AT) == NONE else bins * classes)
    return 0


@inner
def in_range(slots, cells, stream, at):
    """Is the opcode known, and does every slot and cell of the command exist?"""
    opcode = stream[at]
    if opcode == LEARN or opcode == FENCE or opcode == RESET:
        return True
    if opcode == TRIAL or opcode == CLEAR:
        return u16(stream, at + SLOT_AT) < slots
    if opcode == READ or opcode == WRITE:
        cell = u16(stream, at + CELL_AT)
        return u16(stream, at + SLOT_AT) < slots and (cell < cells or cell == NONE)
    if opcode != PLACE:
        return False
    link, cell, current = (u16(stream, at + LINK_AT), u16(stream, at + PLACE_CELL_AT),
                           u16(stream, at + CURRENT_AT))
    return (u16(stream, at + SLOT_AT) < slots and u16(stream, at + PARENT_AT) < slots
            and (link < slots or link == NONE) and (cell < cells or cell == NONE)
            and (current < cells or current == NONE))


@inlined
def command(state, stream, at, head_bytes):
    """Execute one command, LEARN up to its records; bytes consumed, 0 if it is not all there."""
    progress = state.progress
    opcode, flags, slot = stream[at], stream[at + 1], u16(stream, at + SLOT_AT)
    payload = payload_bytes(state, stream, at)
    padding = -payload % state.bus_bytes
    if progress[HALTED]:
        progress[HALTED] = opcode != RESET
        progress[SKIP] = payload + padding
    elif not in_range(state.counts.shape[0], state.counts.shape[3], stream, at):
        error(state.out, progress, np.int64(BAD_COMMAND), u32(stream, at), u32(stream, at + 4),
              np.int64(0))
        progress[SKIP] = payload + padding
    elif opcode == LEARN:
        progress[LEFT] = u32(stream, at + COUNT_AT)
        progress[DONE] = 0
        progress[IN_MEMORY] = flags & MEMORY
        progress[SKIP] = padding
        high = u32(stream, at + ADDRESS_AT + 4)
        low = u32(stream, at + ADDRESS_AT)
        progress[ADDRESS] = low | high << 32
        if progress[IN_MEMORY] and progress[LEFT] and high >= FAR >> 32:
            error(state.out, progress, np.int64(DECODE), low - low % state.bus_bytes, high,
                  np.int64(0))
            progress[LEFT] = 0
    elif opcode == TRIAL:
        progress[ASKED] = slot + 1
    elif opcode == CLEAR:
        reset(state, slot)
    elif opcode == PLACE:
        place(state.entries, state.counts, state.counters, state.shares, state.lo, state.shift,
              stream, at)
    elif opcode == READ:
        read(state, slot, u16(stream, at + CELL_AT))
    elif opcode == WRITE:
        if at + head_bytes + payload + padding > stream.size:
            return 0
        write(state, slot, u16(stream, at + CELL_AT), stream, at + head_bytes)
        return head_bytes + payload + padding
    elif opcode == FENCE:
        head(state.out, progress, np.int64(FENCED), np.int64(0), np.int64(0))
        put(state.out, progress, u32(stream, at + TOKEN_AT))
    return head_bytes
