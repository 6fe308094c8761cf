"""The board's commands, executed one after the other; records and trials are the caller's."""

import numpy as np

from ...choice import choose
from ...geometry import NONE
from ...protocol.commands import COMMAND_BYTES, COMMANDS, WITH_PAYLOAD, CommandFlag, Opcode, references
from ...protocol.reports import FENCE, ErrorCode, Kind
from ...protocol.words import putter
from .arithmetic import u16, u32
from .reports import DECODE, RECORD_HEAD, error, has_room
from .slots import CELL_AT, CLASS_COUNTS_AT, SLOT_AT, place, read, reset, write
from .state import ADDRESS, ASKED, CELLS, DONE, HALTED, IN_MEMORY, LEFT, LOADING, OPTIONS, SKIP, USED, compiled, inner

__all__ = [
    "ADDRESS_AT",
    "COUNT_AT",
    "FAR",
    "execute",
    "fence_command",
    "in_range",
    "load_bytes",
    "load_command",
    "pass_over",
    "wrong",
]

# Plain integers, since Numba types every enumeration anew.
RESET = int(Opcode.RESET)
MEMORY = int(CommandFlag.MEMORY)
FENCED, BAD_COMMAND = int(Kind.FENCE), int(ErrorCode.COMMAND)

COUNT_AT = COMMANDS[Opcode.LEARN].offset("count")
ADDRESS_AT = COMMANDS[Opcode.LEARN].offset("address")
LOAD_COUNT_AT = COMMANDS[Opcode.LOAD].offset("count")
LOAD_ADDRESS_AT = COMMANDS[Opcode.LOAD].offset("address")
TOKEN_AT = COMMANDS[Opcode.FENCE].offset("token")

FENCE_WORDS, put_fence = FENCE.size // 4, putter(FENCE, "kind", "token")

FAR = 1 << 62  # no memory reaches here; below it, addresses do not overflow


# What each opcode needs to be in range: rows of opcode, offset in the command, whether a cell is
# named there, whether NONE is allowed.
REFERENCES = np.array(
    [
        (opcode, COMMANDS[opcode].offset(name), kind == "cell", optional)
        for opcode in Opcode
        for name, kind, optional in references(opcode)
    ],
    np.int64,
)
KNOWN = np.array([number in set(Opcode) for number in range(256)])


@inner
def in_range(slots, cells, stream, at):
    """Is the opcode known, and does every slot and cell of the command exist?"""
    opcode = stream[at]
    if not KNOWN[opcode]:
        return False
    for row in range(len(REFERENCES)):
        if REFERENCES[row, 0] == opcode:
            named = u16(stream, at + REFERENCES[row, 1])
            there = cells if REFERENCES[row, 2] else slots
            if named >= there and not (REFERENCES[row, 3] and named == NONE):
                return False
    return True


# Payloads: bytes of what follows a command, without padding.


@inner
def records_bytes(state, stream, at):
    if stream[at + 1] & MEMORY:
        return np.int64(0)
    return u32(stream, at + COUNT_AT) * (RECORD_HEAD + state.registers[CELLS])


@inner
def load_bytes(state, stream, at):
    return u32(stream, at + LOAD_ADDRESS_AT) % state.bus_bytes + u32(stream, at + LOAD_COUNT_AT)


@inner
def statistics_bytes(state, stream, at):
    bins, classes = state.counts.shape[1:3]
    return np.int64(4 * classes + CLASS_COUNTS_AT if u16(stream, at + CELL_AT) == NONE else 4 * bins * classes)


# Commands: each executes what ``stream`` has at ``at``, its payload is from ``body`` on. Returns the
# bytes done, 0 if the command is not all there; what is left of a payload is in ``progress``.


@inner
def learn_command(state, stream, at, body):
    """Begin a LEARN; `learn` takes its records."""
    progress = state.progress
    progress[LEFT] = u32(stream, at + COUNT_AT)
    progress[DONE] = 0
    progress[IN_MEMORY] = stream[at + 1] & MEMORY
    progress[SKIP] = -records_bytes(state, stream, at) % state.bus_bytes
    high = u32(stream, at + ADDRESS_AT + 4)
    low = u32(stream, at + ADDRESS_AT)
    progress[ADDRESS] = low | high << 32
    if progress[IN_MEMORY] and progress[LEFT] and high >= FAR >> 32:
        error(state.out, progress, np.int64(DECODE), progress[ADDRESS] - low % state.bus_bytes, np.int64(0))
        progress[LEFT] = 0
    return body - at


@inner
def trial_command(state, stream, at, body):
    """The trial itself is the caller's."""
    state.progress[ASKED] = u16(stream, at + SLOT_AT) + 1
    return body - at


@inner
def clear_command(state, stream, at, body):
    slot = u16(stream, at + SLOT_AT)
    reset(state.entries, state.counts, state.counters, state.shares, state.lo, state.shift, slot)
    return body - at


@inner
def place_command(state, stream, at, body):
    place(state.entries, state.counts, state.counters, state.shares, state.lo, state.shift, stream, at)
    return body - at


@inner
def read_command(state, stream, at, body):
    read(state, u16(stream, at + SLOT_AT), u16(stream, at + CELL_AT))
    return body - at


@inner
def write_command(state, stream, at, body):
    size = statistics_bytes(state, stream, at)
    end = body + size + -size % state.bus_bytes
    if end > stream.size:
        return np.int64(0)
    write(state, u16(stream, at + SLOT_AT), u16(stream, at + CELL_AT), stream, body)
    return end - at


@inner
def fence_command(state, stream, at, body):
    put_fence(state.out, state.progress[USED], (np.int64(FENCED), u32(stream, at + TOKEN_AT)))
    state.progress[USED] += FENCE_WORDS
    return body - at


@inner
def reset_command(state, stream, at, body):
    """RESET of a board that has not halted: nothing."""
    return body - at


@inner
def load_command(state, stream, at, body):
    """Begin a LOAD: what is to be copied is the caller's, from the first byte on."""
    progress = state.progress
    count = u32(stream, at + LOAD_COUNT_AT)
    low, high = u32(stream, at + LOAD_ADDRESS_AT), u32(stream, at + LOAD_ADDRESS_AT + 4)
    before = low % state.bus_bytes
    if not state.memory.size or high >= FAR >> 32 or (low | high << 32) + count > state.memory.size:
        _refuse(state, stream, at)
        return body - at
    if body + before > stream.size:
        return np.int64(0)
    progress[ADDRESS] = low | high << 32
    progress[LOADING] = count
    progress[SKIP] = -(before + count) % state.bus_bytes
    return body + before - at


@inner
def _refuse(state, stream, at):
    """Report a command as wrong, and skip what follows it."""
    wrong(state, stream, at)
    _skip(state, stream, at)


@inner
def wrong(state, stream, at):
    """Report a command as wrong."""
    error(state.out, state.progress, np.int64(BAD_COMMAND), u32(stream, at) | u32(stream, at + 4) << 32, np.int64(0))


@inner
def _no_payload(opcode, state, stream, at):
    return np.int64(0)


@inner
def _no_command(opcode, state, stream, at, body):
    """Not reached: `in_range` has refused the opcode."""
    return body - at


_payload = choose(
    WITH_PAYLOAD,
    {Opcode.LEARN: records_bytes, Opcode.WRITE: statistics_bytes, Opcode.LOAD: load_bytes},
    __file__,
    _no_payload,
    **OPTIONS,
)


@inner
def _skip(state, stream, at):
    """Skip what follows a command."""
    payload = _payload(stream[at], state, stream, at)
    state.progress[SKIP] = payload + -payload % state.bus_bytes


_execute = choose(
    Opcode,
    {
        Opcode.LEARN: learn_command,
        Opcode.TRIAL: trial_command,
        Opcode.CLEAR: clear_command,
        Opcode.PLACE: place_command,
        Opcode.READ: read_command,
        Opcode.WRITE: write_command,
        Opcode.FENCE: fence_command,
        Opcode.RESET: reset_command,
        Opcode.LOAD: load_command,
    },
    __file__,
    _no_command,
    **OPTIONS,
)


@inner
def command(state, stream, at, head_bytes):
    """Execute one command, LEARN up to its records; bytes consumed, 0 if it is not all there."""
    progress = state.progress
    if progress[HALTED]:
        progress[HALTED] = stream[at] != RESET
        _skip(state, stream, at)
        return head_bytes
    if not in_range(state.counts.shape[0], state.counts.shape[3], stream, at):
        _refuse(state, stream, at)
        return head_bytes
    return _execute(stream[at], state, stream, at, at + head_bytes)


@inner
def pass_over(progress, stream, at):
    """Pass over what is to be skipped, as far as it is there; where ``stream`` is at then."""
    step = min(progress[SKIP], stream.size - at)
    progress[SKIP] -= step
    return at + step


@compiled
def execute(state, stream):
    """Execute commands until ``stream`` holds no whole one or there is no room for reports.

    Also until records are to be learnt (``progress[LEFT]``), a slot is to be tried
    (``progress[ASKED]``, 0: none) or bytes go to memory (``progress[LOADING]``). That is done by
    whoever calls, with `learn` and `trial`, as most trees never ask for it and compiling both takes
    longest. Returns the bytes consumed.
    """
    progress = state.progress
    head_bytes = max(COMMAND_BYTES, state.bus_bytes)
    at = np.int64(0)
    while not progress[LEFT] and not progress[ASKED] and not progress[LOADING]:
        at = pass_over(progress, stream, at)
        if at + head_bytes > stream.size or not has_room(state):
            return at
        step = command(state, stream, at, head_bytes)
        if not step:
            return at
        at += step
    return at
